"""Which words a text must hold for an expression to match it.

Expressions are those of the data files: literals, groups, alternatives, optional parts. Of each sequence the most
telling part counts; a part that may be missing tells nothing.
"""

import re
from collections.abc import Iterator, Set

_WORD = re.compile(r"[^\W_]+")
_NOT_LITERAL = re.compile(r"\\.|\[[^\]]*\][?*+]?|\{[a-z_]+\}|(?<=\w)'")
# A word with any letters in it can't be told; this stands for them.
_UNKNOWN = "\0"
_ANY_LETTERS = re.compile(r"(?:\\[wdS]|\.)(?:[*+?]|\{[\d,]+\})?\??|\[(?=[^\]]*\\)[^\]]*\](?:[*+?]|\{[\d,]+\})?")
_PARTLY_KNOWN = re.compile(rf"\S*{_UNKNOWN}\S*")
_CHOICE = re.compile(r"\[([^\W\d_]+)\]")
_OPENING = re.compile(r"\((?:\?:|\?<?[=!]|\?P<\w+>)?")
_MOST_WAYS = 2_048


def keys_of(expression: str, common: Set[str]) -> frozenset[str]:
    """Words of which each match holds at least one, and rather none of the `common` ones; empty if there are none."""
    spelt = _CHOICE.sub(lambda found: f"(?:{'|'.join(found[1])})", expression)
    return _keys(_NOT_LITERAL.sub(" ", _ANY_LETTERS.sub(_UNKNOWN, spelt)), common) or frozenset()


def _keys(expression: str, common: Set[str]) -> frozenset[str] | None:
    found: frozenset[str] = frozenset()
    for choice in _parted(expression, "|"):
        keys = _keys_of_sequence(choice, common)
        if keys is None:
            return None
        found |= keys
    return found


def _keys_of_sequence(sequence: str, common: Set[str]) -> frozenset[str] | None:
    each = (_keys_of_token(token, common) for token in _parted(sequence, " ") if token)
    telling = [keys for keys in each if keys]
    return max(telling, key=lambda keys: (keys.isdisjoint(common), min(map(len, keys))), default=None)


def _keys_of_token(token: str, common: Set[str]) -> frozenset[str] | None:
    opening = _OPENING.match(token)
    if opening and _end(token, opening.end()) == len(token) - 1:
        return None if opening[0][-1] in "=!" else _keys(token[opening.end() : -1], common)
    longest: set[str] = set()
    for way in _ways(token):
        words = _WORD.findall(_PARTLY_KNOWN.sub(" ", way))
        if not words:
            return None
        longest.add(max(words, key=lambda word: (word not in common, len(word))))
    return frozenset(longest) or None


def _parted(expression: str, sign: str) -> Iterator[str]:
    """`expression` cut at each `sign` that is in no group."""
    depth = start = 0
    for at, char in enumerate(expression):
        depth += (char == "(") - (char == ")")
        if char == sign and depth == 0:
            yield expression[start:at]
            start = at + 1
    yield expression[start:]


def _end(expression: str, start: int) -> int:
    """Where the group that `start` lies in is closed."""
    depth = 1
    for at in range(start, len(expression)):
        depth += (expression[at] == "(") - (expression[at] == ")")
        if depth == 0:
            return at
    raise ValueError(f"{expression!r} has a group that is not closed")


def _ways(token: str) -> list[str]:
    """All that `token` may be, spelt out; nothing if that is too much."""
    ways, at = [""], 0
    while at < len(token):
        opening = _OPENING.match(token, at)
        if opening:
            end = _end(token, opening.end())
            seeks = opening[0][-1] in "=!"
            choices = (
                [""] if seeks else [way for part in _parted(token[opening.end() : end], "|") for way in _ways(part)]
            )
            at = end + 1
        else:
            choices, at = [token[at]], at + 1
        if at < len(token) and token[at] in "?*":
            choices, at = ["", *choices], at + 1
        if len(ways) * len(choices) > _MOST_WAYS:
            return []
        ways = [way + choice for way in ways for choice in choices]
    return ways
