"""Clusters of similar episodes: near in meaning and time, and of the same band.

Not every pair is compared. Episodes are sorted into bands first (`Band`): only those of the same task type, domain,
outcome, visibility, owner and taint can be similar. Within a band they are in the order of time, and each is compared
to those inside the window after it, in matrix products of bounded blocks. Every similar pair is found: recall against
brute force is 1.0 (`tests/property/test_episode_clusters_property.py`, `bench/consolidation.py`). Episodes connected by
such pairs form a cluster. A band of 100,000 episodes over five months takes half a minute of processor
time for vectors of 256 numbers; memory holds the vectors as they are stored, and one block of cosines.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from treering.core.episodes import Episode
from treering.core.settings import EpisodeConsolidationSettings

Vectors = NDArray[np.float16]
# Rows whose cosines are computed at once: four megabytes, which stay in the processor's cache.
_BLOCK = 1_024
_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Band:
    """Attributes that episodes must share before their vectors are compared. `key` is sortable and used as a cursor."""

    key: str

    @classmethod
    def of(cls, episode: Episode) -> "Band":
        about, outcome = episode.metadata, episode.outcome.status.value
        shared = (about.task_type, about.domain, outcome, episode.visibility.value, episode.owner, episode.tainted)
        return cls(json.dumps(shared))


@dataclass(frozen=True, slots=True)
class ConsolidationCandidate:
    """An episode that may be consolidated, as read; `members` if it is a representative already."""

    id: str
    version: int
    at: datetime
    members: tuple[str, ...] = ()

    @property
    def instances(self) -> int:
        return len(self.members) or 1


def components(
    vectors: Vectors,
    at: NDArray[np.float64],
    together: NDArray[np.int64],
    *,
    likeness: float,
    window: float,
    between: Callable[[], None] = lambda: None,
) -> NDArray[np.int64]:
    """A number for each row, the same for rows that are connected.

    Two rows are connected if their cosine is above `likeness` and their times are within `window`, or if `together` has
    the same number for both. `between` is called after each block of rows.
    """
    order = np.argsort(at, kind="stable")
    sorted_vectors, moments = vectors[order], at[order]
    roots = _join_labels(np.arange(len(order)), together[order])
    for start in range(0, len(order), _BLOCK):
        end = min(start + _BLOCK, len(order))
        rows = unit(sorted_vectors[start:end])
        last = int(np.searchsorted(moments, moments[end - 1] + window, side="right"))
        for other in range(start, last, _BLOCK):
            stop = min(other + _BLOCK, last)
            near = (rows @ unit(sorted_vectors[other:stop]).T) > likeness
            if moments[stop - 1] - moments[start] > window:
                near &= np.abs(moments[other:stop] - moments[start:end, np.newaxis]) <= window
            if near.any():
                near &= roots[start:end, np.newaxis] != roots[other:stop]
                first, second = np.nonzero(near)
                roots = _join(roots, first + start, second + other)
        between()
    found = np.empty(len(order), np.int64)
    found[order] = roots
    return found


def clusters(
    candidates: Sequence[ConsolidationCandidate], component: NDArray[np.int64], settings: EpisodeConsolidationSettings
) -> Iterator[list[ConsolidationCandidate]]:
    """Clusters worth merging, each in the order of time; too large ones are split.

    Each has at least one episode that was not merged before: representatives alone are never merged, or a second run
    would merge the results of the first.
    """
    by_component = defaultdict[int, list[ConsolidationCandidate]](list)
    for candidate, number in zip(candidates, component.tolist(), strict=True):
        by_component[number].append(candidate)
    for group in by_component.values():
        for part in _split(sorted(group, key=lambda each: (each.at, each.id)), settings.largest):
            enough = sum(each.instances for each in part) >= settings.smallest
            if enough and len(part) > 1 and not all(each.members for each in part):
                yield part


def unit(vectors: NDArray[np.floating]) -> NDArray[np.float32]:
    """Rows scaled to length 1; rows of zeros stay zeros."""
    wide = vectors.astype(np.float32)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    return np.asarray(np.divide(wide, lengths, out=wide, where=lengths > 0), np.float32)


def seconds(window_days: float) -> float:
    return window_days * _DAY


def _split(group: Sequence[ConsolidationCandidate], largest: int) -> Iterator[list[ConsolidationCandidate]]:
    part, size = list[ConsolidationCandidate](), 0
    for candidate in group:
        if part and size + candidate.instances > largest:
            yield part
            part, size = [], 0
        part.append(candidate)
        size += candidate.instances
    if part:
        yield part


def _join_labels(roots: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Connect rows with the same label."""
    _, first, place = np.unique(labels, return_index=True, return_inverse=True)
    return _join(roots, np.arange(len(labels)), first[place])


def _join(roots: NDArray[np.int64], one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """The roots after connecting each row of `one` with that of `other`; the lowest row of a cluster is its root."""
    while True:
        high, low = np.maximum(roots[one], roots[other]), np.minimum(roots[one], roots[other])
        different = high != low
        if not different.any():
            return roots
        one, other = one[different], other[different]
        roots = roots.copy()
        np.minimum.at(roots, high[different], low[different])
        while not np.array_equal(above := roots[roots], roots):
            roots = above
