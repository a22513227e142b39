"""Which texts every match of a regular expression contains, read from the parsed expression."""

import itertools
import re
from collections.abc import Iterable
from importlib import import_module
from typing import Any

_parser: Any = import_module("re._parser")


def endings_without(needed: tuple[str, ...], expression: str) -> frozenset[str]:
    """How a match of `expression`, ignoring case, may end without any text of `needed`; none if each match has one."""
    return _endings(_parser.parse(expression, re.I), needed, frozenset({""}))


def first_letters(expression: str, number: int) -> str:
    """The first characters that every match begins with, at most `number`, in lower case."""
    nodes = list(_parser.parse(expression, re.I))[:number]
    letters = itertools.takewhile(lambda node: str(node[0]) == "LITERAL", nodes)
    return "".join(chr(value).lower() for _, value in letters)


def _endings(nodes: Iterable[Any], needed: tuple[str, ...], before: frozenset[str]) -> frozenset[str]:
    """How a match of a parsed expression may end without any text of `needed` in it; none if it has one always.

    `before` are the texts that it may follow. Whatever is not plain text is taken for any text.
    """
    ends = before
    for kind, value in nodes:
        match str(kind):
            case "LITERAL":
                longer = {f"{end}{chr(value).lower()}" for end in ends}
                longest = max(map(len, needed), default=1)
                ends = frozenset(end[-longest:] for end in longer if not end.endswith(needed))
            case "SUBPATTERN":
                ends = _endings(value[-1], needed, ends)
            case "BRANCH":
                ends = frozenset().union(*(_endings(branch, needed, ends) for branch in value[1]))
            case "MAX_REPEAT" | "MIN_REPEAT":
                least, most, inner = value
                once = _endings(inner, needed, ends)
                gap = frozenset({""} if once and most > 1 else ())
                ends = once | gap | (frozenset() if least else ends)
            case "ASSERT" | "ASSERT_NOT" | "AT":
                pass
            case _:
                ends = frozenset({""} if ends else ())
    return ends
