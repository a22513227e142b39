"""A parser of JSON with comments and trailing commas that keeps the position of each member."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from treering.interfaces.client_configs.formats import BOM, ConfigUnreadable

_TOKEN = re.compile(
    r"""(?: [ \t\r\n]++ | //[^\r\n]*+ | /\*.*?\*/ )*+
    (?P<token> "(?:[^"\\]++|\\.)*+" | [{}\[\]:,] | [^\s{}\[\]:,"/]++ | \Z )""",
    re.VERBOSE | re.DOTALL,
)
_NESTING = {"{": 1, "[": 1, "}": -1, "]": -1}


class JsonToken(NamedTuple):
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class JsonMember:
    """A member of an object or an element of an array, with its positions in the text."""

    key: str
    """Of an element: its position in the array."""
    start: int
    end: int
    value: int
    """Index of the first token of the value."""
    before: JsonToken
    """The comma or the bracket before it."""
    comma: JsonToken | None
    """The comma after it."""


@dataclass(frozen=True, slots=True)
class Object:
    """An object or an array."""

    open: JsonToken
    close: JsonToken
    members: tuple[JsonMember, ...]

    def member(self, key: str) -> JsonMember | None:
        """The last member with this key, as JSON readers choose it."""
        return next((member for member in reversed(self.members) if member.key == key), None)


def content(text: str) -> dict[str, Any]:
    try:
        parsed = _loaded(text.removeprefix(BOM))
    except (ValueError, RecursionError):
        parsed = _loaded_with_comments(text)
    if not isinstance(parsed, dict):
        raise ConfigUnreadable("is JSON, but not an object")
    return parsed


# An edit and its verification parse the same two texts repeatedly, and some clients store megabytes in them.
@lru_cache(maxsize=2)
def tokens_of(text: str) -> tuple[JsonToken, ...]:
    """All tokens, without space and comments. Raises ConfigUnreadable."""
    found, at = [], len(BOM) if text.startswith(BOM) else 0
    for match in _TOKEN.finditer(text, at):
        if match.start() != at:
            break
        at = match.end()
        if token := match["token"]:
            found.append(JsonToken(token, at - len(token)))
    if at != len(text):
        raise ConfigUnreadable(f"is not JSON (line {text.count(chr(10), 0, at) + 1} cannot be read)")
    return tuple(found)


def object_at(tokens: Sequence[JsonToken], index: int) -> Object:
    """The object or array whose first token is at `index`, in a text that `content` accepts."""
    opening, before = tokens[index], tokens[index]
    is_array = opening.text == "["
    members: list[JsonMember] = []
    index += 1
    while tokens[index].text not in ("}", "]"):
        first = tokens[index]
        key, value = (str(len(members)), index) if is_array else (json.loads(first.text), index + 2)
        index = _end_of_value(tokens, value) + 1
        comma = tokens[index] if tokens[index].text == "," else None
        members.append(JsonMember(key, first.start, tokens[index - 1].end, value, before, comma))
        if comma is not None:
            before, index = comma, index + 1
    return Object(opening, tokens[index], tuple(members))


def member_at(text: str, path: tuple[str, ...]) -> JsonMember | None:
    """The member at a path of keys; the key of an array's element is its position."""
    tokens = tokens_of(text)
    index, found = 0, None
    for key in path:
        if not tokens or tokens[index].text not in ("{", "["):
            return None
        found = object_at(tokens, index).member(key)
        if found is None:
            return None
        index = found.value
    return found


def _end_of_value(tokens: Sequence[JsonToken], index: int) -> int:
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
        reason = f"line {exc.lineno}: {exc.msg}" if isinstance(exc, json.JSONDecodeError) else str(exc)
        raise ConfigUnreadable(f"is not JSON ({reason})") from exc


def _strict(text: str, tokens: Sequence[JsonToken]) -> str:
    """The text without comments and trailing commas, each token on its line."""
    pieces, at = [], 0
    for token, after in zip(tokens, (*tokens[1:], tokens[-1]), strict=True):
        pieces.append("\n" * text.count("\n", at, token.start))
        pieces.append("" if token.text == "," and after.text in ("}", "]") else f"{token.text} ")
        at = token.end
    return "".join(pieces)


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON value")
