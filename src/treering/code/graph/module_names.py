"""Names that people would give to modules: by the folders that what is central to them stands in.

A module is named after what its files are about. So a folder counts by how many of the files are below it and, as
much, by how central they are: what is tested names a module that holds its tests as well.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

_MOST_OF_IT = 0.6
"""A folder names a module, or is left out of every name, if so large a share is below it."""
_A_PART = 0.3
"""Else it is one of two that do, if its share is this large."""
_OF_A_TEST = 0.25
_TEST = re.compile(r"(^|/)(tests?|testing|specs?|__tests__)/|(^|/)(test_|conftest\.)[^/]*$|[._-](test|spec)\.[^/]*$")
_SAME_EVERYWHERE = frozenset({"__init__", "index", "mod"})
ROOT = "(root)"

Weights = Mapping[str, float]
"""By path; however much they are in all."""


class Named(NamedTuple):
    """A module, as far as its name needs it."""

    central: str
    """The most central of its files."""
    ranks: Weights
    """How central each of its files is."""


def names_of(modules: Sequence[Named], beginning: str) -> list[str]:
    """A name for each, all different; `beginning` is a folder that says nothing because most is below it."""
    names = short = [_name(each, beginning) for each in modules]
    for told_by in (_stem, _end, str):
        again = Counter(names)
        names = [
            name if again[name] == 1 else f"{brief} · {told_by(each.central)}"
            for name, brief, each in zip(names, short, modules, strict=True)
        ]
    return names


def _name(module: Named, beginning: str) -> str:
    """The folder of most of it; where that says nothing, its two largest, if there is not more beside them."""
    weights = _weights(module.ranks)
    folder = folder_of_most(weights)
    if _says_something(folder, beginning):
        return folder.removeprefix(beginning)
    loose = sum(weight for path, weight in weights.items() if not _says_something(parent(path), beginning))
    parts = [each.removeprefix(beginning) for each in _parts(weights, beginning)]
    if parts and loose < _A_PART * sum(weights.values()):
        return " + ".join(parts)
    return PurePosixPath(folder).name or ROOT


def _weights(ranks: Weights) -> Weights:
    """The mean of a file's share of the files, and of what they have of centrality; a test counts for less."""
    total = sum(ranks.values()) or 1.0
    share = {path: 0.5 / len(ranks) + 0.5 * rank / total for path, rank in ranks.items()}
    return {path: weight * (_OF_A_TEST if is_test(path) else 1.0) for path, weight in share.items()}


def _parts(weights: Weights, beginning: str) -> list[str]:
    """The deepest folders that hold a large part, without what stands in the one before; two at most."""
    least, below, found = _A_PART * sum(weights.values()), _below(weights), list[str]()
    for _ in range(2):
        rest = _below({path: weight for path, weight in weights.items() if not _is_below(path, found)})
        large = [folder for folder, weight in rest.items() if weight >= least and _says_something(folder, beginning)]
        if large:
            found.append(max(large, key=lambda folder: (_depth(folder), below[folder], folder)))
    return sorted(found, key=lambda folder: (-below[folder], folder))


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)


def folder_of_most(weights: Weights) -> str:
    """The deepest folder that most is below; empty for the root."""
    below = _below(weights)
    least = _MOST_OF_IT * sum(weights.values())
    deep = (folder for folder, weight in below.items() if weight >= least)
    return max(deep, key=lambda folder: (_depth(folder), below[folder], folder), default="")


def _below(weights: Weights) -> Weights:
    """What is in each folder, or below it."""
    below: defaultdict[str, float] = defaultdict(float)
    for path, weight in weights.items():
        folder = parent(path)
        for each in (folder, *above(folder)):
            below[each] += weight
    return below


def _says_something(folder: str, beginning: str) -> bool:
    return bool(folder) and not beginning.startswith(f"{folder}/")


def _depth(folder: str) -> int:
    return folder.count("/") + bool(folder)


def beginning_of(ranks: Weights) -> str:
    """The folder, with a slash behind it, that most of a project is below; may be empty."""
    folder = folder_of_most(_weights(ranks))
    return f"{folder}/" if folder else ""


def is_test(path: str) -> bool:
    """By its name, or that of a folder."""
    return _TEST.search(path) is not None


def parent(path: str) -> str:
    return path.rpartition("/")[0]


def above(folder: str) -> Iterable[str]:
    while folder:
        folder = parent(folder)
        yield folder


def _stem(path: str) -> str:
    """A file's name, or its folder's if the name is the same in every folder."""
    stem = PurePosixPath(path).stem
    folder = PurePosixPath(path).parent.name
    return folder if stem in _SAME_EVERYWHERE and folder else stem


def _end(path: str) -> str:
    return "/".join(path.rsplit("/", 2)[-2:])
