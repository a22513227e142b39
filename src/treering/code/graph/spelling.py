"""Names as sequences of parts, folders first, and how they are compared with what a user wrote."""

import re
from collections.abc import Callable, Sequence

from treering.code.graph.typos import closest

_PARTS = re.compile(r"[/\\.:#]+")
_SEPARATORS = re.compile(r"[_\-\s]+")

Fits = Callable[[tuple[str, ...], tuple[str, ...]], bool]
"""Whether a name matches the parts of a query."""


def parts_of(name: str) -> tuple[str, ...]:
    return tuple(part for part in _PARTS.split(name) if part)


def without_ending(path: str) -> str:
    folder, slash, name = path.rpartition("/")
    return folder + slash + (name.partition(".")[0] or name)


def normalized(part: str) -> str:
    """A name without separators and in lower case."""
    return _SEPARATORS.sub("", part).casefold() or part


def ends_with(name: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    return name[-len(parts) :] == parts


def in_order(name: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    rest = iter(name[:-1])
    return bool(parts) and name[-1] == parts[-1] and all(part in rest for part in parts[:-1])


def subsequence(parts: Sequence[str], name: Sequence[str], alike: Callable[[str, str], bool]) -> bool:
    rest = iter(name)
    return all(any(alike(part, each) for each in rest) for part in parts)


def alike(part: str, other: str) -> bool:
    return part == other or bool(closest(part, (other,)))
