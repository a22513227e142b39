"""The files of tests that a change reaches, those that are likely to test it first."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from treering.code.graph.module_names import is_test

_MIN_SHARE = 0.125
"""A file with less than this share of the best score, and no word of its name in that of the node, hardly tests it."""
_COUNT_EXPONENT = 0.3
_IMPORT_SCORE = 0.4
"""Score of a file of tests that imports the file of the node and whose tests do not reach the node: new tests of the
node are likely to be added there."""
_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_COMMON = frozenset({"test", "tests", "src", "lib", "init", "main", "spec"})


@dataclass(frozen=True, slots=True)
class TestFile:
    """A file with tests that reach a node."""

    __test__ = False  # pytest would collect it

    path: str
    tests: int
    """Number of tests in it that reach the node; also 0 if the file as a whole reaches it."""
    depth: int
    """Steps to the nearest of them; 0 if none reaches the node: the file imports that of the node, and is named alike.
    """
    score: float
    """The best score of them, raised by their number and by words that both names share; it orders the files."""


def ranked_test_files(
    node: str, tests: Iterable[tuple[str, int, float]], importers: Iterable[str] = ()
) -> tuple[TestFile, ...]:
    """The files of tests, given by id, depth and score, best first; without those far behind the best.

    Of the files that import that of the node, those of tests with a word of its name are added.
    """
    found: dict[str, tuple[int, int, float]] = {}
    for id, depth, score in tests:
        path, inside, _ = id.partition("::")
        count, nearest, best = found.get(path, (0, depth, 0.0))
        found[path] = count + bool(inside), min(nearest, depth), max(best, score)
    about = _words(node)
    beside = [path for path in importers if path not in found and is_test(path) and about & _words(path)]
    found.update((path, (0, 0, _IMPORT_SCORE)) for path in beside)
    named = {path for path in found if about & _words(path)}
    files = [
        TestFile(path, count, depth, round(best * max(count, 1) ** _COUNT_EXPONENT * (1 + (path in named)), 6))
        for path, (count, depth, best) in found.items()
    ]
    limit = _MIN_SHARE * max((file.score for file in files), default=0.0)
    listed = (file for file in files if file.score >= limit or file.path in named)
    return tuple(sorted(listed, key=lambda file: (-file.score, file.path)))


def _words(name: str) -> frozenset[str]:
    path, _, qualname = name.partition("::")
    stem = path.rpartition("/")[2].partition(".")[0]
    found = {word.lower() for word in _WORDS.findall(f"{stem} {qualname}")}
    return frozenset(word for word in found - _COMMON if len(word) > 2)
