"""The parts of a file that each branch of its preprocessor conditions leaves.

A grammar reads all branches as one text, and cannot parse two that open a bracket each.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from treering.code.facts import Span

_MAX_BRANCHES = 3
"""Branches of one condition that are read; more of them are rare, and each takes the time of a parse."""
_DIRECTIVE = re.compile(
    rb"(?m)^[ \t]*#[ \t]*(ifdef|ifndef|if|elifdef|elifndef|elif|elseif|else|endif"
    rb"|define|undef|pragma|error|warning|line|region|endregion|nullable)\b(?:[^\n]*\\\r?\n)*[^\n]*"
)
_CONDITIONS = frozenset((b"if", b"ifdef", b"ifndef"))
_BRANCHES = frozenset((b"elif", b"elifdef", b"elifndef", b"elseif", b"else"))
_CONSTANT_FALSE = re.compile(rb"#[ \t]*if[ \t]+0\b")


class ConditionBranch(NamedTuple):
    """What is left if one branch of each condition is chosen."""

    removed: tuple[Span, ...]
    """Directives and all other branches."""
    kept: tuple[Span, ...]
    """Branches that no earlier choice leaves."""


def branches_of(source: bytes) -> Iterator[ConditionBranch]:
    """Yield what is left with the first branch of each condition, with the second and so on."""
    directives = tuple(each.span() for each in _DIRECTIVE.finditer(source))
    conditions = list(_conditions(source))
    seen = set[Span]()
    for number in range(_MAX_BRANCHES):
        removed, kept = list(directives), list[Span]()
        for condition in conditions:
            chosen = min(number, len(condition) - 1)
            removed += (span for at, span in enumerate(condition) if at != chosen)
            if condition[chosen] not in seen:
                kept.append(condition[chosen])
        seen.update(kept)
        if number and not kept:
            return
        yield ConditionBranch(tuple(removed), tuple(kept) if number else ((0, len(source)),))


def _conditions(source: bytes) -> Iterator[Sequence[Span]]:
    """Yield the branches of each condition; a branch `#if 0` comes last."""
    open_conditions: list[tuple[list[Span], int, bool]] = []
    for found in _DIRECTIVE.finditer(source):
        word = found[1]
        if word in _CONDITIONS:
            is_false = _CONSTANT_FALSE.match(found[0].strip()) is not None
            open_conditions.append(([], found.end(), is_false))
        elif open_conditions and (word in _BRANCHES or word == b"endif"):
            branches, start, is_false = open_conditions.pop()
            branches.append((start, found.start()))
            if word in _BRANCHES:
                open_conditions.append((branches, found.end(), is_false))
            else:
                yield (*branches[1:], branches[0]) if is_false else branches
