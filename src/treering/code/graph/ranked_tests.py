"""The files of tests that a change reaches, those that are likely to test it first."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_MIN_SHARE = 0.125
"""A file of tests with less than this share of the best score hardly tests the change itself."""
_COUNT_EXPONENT = 0.3
_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_COMMON = frozenset({"test", "tests", "src", "lib", "init", "main", "spec"})


@dataclass(frozen=True, slots=True)
class TestFile:
    """A file with tests that reach a node."""

    __test__ = False  # pytest would collect it

    path: str
    tests: int
    """Number of tests in it that reach the node."""
    depth: int
    """Steps to the nearest of them."""
    score: float
    """The best score of them, raised by their number and by words that both names share; it orders the files."""


def ranked_test_files(node: str, tests: Iterable[tuple[str, int, float]]) -> tuple[TestFile, ...]:
    """The files of tests, given by id, depth and score, best first; without those far behind the best."""
    found: dict[str, tuple[int, int, float]] = {}
    for id, depth, score in tests:
        path, inside, _ = id.partition("::")
        count, nearest, best = found.get(path, (0, depth, 0.0))
        found[path] = count + bool(inside), min(nearest, depth), max(best, score)
    about = _words(node)
    files = [
        TestFile(path, count, depth, round(best * max(count, 1) ** _COUNT_EXPONENT * (1 + _shared(about, path)), 6))
        for path, (count, depth, best) in found.items()
    ]
    limit = _MIN_SHARE * max((file.score for file in files), default=0.0)
    return tuple(sorted((file for file in files if file.score >= limit), key=lambda file: (-file.score, file.path)))


def _shared(about: frozenset[str], path: str) -> float:
    """1 if a word of the file's name is in the name of the node or its file."""
    return float(bool(about & _words(path.rpartition("/")[2])))


def _words(name: str) -> frozenset[str]:
    path, _, qualname = name.partition("::")
    stem = path.rpartition("/")[2].partition(".")[0]
    found = {word.lower() for word in _WORDS.findall(f"{stem} {qualname}")}
    return frozenset(word for word in found - _COMMON if len(word) > 2)
