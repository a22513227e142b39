"""The decisive part of a failing output, as a dialect finds it."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

MAX_TESTS = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """The line that names the error, the tests that failed with it, and where it is in the text.

    `general` messages say nothing without the test (`assert 3 == 4`), so the test is part of the error's identity.
    """

    dialect: str
    message: str
    tests: tuple[str, ...] = ()
    at: int = 0
    general: bool = False
    minor: bool = False


@dataclass(frozen=True, slots=True)
class ErrorDialect:
    """One kind of output. It is tried if one of its markers (in lower case) is in the text.

    `certain`: the form of the output proves a failure, even if the exit code is hidden by a pipe.
    """

    name: str
    markers: tuple[str, ...]
    find: Callable[[str], Finding | None]
    certain: bool = False


def line_at(text: str, begin: int) -> str:
    """The line that begins at a position."""
    end = text.find("\n", begin)
    return text[begin:] if end < 0 else text[begin:end]


def lines_after(text: str, place: int, most: int) -> Iterator[tuple[int, str]]:
    """Up to `most` lines that follow the line of `place`, with their positions."""
    for _ in range(most):
        place = text.find("\n", place) + 1
        if not place:
            return
        yield place, line_at(text, place)


def distinct_tests(names: Iterator[str]) -> tuple[str, ...]:
    """The first distinct names, at most five, without control characters and of bearable length."""
    found: dict[str, None] = {}
    for name in names:
        if plain := " ".join(name.split())[:200]:
            found[plain] = None
        if len(found) == MAX_TESTS:
            break
    return tuple(found)


def first_finding(pattern: re.Pattern[str], text: str, dialect: str, group: int = 1) -> Finding | None:
    """The first match of a pattern as a finding."""
    found = pattern.search(text)
    return Finding(dialect, found[group], at=found.start()) if found else None
