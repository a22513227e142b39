"""The modules that files form by what they use, with names that people would give them."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from treering.index.graph.answers import Standing
from treering.index.graph.centrality import centrality
from treering.index.graph.communities import communities
from treering.index.graph.file_graph import FileGraph

_TOGETHER = 1.0
"""What standing in one folder weighs, against log(1 + uses) over the root of how many use the same: a little more than
an import that nobody else has. With a quarter of it tests and what they test are one module; with much more, the map
repeats the folders."""
_MOST_OF_IT = 0.6
"""A folder names a module, or is left out of every name, if so large a share of the files is below it."""
_TESTED = 0.25
"""A test uses what it tests, but is no part of it."""
_TEST = re.compile(r"(^|/)(tests?|testing|specs?|__tests__)/|(^|/)(test_|conftest\.)[^/]*$|[._-](test|spec)\.[^/]*$")
_CENTRAL_FILES = 5
ROOT = "(root)"


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
    groups: defaultdict[int, list[int]] = defaultdict(list)
    for place, group in enumerate(communities(_ties(graph))[: len(graph.paths)]):
        groups[group].append(place)
    ordered = sorted(groups.values(), key=lambda places: (-len(places), places))
    central = [sorted(places, key=lambda place: (-ranks[place], place))[:_CENTRAL_FILES] for places in ordered]
    folders = [_folder([graph.paths[place] for place in places]) for places in ordered]
    beginning = _beginning(graph.paths)
    short = [_name([graph.paths[place] for place in places], beginning) for places in ordered]
    names = _told_apart(short, [graph.paths[places[0]] for places in central])
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
    parents = [_parent(path) for path in graph.paths]
    for folder in parents:
        for each in (folder, *_above(folder)):
            folders.setdefault(each, len(graph.paths) + len(folders))
    ties: list[dict[int, float]] = [{} for _ in range(len(graph.paths) + len(folders))]

    def tie(one: int, other: int, weight: float) -> None:
        ties[one][other] = ties[one].get(other, 0.0) + weight
        ties[other][one] = ties[other].get(one, 0.0) + weight

    users = Counter(graph.heads.tolist())
    tests = [_TEST.search(path) is not None for path in graph.paths]
    for tail, head, weight in zip(graph.tails.tolist(), graph.heads.tolist(), graph.weights.tolist(), strict=True):
        # To use what everybody uses says little about where one belongs.
        looked_at = tests[tail] and not tests[head]
        tie(tail, head, math.log1p(weight) / math.sqrt(users[head]) * (_TESTED if looked_at else 1.0))
    for place, folder in enumerate(parents):
        tie(place, folders[folder], _TOGETHER)
    for folder, place in folders.items():
        if folder:
            tie(place, folders[_parent(folder)], _TOGETHER)
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


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _above(folder: str) -> Iterable[str]:
    while folder:
        folder = _parent(folder)
        yield folder


def _folder(paths: Sequence[str]) -> str:
    """The deepest folder that most of the files are below."""
    below = Counter(each for path in paths for each in (_parent(path), *_above(_parent(path))))
    deep = (folder for folder, count in below.items() if count >= _MOST_OF_IT * len(paths))
    return max(deep, key=lambda folder: (folder.count("/") + bool(folder), below[folder], folder), default="")


def _beginning(paths: Sequence[str]) -> str:
    """The folder that says nothing in a name, because most of the project is below it."""
    folder = _folder(paths)
    return f"{folder}/" if folder else ""


def _name(paths: Sequence[str], beginning: str) -> str:
    """The folder of most files; where that says nothing, the two folders that have the most."""
    folder = _folder(paths)
    if folder and f"{folder}/" != beginning:
        return folder.removeprefix(beginning)
    inside = Counter(_parent(path).removeprefix(beginning) for path in paths)
    inside.pop("", None)
    inside.pop(beginning.rstrip("/"), None)
    most = sorted(inside, key=lambda each: (-inside[each], each))[:2]
    return " + ".join(most) or PurePosixPath(folder).name or ROOT


def _told_apart(names: Sequence[str], central: Sequence[str]) -> list[str]:
    """Where several modules have the same name, with the file that is central to each."""
    again = Counter(names)
    full = [name if again[name] == 1 else f"{name} · {_stem(path)}" for name, path in zip(names, central, strict=True)]
    again = Counter(full)
    return [name if again[name] == 1 else f"{name} ({path})" for name, path in zip(full, central, strict=True)]


def _stem(path: str) -> str:
    """A file's name, or its folder's if the name is the same in every folder."""
    stem = PurePosixPath(path).stem
    parent = PurePosixPath(path).parent.name
    return parent if stem in {"__init__", "index", "mod"} and parent else stem
