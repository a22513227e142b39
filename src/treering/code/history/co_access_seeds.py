"""What commits say becomes co-access, before any session has shown it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from treering.core.errors import InvalidInput
from treering.core.graph import CoAccessEdge
from treering.core.queries import CoAccessFilter
from treering.core.values import LABELS

if TYPE_CHECKING:
    from treering.code.history.counts import CoChange, Habit
    from treering.ports.collections import Derived

ID_PREFIX = "git-"


class _Tie(NamedTuple):
    weight: float
    first: int
    second: int
    habit: Habit


def seeded(counts: CoChange, inside: str = "") -> list[CoAccessEdge]:
    """Edges between files that are there, the firmest first; no file has more than `most_per_file`.

    `inside` is a folder with a slash: only files in it are looked at, and named as seen from there.
    """
    having: Counter[int] = Counter()
    edges: list[CoAccessEdge] = []
    firmest = sorted(_ties(counts, inside), key=lambda tie: (-tie.weight, tie.first, tie.second))
    for tie in firmest:
        if max(having[tie.first], having[tie.second]) < counts.settings.most_per_file:
            edge = _edge(counts, tie, inside)
            if edge is not None:
                having.update((tie.first, tie.second))
                edges.append(edge)
    return edges


def put_in_place(edges: Derived[CoAccessEdge, CoAccessFilter], seeds: Sequence[CoAccessEdge]) -> None:
    """These seeds instead of all that a history gave before; what sessions showed is left alone."""
    before = {edge.id: edge for edge in edges.stream() if edge.id.startswith(ID_PREFIX)}
    gone = sorted(before.keys() - {seed.id for seed in seeds})
    for start in range(0, len(gone), LABELS):
        edges.remove(CoAccessFilter(ids=tuple(gone[start : start + LABELS])))
    edges.put_many(seed for seed in seeds if before.get(seed.id) != seed)


def edge_id(first: str, second: str) -> str:
    """The same for both orders, so that an edge counted again takes the place of the old one."""
    together = "\0".join(sorted((first, second)))
    return ID_PREFIX + sha256(together.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def weight_of(together: int, first: int, second: int, fading: float) -> float:
    """The geometric mean of how often each comes with the other, less where commits are few or long ago."""
    return min(1.0, together / sqrt(first * second)) * together / (together + 1) * fading


def _ties(counts: CoChange, inside: str) -> Iterator[_Tie]:
    settings = counts.settings
    for first, near in counts.pairs.items():
        if not _is_meant(counts, first, inside):
            continue
        for second, habit in near.items():
            if first < second and habit.count >= settings.least_together and _is_meant(counts, second, inside):
                fading = 0.5 ** ((counts.moment - habit.moment) / settings.half_life)
                touched = counts.files[first].touched, counts.files[second].touched
                weight = weight_of(habit.count, *touched, fading)
                if weight >= settings.least_weight:
                    yield _Tie(weight, first, second, habit)


def _is_meant(counts: CoChange, number: int, inside: str) -> bool:
    return counts.is_there(number) and counts.path(number).startswith(inside)


def _edge(counts: CoChange, tie: _Tie, inside: str) -> CoAccessEdge | None:
    """None of a path that no record can hold: too long, or not text."""
    weight, first, second, habit = tie
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
