"""Unclosed brackets of a text, and the end of its header."""

from collections.abc import Iterator
from functools import reduce
from typing import NamedTuple

from treering.code.languages.error_recovery.rules import RecoveryRules

_CLOSING = {b"(": b")", b"[": b"]", b"{": b"}"}
_MAX_OPEN = 40
"""A part with more open brackets than this is not repaired by closing them."""


class OpenBrackets(NamedTuple):
    """The closing brackets that are missing after a token, in the required order, and where the token ends."""

    closing: bytes
    end: int
    last: bytes


def open_brackets(rules: RecoveryRules, text: bytes) -> OpenBrackets:
    """Return the brackets that the whole text leaves open, and where its code ends."""
    return reduce(lambda _, after: after, _line_ends(rules, text), OpenBrackets(b"", 0, b""))


def header_of(rules: RecoveryRules, text: bytes) -> OpenBrackets | None:
    """Return the end of the header of a class, function or block (after its colon or brace), or None."""
    for found in _line_ends(rules, text):
        if rules.by_indentation:
            if not found.closing:
                return found if found.last == b":" else None
        elif found.last == b"{" and found.closing:
            return found
    return None


def _line_ends(rules: RecoveryRules, text: bytes) -> Iterator[OpenBrackets]:
    """Yield the open brackets after the last code of each line."""
    open_: list[bytes] = []
    end, last = 0, b""
    for found in rules.tokens.finditer(text):
        if found["comment"] is not None:
            continue
        if end and text.find(b"\n", end, found.start()) >= 0:
            yield OpenBrackets(_closing(open_), end, last)
        token = found["bracket"]
        if token in _CLOSING:
            open_.append(token)
        elif token and open_ and _CLOSING[open_[-1]] == token:
            open_.pop()
        end, last = found.end(), found.group()[-1:]
    if end:
        yield OpenBrackets(_closing(open_), end, last)


def _closing(open_: list[bytes]) -> bytes:
    return b"".join(_CLOSING[each] for each in reversed(open_[-_MAX_OPEN:]))
