"""Where files belong that no use ties to others: with their folder, never with strangers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from treering.code.graph.module_names import above, parent

if TYPE_CHECKING:
    from treering.code.graph.file_graph import FileGraph


def at_home(graph: FileGraph, groups: Sequence[int]) -> list[Hashable]:
    """The groups of the files, where each file without ties is in that of its folder.

    That is the group of most tied files below the nearest folder around it that has any, the root aside; what stands in
    none of them is a group of its own with all others of its top folder. Groups that only the root held together are
    parted where nothing in one part uses the other.
    """
    tied = {*graph.tails.tolist(), *graph.heads.tolist()}
    parted = _parted(graph, groups, tied)
    below: defaultdict[str, Counter[Hashable]] = defaultdict(Counter)
    for place in sorted(tied):
        for folder in _around(graph.paths[place]):
            below[folder][parted[place]] += 1
    return [parted[place] if place in tied else _home(path, below) for place, path in enumerate(graph.paths)]


def _home(path: str, below: Mapping[str, Counter[Hashable]]) -> Hashable:
    for folder in _around(path):
        if folder in below:
            return below[folder].most_common(1)[0][0]
    return path.partition("/")[0] if "/" in path else ""


def _around(path: str) -> Iterator[str]:
    """The folders that a path is in, the nearest first, without the root."""
    folder = parent(path)
    return (each for each in (folder, *above(folder)) if each)


def _parted(graph: FileGraph, groups: Sequence[int], tied: Collection[int]) -> dict[int, Hashable]:
    """Tied files by the parts of their groups: what uses, or a folder that is not the root, join in chains."""
    leader: dict[Hashable, Hashable] = {}

    def first(one: Hashable) -> Hashable:
        while leader.get(one, one) != one:
            leader[one] = one = leader.get(leader[one], leader[one])
        return one

    def join(one: Hashable, other: Hashable) -> None:
        leader[first(one)] = first(other)

    for tail, head in zip(graph.tails.tolist(), graph.heads.tolist(), strict=True):
        if groups[tail] == groups[head]:
            join(tail, head)
    for place in sorted(tied):
        top, slash, _ = graph.paths[place].partition("/")
        if slash:
            join(place, (groups[place], top))
    return {place: first(place) for place in tied}
