"""Modules that files form by their uses, with readable names."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treering.code.graph.centrality import centrality
from treering.code.graph.communities import communities
from treering.code.graph.folder_groups import assign_by_folder
from treering.code.graph.module_names import (
    ModuleFiles,
    above,
    beginning_of,
    folder_of_most,
    is_test,
    names_of,
    parent,
    separate_tests,
)

if TYPE_CHECKING:
    from treering.code.graph.answers import IndexStatus
    from treering.code.graph.file_graph import FileGraph

_FOLDER_WEIGHT = 1.0
"""Weight of sharing a folder, relative to log(1 + uses) / sqrt(users): a little more than an import that no other file
has. With a quarter of it, tests and the code they test form one module; with much more, the map repeats the folders."""
_TEST_EDGE_WEIGHT = 0.25
"""Weight of an edge from a test to the code in its folder, which may form one module with it."""
_CENTRAL_FILES = 5


@dataclass(frozen=True, slots=True)
class CentralFile:
    path: str
    centrality: float


@dataclass(frozen=True, slots=True)
class CodeModule:
    name: str
    directory: str
    """The deepest folder that contains most of its files."""
    files: tuple[str, ...]
    central: tuple[CentralFile, ...]
    """The most central files, in order of centrality."""
    centrality: float
    """Its share of the project's total centrality."""

    @property
    def size(self) -> int:
        return len(self.files)


@dataclass(frozen=True, slots=True)
class ModuleEdge:
    """One module uses another. Tests do not count for a module that also contains code."""

    origin: str
    target: str
    weight: float
    files: int
    """Number of pairs of files behind it."""


@dataclass(frozen=True, slots=True)
class ModuleMap:
    """Every file is in exactly one module; largest first."""

    modules: tuple[CodeModule, ...]
    edges: tuple[ModuleEdge, ...]
    beginning: str
    """The folder with a trailing slash that contains most files and is left out of all names; may be empty."""
    status: IndexStatus


def module_map(graph: FileGraph, status: IndexStatus) -> ModuleMap:
    ranks = centrality(graph).tolist()
    groups: defaultdict[Hashable, list[int]] = defaultdict(list)
    found = communities(_undirected_weights(graph))[: len(graph.paths)]
    apart = separate_tests(graph.paths)
    for place, group in enumerate(assign_by_folder(graph, found)):
        groups[group, apart[place]].append(place)
    ordered = sorted(groups.values(), key=lambda places: (-len(places), places))
    central = [sorted(places, key=lambda place: (-ranks[place], place))[:_CENTRAL_FILES] for places in ordered]
    folders = [folder_of_most({graph.paths[place]: 1.0 for place in places}) for places in ordered]
    beginning = beginning_of(dict(zip(graph.paths, ranks, strict=True)))
    named = (
        ModuleFiles(graph.paths[best[0]], {graph.paths[place]: ranks[place] for place in places})
        for best, places in zip(central, ordered, strict=True)
    )
    names = names_of(tuple(named), beginning)
    modules = tuple(
        CodeModule(
            name,
            folder,
            tuple(graph.paths[place] for place in places),
            tuple(CentralFile(graph.paths[place], ranks[place]) for place in best),
            round(sum(ranks[place] for place in places), 9),
        )
        for name, folder, places, best in zip(names, folders, ordered, central, strict=True)
    )
    module_of = {place: name for name, places in zip(names, ordered, strict=True) for place in places}
    return ModuleMap(modules, tuple(_edges(graph, module_of)), beginning, status)


def _undirected_weights(graph: FileGraph) -> list[dict[int, float]]:
    """Undirected weights between files and folders."""
    folders: dict[str, int] = {}
    parents = [parent(path) for path in graph.paths]
    for folder in parents:
        for each in (folder, *above(folder)):
            folders.setdefault(each, len(graph.paths) + len(folders))
    weights_of: list[dict[int, float]] = [{} for _ in range(len(graph.paths) + len(folders))]

    def connect(one: int, other: int, weight: float) -> None:
        weights_of[one][other] = weights_of[one].get(other, 0.0) + weight
        weights_of[other][one] = weights_of[other].get(one, 0.0) + weight

    users = Counter(graph.heads.tolist())
    tests, apart = [is_test(path) for path in graph.paths], separate_tests(graph.paths)
    for tail, head, weight in zip(graph.tails.tolist(), graph.heads.tolist(), graph.weights.tolist(), strict=True):
        if apart[tail] is not apart[head]:
            continue
        # A dependency that many files share says little about where a file belongs.
        looked_at = tests[tail] and not tests[head]
        connect(tail, head, math.log1p(weight) / math.sqrt(users[head]) * (_TEST_EDGE_WEIGHT if looked_at else 1.0))
    for place, folder in enumerate(parents):
        connect(place, folders[folder], _FOLDER_WEIGHT)
    for folder, place in folders.items():
        if folder:
            connect(place, folders[parent(folder)], _FOLDER_WEIGHT)
    return weights_of


def _edges(graph: FileGraph, module_of: Mapping[int, str]) -> Iterable[ModuleEdge]:
    tests = [is_test(path) for path in graph.paths]
    with_code = {name for place, name in module_of.items() if not tests[place]}
    weights: defaultdict[tuple[str, str], float] = defaultdict(float)
    pairs: Counter[tuple[str, str]] = Counter()
    for tail, head, weight in zip(graph.tails.tolist(), graph.heads.tolist(), graph.weights.tolist(), strict=True):
        ends = module_of[tail], module_of[head]
        if ends[0] != ends[1] and not (tests[tail] and ends[0] in with_code):
            weights[ends] += weight
            pairs[ends] += 1
    for ends in sorted(weights, key=lambda each: (-weights[each], each)):
        yield ModuleEdge(*ends, round(weights[ends], 6), pairs[ends])
