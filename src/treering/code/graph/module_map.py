"""The modules that files form by what they use, with names that people would give them."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treering.code.graph.centrality import centrality
from treering.code.graph.communities import communities
from treering.code.graph.folder_homes import at_home
from treering.code.graph.module_names import Named, above, beginning_of, folder_of_most, is_test, names_of, parent

if TYPE_CHECKING:
    from treering.code.graph.answers import Standing
    from treering.code.graph.file_graph import FileGraph

_TOGETHER = 1.0
"""What standing in one folder weighs, against log(1 + uses) over the root of how many use the same: a little more than
an import that nobody else has. With a quarter of it tests and what they test are one module; with much more, the map
repeats the folders."""
_TESTED = 0.25
"""A test uses what it tests, but is no part of it."""
_CENTRAL_FILES = 5


@dataclass(frozen=True, slots=True)
class CentralFile:
    path: str
    centrality: float


@dataclass(frozen=True, slots=True)
class Module:
    name: str
    directory: str
    """The deepest folder that most of its files are in."""
    files: tuple[str, ...]
    central: tuple[CentralFile, ...]
    """The files that most others build on, the most central first."""
    centrality: float
    """The share of the project's centrality that its files have."""

    @property
    def size(self) -> int:
        return len(self.files)


@dataclass(frozen=True, slots=True)
class ModuleEdge:
    """One module uses another."""

    origin: str
    target: str
    weight: float
    files: int
    """How many pairs of files are behind it."""


@dataclass(frozen=True, slots=True)
class ModuleMap:
    """Every file is in exactly one module; the largest come first."""

    modules: tuple[Module, ...]
    edges: tuple[ModuleEdge, ...]
    beginning: str
    """The folder, with a slash behind it, that most files are below and no name repeats; may be empty."""
    standing: Standing


def module_map(graph: FileGraph, standing: Standing) -> ModuleMap:
    ranks = centrality(graph).tolist()
    groups: defaultdict[Hashable, list[int]] = defaultdict(list)
    found = communities(_ties(graph))[: len(graph.paths)]
    for place, group in enumerate(at_home(graph, found)):
        groups[group].append(place)
    ordered = sorted(groups.values(), key=lambda places: (-len(places), places))
    central = [sorted(places, key=lambda place: (-ranks[place], place))[:_CENTRAL_FILES] for places in ordered]
    folders = [folder_of_most({graph.paths[place]: 1.0 for place in places}) for places in ordered]
    beginning = beginning_of(dict(zip(graph.paths, ranks, strict=True)))
    named = (
        Named(graph.paths[best[0]], {graph.paths[place]: ranks[place] for place in places})
        for best, places in zip(central, ordered, strict=True)
    )
    names = names_of(tuple(named), beginning)
    modules = tuple(
        Module(
            name,
            folder,
            tuple(graph.paths[place] for place in places),
            tuple(CentralFile(graph.paths[place], ranks[place]) for place in best),
            round(sum(ranks[place] for place in places), 9),
        )
        for name, folder, places, best in zip(names, folders, ordered, central, strict=True)
    )
    module_of = {place: name for name, places in zip(names, ordered, strict=True) for place in places}
    return ModuleMap(modules, tuple(_edges(graph, module_of)), beginning, standing)


def _ties(graph: FileGraph) -> list[dict[int, float]]:
    """Files and their folders as nodes without direction."""
    folders: dict[str, int] = {}
    parents = [parent(path) for path in graph.paths]
    for folder in parents:
        for each in (folder, *above(folder)):
            folders.setdefault(each, len(graph.paths) + len(folders))
    ties: list[dict[int, float]] = [{} for _ in range(len(graph.paths) + len(folders))]

    def tie(one: int, other: int, weight: float) -> None:
        ties[one][other] = ties[one].get(other, 0.0) + weight
        ties[other][one] = ties[other].get(one, 0.0) + weight

    users = Counter(graph.heads.tolist())
    tests = [is_test(path) for path in graph.paths]
    for tail, head, weight in zip(graph.tails.tolist(), graph.heads.tolist(), graph.weights.tolist(), strict=True):
        # To use what everybody uses says little about where one belongs.
        looked_at = tests[tail] and not tests[head]
        tie(tail, head, math.log1p(weight) / math.sqrt(users[head]) * (_TESTED if looked_at else 1.0))
    for place, folder in enumerate(parents):
        tie(place, folders[folder], _TOGETHER)
    for folder, place in folders.items():
        if folder:
            tie(place, folders[parent(folder)], _TOGETHER)
    return ties


def _edges(graph: FileGraph, module_of: Mapping[int, str]) -> Iterable[ModuleEdge]:
    weights: defaultdict[tuple[str, str], float] = defaultdict(float)
    pairs: Counter[tuple[str, str]] = Counter()
    for tail, head, weight in zip(graph.tails.tolist(), graph.heads.tolist(), graph.weights.tolist(), strict=True):
        ends = module_of[tail], module_of[head]
        if ends[0] != ends[1]:
            weights[ends] += weight
            pairs[ends] += 1
    for ends in sorted(weights, key=lambda each: (-weights[each], each)):
        yield ModuleEdge(*ends, round(weights[ends], 6), pairs[ends])
