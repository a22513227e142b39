"""The files of tests that a change reaches, those that are likely to test it first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import takewhile
from types import MappingProxyType
from typing import NamedTuple

from treering.code.graph.module_names import is_test

_MIN_SHARE = 0.22
"""A file with less than this share of the best score hardly tests the node: about seven more calls away."""
_IMPORT_SCORE = 0.4
"""Score of a file of tests that imports the file of the node and whose tests do not reach the node: new tests of the
node are likely to be added there."""
_TOGETHER = 5.0
"""Gain of a file that always changed together with that of the node. It orders the files but does not raise the limit:
without a history, the same files are listed."""
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
    """The best score of them, raised by words that both names share and by changes of both files together; it orders
    the files."""


class _Candidate(NamedTuple):
    path: str
    tests: int
    depth: int
    score: float
    """Without changes together."""


def ranked_test_files(
    node: str,
    tests: Iterable[tuple[str, int, float]],
    importers: Iterable[str] = (),
    namesakes: Iterable[str] = (),
    together: Mapping[str, float] = MappingProxyType({}),
) -> tuple[TestFile, ...]:
    """The files of tests, given by id, depth and score, best first; without those far behind the best.

    Of the files that import that of the node, those of tests with a word of its name are added, and all namesakes.
    `together` tells how often other files changed with that of the node, from 0 to 1.
    """
    found: dict[str, tuple[int, int, float]] = {}
    for id, depth, score in tests:
        path, inside, _ = id.partition("::")
        count, nearest, best = found.get(path, (0, depth, 0.0))
        found[path] = count + bool(inside), min(nearest, depth), max(best, score)
    about, alike = _words(node), frozenset(namesakes)
    beside = {path for path in importers if is_test(path) and about & _words(path)} | alike
    found.update((path, (0, 0, _IMPORT_SCORE)) for path in beside if path not in found)
    candidates = [
        _Candidate(path, count, depth, best * (4 if path in alike else 2 if about & _words(path) else 1))
        for path, (count, depth, best) in found.items()
    ]
    # Tests inside a file of code are always near: they do not exclude the files of tests.
    limit = _MIN_SHARE * max((each.score for each in candidates), default=0.0)
    limit_of_tests = _MIN_SHARE * max((each.score for each in candidates if is_test(each.path)), default=0.0)
    files = []
    for path, count, depth, best in candidates:
        score = best * (1 + _TOGETHER * together.get(path, 0.0))
        if path in alike or score >= (limit_of_tests if is_test(path) else limit):
            files.append(TestFile(path, count, depth, round(score, 6)))
    return tuple(sorted(files, key=lambda file: (-file.score, file.path)))


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


def _common_folders(path: str, other: str) -> int:
    pairs = zip(path.split("/")[:-1], other.split("/")[:-1], strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _words(name: str) -> frozenset[str]:
    path, _, qualname = name.partition("::")
    stem = path.rpartition("/")[2].partition(".")[0]
    found = {word.lower() for word in _WORDS.findall(f"{stem} {qualname}")}
    return frozenset(word for word in found - _COMMON if len(word) > 2)
