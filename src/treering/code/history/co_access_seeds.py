"""Co-access edges derived from commits, used until sessions provide their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from treering.core.co_access import CoAccessEdge
from treering.core.errors import InvalidInput
from treering.core.queries import CoAccessFilter
from treering.core.values import LABELS

if TYPE_CHECKING:
    from treering.code.history.counts import CoChange, PairCount
    from treering.ports.collections import Derived

ID_PREFIX = "git-"


class _SeedPair(NamedTuple):
    weight: float
    first: int
    second: int
    habit: PairCount


def co_access_edges(counts: CoChange, inside: str = "") -> list[CoAccessEdge]:
    """Edges between existing files, strongest first, with at most `most_per_file` per file.

    `inside` is a folder with a trailing slash: only files in it are used, with paths relative to it.
    """
    per_file: Counter[int] = Counter()
    edges: list[CoAccessEdge] = []
    strongest = sorted(_pairs(counts, inside), key=lambda pair: (-pair.weight, pair.first, pair.second))
    for pair in strongest:
        if max(per_file[pair.first], per_file[pair.second]) < counts.settings.most_per_file:
            edge = _edge(counts, pair, inside)
            if edge is not None:
                per_file.update((pair.first, pair.second))
                edges.append(edge)
    return edges


def replace_seeds(edges: Derived[CoAccessEdge, CoAccessFilter], seeds: Sequence[CoAccessEdge]) -> None:
    """Replace all edges derived from a history by `seeds`; edges from sessions are kept."""
    before = {edge.id: edge for edge in edges.stream() if edge.id.startswith(ID_PREFIX)}
    gone = sorted(before.keys() - {seed.id for seed in seeds})
    for start in range(0, len(gone), LABELS):
        edges.remove(CoAccessFilter(ids=tuple(gone[start : start + LABELS])))
    edges.put_many(seed for seed in seeds if before.get(seed.id) != seed)


def edge_id(first: str, second: str) -> str:
    """The same id for both orders, so that a recount replaces the old edge."""
    together = "\0".join(sorted((first, second)))
    return ID_PREFIX + sha256(together.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def weight_of(together: int, first: int, second: int, fading: float) -> float:
    """Geometric mean of the two conditional frequencies, reduced if commits are few or old."""
    return min(1.0, together / sqrt(first * second)) * together / (together + 1) * fading


def _pairs(counts: CoChange, inside: str) -> Iterator[_SeedPair]:
    settings = counts.settings
    for first, near in counts.pairs.items():
        if not _is_included(counts, first, inside):
            continue
        for second, habit in near.items():
            if first < second and habit.count >= settings.least_together and _is_included(counts, second, inside):
                fading = 0.5 ** ((counts.moment - habit.moment) / settings.half_life)
                touched = counts.files[first].touched, counts.files[second].touched
                weight = weight_of(habit.count, *touched, fading)
                if weight >= settings.least_weight:
                    yield _SeedPair(weight, first, second, habit)


def _is_included(counts: CoChange, number: int, inside: str) -> bool:
    return counts.exists(number) and counts.path(number).startswith(inside)


def _edge(counts: CoChange, pair: _SeedPair, inside: str) -> CoAccessEdge | None:
    """The edge, or None if a record cannot hold one of the paths (too long, or not text)."""
    weight, first, second, habit = pair
    one, other = sorted(counts.path(number)[len(inside) :] for number in (first, second))
    try:
        return CoAccessEdge.make(
            id=edge_id(one, other),
            first=one,
            second=other,
            weight=weight,
            count=habit.count,
            last_seen_at=datetime.fromtimestamp(max(0, counts.times[habit.moment]), UTC),
        )
    except InvalidInput:
        return None
