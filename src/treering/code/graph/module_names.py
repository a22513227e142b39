"""Names of modules, after the folders of their central files.

A folder is weighted equally by how many of the module's files it contains and by how central they are, so that a module
with its tests is named after the tested code.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

_NAMING_SHARE = 0.6
"""Share of the weight from which a folder names a module, or is left out of every name."""
_PARTIAL_SHARE = 0.3
"""Share from which it is one of the two folders that name a module together."""
_TEST_WEIGHT = 0.25
_TEST = re.compile(r"(^|/)(tests?|testing|specs?|__tests__)/|(^|/)(test_|conftest\.)[^/]*$|[._-](test|spec)\.[^/]*$")
_GENERIC_STEMS = frozenset({"__init__", "index", "mod"})
ROOT = "(root)"

Weights = Mapping[str, float]
"""Weights by path, not normalized."""


class ModuleFiles(NamedTuple):
    """The data of a module that its name is derived from."""

    central: str
    """The most central of its files."""
    ranks: Weights
    """Centrality of each of its files."""


def names_of(modules: Sequence[ModuleFiles], beginning: str) -> list[str]:
    """A distinct name for each module; `beginning` is the folder that contains most files and is left out."""
    names = short = [_name(each, beginning) for each in modules]
    for suffix_of in (_stem, _end, str):
        again = Counter(names)
        names = [
            name if again[name] == 1 else f"{brief} · {suffix_of(each.central)}"
            for name, brief, each in zip(names, short, modules, strict=True)
        ]
    return names


def _name(module: ModuleFiles, beginning: str) -> str:
    """The folder that contains most of the module; otherwise its two largest folders, if little is outside them."""
    weights = _weights(module.ranks)
    folder = folder_of_most(weights)
    if _is_specific(folder, beginning):
        return folder.removeprefix(beginning)
    loose = sum(weight for path, weight in weights.items() if not _is_specific(parent(path), beginning))
    parts = [each.removeprefix(beginning) for each in _parts(weights, beginning)]
    if parts and loose < _PARTIAL_SHARE * sum(weights.values()):
        return " + ".join(parts)
    return PurePosixPath(folder).name or ROOT


def _weights(ranks: Weights) -> Weights:
    """Mean of a file's share of the files and of their centrality; tests count less."""
    total = sum(ranks.values()) or 1.0
    share = {path: 0.5 / len(ranks) + 0.5 * rank / total for path, rank in ranks.items()}
    return {path: weight * (_TEST_WEIGHT if is_test(path) else 1.0) for path, weight in share.items()}


def _parts(weights: Weights, beginning: str) -> list[str]:
    """Up to two deepest folders that contain a large part; the second without what is in the first."""
    min_weight, below, found = _PARTIAL_SHARE * sum(weights.values()), _below(weights), list[str]()
    for _ in range(2):
        rest = _below({path: weight for path, weight in weights.items() if not _is_below(path, found)})
        large = [folder for folder, weight in rest.items() if weight >= min_weight and _is_specific(folder, beginning)]
        if large:
            found.append(max(large, key=lambda folder: (_depth(folder), below[folder], folder)))
    return sorted(found, key=lambda folder: (-below[folder], folder))


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)


def folder_of_most(weights: Weights) -> str:
    """The deepest folder that contains most of the weight; empty for the root."""
    below = _below(weights)
    min_weight = _NAMING_SHARE * sum(weights.values())
    deep = (folder for folder, weight in below.items() if weight >= min_weight)
    return max(deep, key=lambda folder: (_depth(folder), below[folder], folder), default="")


def _below(weights: Weights) -> Weights:
    """Total weight in each folder and its subfolders."""
    below: defaultdict[str, float] = defaultdict(float)
    for path, weight in weights.items():
        folder = parent(path)
        for each in (folder, *above(folder)):
            below[each] += weight
    return below


def _is_specific(folder: str, beginning: str) -> bool:
    return bool(folder) and not beginning.startswith(f"{folder}/")


def _depth(folder: str) -> int:
    return folder.count("/") + bool(folder)


def beginning_of(ranks: Weights) -> str:
    """The folder, with a trailing slash, that contains most of a project; may be empty."""
    folder = folder_of_most(_weights(ranks))
    return f"{folder}/" if folder else ""


def is_test(path: str) -> bool:
    """Whether a path looks like a test, by its name or that of a folder."""
    return _TEST.search(path) is not None


def separate_tests(paths: Sequence[str]) -> list[bool]:
    """For each path, whether it is a test in a folder without code, which belongs to no module of code."""
    with_code = {parent(path) for path in paths if not is_test(path)}
    return [is_test(path) and parent(path) not in with_code for path in paths]


def parent(path: str) -> str:
    return path.rpartition("/")[0]


def above(folder: str) -> Iterable[str]:
    while folder:
        folder = parent(folder)
        yield folder


def _stem(path: str) -> str:
    """A file's stem, or the name of its folder if the stem is generic."""
    stem = PurePosixPath(path).stem
    folder = PurePosixPath(path).parent.name
    return folder if stem in _GENERIC_STEMS and folder else stem


def _end(path: str) -> str:
    return "/".join(path.rsplit("/", 2)[-2:])
