"""Assignment of files without dependencies to modules: they join the module of their folder."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from treering.code.graph.module_names import above, parent

if TYPE_CHECKING:
    from treering.code.graph.file_graph import FileGraph


def assign_by_folder(graph: FileGraph, groups: Sequence[int]) -> list[Hashable]:
    """The groups of the files; each file without dependencies is in the group of its folder.

    That is the most frequent group below the nearest enclosing folder that has any, except the root; files without one
    form a group per top folder. Groups that are connected only through the root are split.
    """
    tied = {*graph.tails.tolist(), *graph.heads.tolist()}
    parted = _split_groups(graph, groups, tied)
    below: defaultdict[str, Counter[Hashable]] = defaultdict(Counter)
    for place in sorted(tied):
        for folder in _around(graph.paths[place]):
            below[folder][parted[place]] += 1
    return [parted[place] if place in tied else _group_of(path, below) for place, path in enumerate(graph.paths)]


def _group_of(path: str, below: Mapping[str, Counter[Hashable]]) -> Hashable:
    for folder in _around(path):
        if folder in below:
            return below[folder].most_common(1)[0][0]
    return path.partition("/")[0] if "/" in path else ""


def _around(path: str) -> Iterator[str]:
    """The folders that contain a path, nearest first, without the root."""
    folder = parent(path)
    return (each for each in (folder, *above(folder)) if each)


def _split_groups(graph: FileGraph, groups: Sequence[int], tied: Collection[int]) -> dict[int, Hashable]:
    """Connected files by parts of their groups; edges, and folders other than the root, connect."""
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
