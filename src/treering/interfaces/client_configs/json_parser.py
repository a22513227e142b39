"""JSON with comments and commas at the end: what it says, and where each part of it stands."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from treering.interfaces.client_configs.formats import BOM, NotUnderstood

_TOKEN = re.compile(
    r"""(?: [ \t\r\n]++ | //[^\r\n]*+ | /\*.*?\*/ )*+
    (?P<token> "(?:[^"\\]++|\\.)*+" | [{}\[\]:,] | [^\s{}\[\]:,"/]++ | \Z )""",
    re.VERBOSE | re.DOTALL,
)
_NESTING = {"{": 1, "[": 1, "}": -1, "]": -1}


class Token(NamedTuple):
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Member:
    """A name with its value."""

    key: str
    start: int
    end: int
    value: int
    """Which token the value begins with."""
    before: Token
    """The comma or the bracket before it."""
    comma: Token | None
    """The comma after it."""


@dataclass(frozen=True, slots=True)
class Object:
    open: Token
    close: Token
    members: tuple[Member, ...]

    def member(self, key: str) -> Member | None:
        """Of two with the same name the last one counts, as for those who read the file."""
        return next((member for member in reversed(self.members) if member.key == key), None)


def content(text: str) -> dict[str, Any]:
    try:
        said = _loaded(text.removeprefix(BOM))
    except (ValueError, RecursionError):
        said = _loaded_with_comments(text)
    if not isinstance(said, dict):
        raise NotUnderstood("is JSON, but not an object")
    return said


# An edit and its proof look at the same two texts again and again, and some clients keep megabytes in them.
@lru_cache(maxsize=2)
def tokens_of(text: str) -> tuple[Token, ...]:
    """All but what stands between; raises NotUnderstood."""
    found, at = [], len(BOM) if text.startswith(BOM) else 0
    for match in _TOKEN.finditer(text, at):
        if match.start() != at:
            break
        at = match.end()
        if token := match["token"]:
            found.append(Token(token, at - len(token)))
    if at != len(text):
        raise NotUnderstood(f"is not JSON (line {text.count(chr(10), 0, at) + 1} cannot be read)")
    return tuple(found)


def object_at(tokens: Sequence[Token], index: int) -> Object:
    """The object that begins with a token, of a text that `content` could read."""
    opening, before = tokens[index], tokens[index]
    members = []
    index += 1
    while tokens[index].text != "}":
        key, value = tokens[index], index + 2
        index = _end_of_value(tokens, value) + 1
        comma = tokens[index] if tokens[index].text == "," else None
        members.append(Member(json.loads(key.text), key.start, tokens[index - 1].end, value, before, comma))
        if comma is not None:
            before, index = comma, index + 1
    return Object(opening, tokens[index], tuple(members))


def member_at(text: str, path: tuple[str, ...]) -> Member | None:
    """The member that a path of names leads to."""
    tokens = tokens_of(text)
    index, found = 0, None
    for key in path:
        if not tokens or tokens[index].text != "{":
            return None
        found = object_at(tokens, index).member(key)
        if found is None:
            return None
        index = found.value
    return found


def _end_of_value(tokens: Sequence[Token], index: int) -> int:
    depth = 0
    while True:
        depth += _NESTING.get(tokens[index].text, 0)
        if depth == 0:
            return index
        index += 1


def _loaded(text: str) -> Any:
    return json.loads(text, parse_float=str, parse_constant=_refused)


def _loaded_with_comments(text: str) -> Any:
    tokens = tokens_of(text)
    try:
        return _loaded(_strict(text, tokens)) if tokens else {}
    except (ValueError, RecursionError) as exc:
        told = f"line {exc.lineno}: {exc.msg}" if isinstance(exc, json.JSONDecodeError) else str(exc)
        raise NotUnderstood(f"is not JSON ({told})") from exc


def _strict(text: str, tokens: Sequence[Token]) -> str:
    """The same without comments and without commas at the end, each token on its line."""
    pieces, at = [], 0
    for token, after in zip(tokens, (*tokens[1:], tokens[-1]), strict=True):
        pieces.append("\n" * text.count("\n", at, token.start))
        pieces.append("" if token.text == "," and after.text in ("}", "]") else f"{token.text} ")
        at = token.end
    return "".join(pieces)


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is not a value of it")
