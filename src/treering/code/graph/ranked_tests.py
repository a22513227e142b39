"""The files of tests that a change reaches, those that are likely to test it first."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile

from treering.code.graph.module_names import is_test

_MIN_SHARE = 0.125
"""A file with less than this share of the best score, and no word of its name in that of the node, hardly tests it."""
_COUNT_EXPONENT = 0.3
_IMPORT_SCORE = 0.4
"""Score of a file of tests that imports the file of the node and whose tests do not reach the node: new tests of the
node are likely to be added there."""
_NEARNESS = 0.5
"""Additional weight of a file in the folder of the node's file; less the earlier their paths part."""
_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_COMMON = frozenset({"test", "tests", "src", "lib", "init", "main", "spec"})
_GENERIC_STEMS = frozenset({"__init__", "index", "lib", "main", "mod"})
_AFFIX = re.compile(r"^tests?[._-]|[._-](tests?|spec)$")


@dataclass(frozen=True, slots=True)
class TestFile:
    """A file with tests that reach a node."""

    __test__ = False  # pytest would collect it

    path: str
    tests: int
    """Number of tests in it that reach the node; also 0 if the file as a whole reaches it."""
    depth: int
    """Steps to the nearest of them; 0 if none reaches the node: the file is named like the node, or imports its file.
    """
    score: float
    """The best score of them, raised by their number, by words that both names share and by common folders; it orders
    the files."""


def ranked_test_files(
    node: str,
    tests: Iterable[tuple[str, int, float]],
    importers: Iterable[str] = (),
    namesakes: Iterable[str] = (),
) -> tuple[TestFile, ...]:
    """The files of tests, given by id, depth and score, best first; without those far behind the best.

    Of the files that import that of the node, those of tests with a word of its name are added, and all namesakes.
    """
    found: dict[str, tuple[int, int, float]] = {}
    for id, depth, score in tests:
        path, inside, _ = id.partition("::")
        count, nearest, best = found.get(path, (0, depth, 0.0))
        found[path] = count + bool(inside), min(nearest, depth), max(best, score)
    about, alike = _words(node), frozenset(namesakes)
    beside = {path for path in importers if is_test(path) and about & _words(path)} | alike
    found.update((path, (0, 0, _IMPORT_SCORE)) for path in beside if path not in found)
    named = {path for path in found if about & _words(path)} | alike
    own = node.partition("::")[0]
    files = []
    for path, (count, depth, best) in found.items():
        factor = (1 + (path in named)) * (1 + (path in alike)) * (1 + _NEARNESS * _nearness(own, path))
        files.append(TestFile(path, count, depth, round(best * max(count, 1) ** _COUNT_EXPONENT * factor, 6)))
    limit = _MIN_SHARE * max((file.score for file in files), default=0.0)
    listed = (file for file in files if file.score >= limit or file.path in named)
    return tuple(sorted(listed, key=lambda file: (-file.score, file.path)))


def namesake_test_files(node: str, paths: Iterable[str]) -> tuple[str, ...]:
    """The files of tests among `paths` that are named like the node, its class or its file; only the nearest.

    A file without a common folder with that of the node is not one of them, unless the latter is in the root.
    """
    path, _, qualname = node.partition("::")
    names = {_plain(part) for part in qualname.split(".")} | {_subject(path)}
    alike = [each for each in paths if each != path and is_test(each) and _subject(each) in names]
    nearest = max((_common_folders(path, each) for each in alike), default=0)
    if not nearest and "/" in path:
        return ()
    return tuple(sorted(each for each in alike if _common_folders(path, each) == nearest))


def _subject(path: str) -> str:
    """What a file is about: its stem without `test` or `spec`, or the name of its folder if the stem is generic."""
    folders, _, name = path.rpartition("/")
    stem = _AFFIX.sub("", name.rpartition(".")[0])
    return _plain(folders.rpartition("/")[2] if stem in _GENERIC_STEMS else stem)


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _nearness(path: str, other: str) -> float:
    return _common_folders(path, other) / max(path.count("/"), 1)


def _common_folders(path: str, other: str) -> int:
    pairs = zip(path.split("/")[:-1], other.split("/")[:-1], strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _words(name: str) -> frozenset[str]:
    path, _, qualname = name.partition("::")
    stem = path.rpartition("/")[2].partition(".")[0]
    found = {word.lower() for word in _WORDS.findall(f"{stem} {qualname}")}
    return frozenset(word for word in found - _COMMON if len(word) > 2)
