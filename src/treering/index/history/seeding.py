"""What commits say becomes co-access, before any session has shown it."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from math import sqrt

from treering.core.errors import InvalidInput
from treering.core.graph import CoAccessEdge
from treering.index.history.counts import CoChange, Pair
from treering.index.history.settings import SeedSettings

DEFAULTS = SeedSettings()
ID_PREFIX = "git-"


def seeded(counts: CoChange, settings: SeedSettings = DEFAULTS) -> list[CoAccessEdge]:
    """Edges between files that are there, the firmest first; no file has more than `most_per_file`."""
    having: Counter[int] = Counter()
    edges: list[CoAccessEdge] = []
    firmest = sorted(_ties(counts, settings), key=lambda tie: (-tie[0], tie[1], tie[2]))
    for weight, first, second, pair in firmest:
        if max(having[first], having[second]) < settings.most_per_file:
            edge = _edge(counts, first, second, weight, pair)
            if edge is not None:
                having.update((first, second))
                edges.append(edge)
    return edges


def edge_id(first: str, second: str) -> str:
    """The same for both orders, so that an edge counted again takes the place of the old one."""
    together = "\0".join(sorted((first, second)))
    return ID_PREFIX + sha256(together.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def weight_of(together: int, first: int, second: int, fading: float) -> float:
    """The geometric mean of how often each comes with the other, less where commits are few or long ago."""
    return min(1.0, together / sqrt(first * second)) * together / (together + 1) * fading


def _ties(counts: CoChange, settings: SeedSettings) -> Iterator[tuple[float, int, int, Pair]]:
    for first, near in counts.pairs.items():
        if not counts.is_there(first):
            continue
        for second, pair in near.items():
            if first < second and pair.count >= settings.least_together and counts.is_there(second):
                fading = 0.5 ** ((counts.moment - pair.at) / counts.settings.half_life)
                touched = counts.files[first].touched, counts.files[second].touched
                weight = weight_of(pair.count, *touched, fading)
                if weight >= settings.least_weight:
                    yield weight, first, second, pair


def _edge(counts: CoChange, first: int, second: int, weight: float, pair: Pair) -> CoAccessEdge | None:
    """None of a path that no record can hold: too long, or not text."""
    one, other = sorted((counts.path(first), counts.path(second)))
    try:
        return CoAccessEdge.make(
            id=edge_id(one, other),
            first=one,
            second=other,
            weight=weight,
            count=pair.count,
            last_seen_at=datetime.fromtimestamp(max(0, counts.times[pair.at]), UTC),
        )
    except InvalidInput:
        return None
