"""JSON edited as text, in the style of the file."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from textwrap import dedent, indent
from typing import Any

from treering.interfaces.client_configs.formats import BOM
from treering.interfaces.client_configs.json_parser import (
    JsonMember,
    JsonToken,
    Object,
    content,
    member_at,
    object_at,
    tokens_of,
)

__all__ = ["append", "content", "part", "put", "put_back", "take"]

# Space and comments at the end of a line, which belong to the member before them.
_REST_OF_LINE = re.compile(r"(?:[ \t]|/\*[^\r\n]*?\*/)*+(?://[^\r\n]*+)?(?=\r?\n)")
_INDENT = "  "


class OneLine(list[Any]):
    """An array that is written on one line, whatever the style."""


@dataclass(frozen=True, slots=True)
class JsonStyle:
    """How a value is formatted: over several indented lines, or on one."""

    spread: bool
    indent: str
    """Indentation of the line that the value begins on."""
    unit: str
    newline: str
    gap: str
    """Space after a comma and a colon on one line."""

    @property
    def line(self) -> str:
        """A line break with the indentation."""
        return self.newline + self.indent

    def value(self, value: Any) -> str:
        if isinstance(value, OneLine):
            return json.dumps(value, ensure_ascii=False)
        if not self.spread:
            return json.dumps(value, separators=(f",{self.gap}", f":{self.gap}"), ensure_ascii=False)
        if not value or not isinstance(value, dict | list):
            return json.dumps(value, ensure_ascii=False)
        inner = replace(self, indent=self.indent + self.unit)
        items = [inner.member(*item) for item in value.items()] if isinstance(value, dict) else map(inner.value, value)
        start, end = "{}" if isinstance(value, dict) else "[]"
        return f"{start}{','.join(f'{inner.line}{item}' for item in items)}{self.line}{end}"

    def member(self, key: str | None, value: Any) -> str:
        """A member of an object; without a key, an element of an array."""
        if key is None:
            return json.dumps(value, ensure_ascii=False)
        return f"{json.dumps(key)}:{' ' if self.spread else self.gap}{self.value(value)}"


def put(text: str, path: tuple[str, ...], value: Any) -> str:
    tokens = tokens_of(text)
    if not tokens:
        return _begun(text, _nested(path, value))
    holder, style, rest = _nearest(text, tokens, path[:-1])
    present = holder.member(path[-1]) if len(rest) == 0 else None
    if present is None:
        key, *inner = (*rest, path[-1])
        return _with_member(text, holder, style, key, _nested(tuple(inner), value))
    style = replace(style, indent=_indent(text, present.start))
    return text[: tokens[present.value].start] + style.value(value) + text[present.end :]


def append(text: str, path: tuple[str, ...], value: Any) -> str:
    """The text with an element, on one line, after all others of the array at a path, which is created if missing."""
    tokens = tokens_of(text)
    if member_at(text, path) is None:
        return put(text, path, OneLine([value]))
    holder, style, _ = _nearest(text, tokens, path)
    return _with_member(text, holder, style, None, value)


def _nearest(
    text: str, tokens: Sequence[JsonToken], path: tuple[str, ...]
) -> tuple[Object, JsonStyle, tuple[str, ...]]:
    """The deepest existing object or array on a path, its style, and the keys that are missing below it."""
    holder = object_at(tokens, 0)
    style = _style(text, tokens, holder, spread=_is_spread(text, holder, default=True))
    for depth, key in enumerate(path):
        member = holder.member(key)
        if member is None:
            return holder, style, path[depth:]
        holder = object_at(tokens, member.value)
        spread = _is_spread(text, holder, default=style.spread)
        style = replace(style, spread=spread, indent=_indent(text, holder.open.start))
    return holder, style, ()


def _nested(path: tuple[str, ...], value: Any) -> Any:
    """A value inside one object per key."""
    for key in reversed(path):
        value = {key: value}
    return value


def put_back(text: str, place: tuple[str, ...], written: str) -> str:
    member = member_at(text, place)
    if member is None:
        return text
    return text[: member.start] + indent(written, _indent(text, member.start)).lstrip() + text[member.end :]


def take(text: str, place: tuple[str, ...]) -> str:
    member = member_at(text, place)
    if member is None:
        return text
    start = _start_of_line(text, member)
    if member.comma is not None:
        return text[:start] + text[member.end : member.comma.start] + text[member.comma.end :]
    if member.before.text == ",":
        return text[: member.before.start] + text[member.before.end : start] + text[member.end :]
    return text[:start] + text[member.end :]


def part(text: str, path: tuple[str, ...]) -> str:
    member = member_at(text, path)
    return "" if member is None else dedent(_indent(text, member.start) + text[member.start : member.end])


def _begun(text: str, document: dict[str, Any]) -> str:
    """A new document in a file that has none yet."""
    style = JsonStyle(True, "", _INDENT, _newline(text), " ")
    gap = style.newline if text.removeprefix(BOM) and not text.endswith("\n") else ""
    return f"{text}{gap}{style.value(document)}{style.newline}"


def _with_member(text: str, holder: Object, style: JsonStyle, key: str | None, value: Any) -> str:
    """The text with a member appended to an object, or an element to an array."""
    if not holder.members:
        return _with_first(text, holder, style, key, value)
    inner = replace(style, indent=_indent(text, holder.members[0].start))
    written = (inner.line if style.spread else style.gap) + inner.member(key, value)
    last = holder.members[-1]
    end = last.comma.end if last.comma else last.end
    line = _REST_OF_LINE.match(text, end) if style.spread else None
    at = line.end() if line else end
    if last.comma:
        return f"{text[:at]}{written},{text[at:]}"
    return f"{text[:end]},{text[end:at]}{written}{text[at:]}"


def _with_first(text: str, holder: Object, style: JsonStyle, key: str | None, value: Any) -> str:
    """The text with a member in an empty object or array, after all comments in it."""
    inside = text[holder.open.end : holder.close.start]
    at = holder.open.end + len(inside.rstrip())
    space = text[at : holder.close.start]
    inner = replace(style, indent=style.indent + style.unit)
    written = inner.member(key, value)
    if not style.spread:
        written = f"{space}{written}{space}"
    elif "\n" in space:
        written = f"{inner.line}{written}{space}"
    else:
        written = f"{space}{inner.line}{written}{style.line}"
    return text[:at] + written + text[holder.close.start :]


def _start_of_line(text: str, member: JsonMember) -> int:
    """Start of the line break or the spaces before a member, so that they are removed with it."""
    space = re.search(r"(?:\r?\n)?[ \t]*\Z", text[member.before.end : member.start])
    start = member.before.end + (space.start() if space else 0)
    follows = not _REST_OF_LINE.match(text, (member.comma or member).end)
    # The rest of the line must not become part of a comment.
    return member.start if follows and "//" in text[member.before.end : start] else start


def _is_spread(text: str, held: Object, *, default: bool) -> bool:
    """Whether each member has its own line; `default` decides for an object without members."""
    if held.members:
        return "\n" in text[held.open.end : held.members[0].start]
    return default or "\n" in text[held.open.end : held.close.start]


def _style(text: str, tokens: Sequence[JsonToken], root: Object, *, spread: bool) -> JsonStyle:
    """Style of the file, from its first line break, indentation and colon."""
    indent = _indent(text, root.open.start)
    first = _indent(text, root.members[0].start) if root.members and spread else ""
    colon = next((index for index, token in enumerate(tokens) if token.text == ":"), None)
    tight = colon is not None and tokens[colon].end == tokens[colon + 1].start
    return JsonStyle(spread, indent, first.removeprefix(indent) or _INDENT, _newline(text), "" if tight else " ")


def _indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at].removeprefix(BOM)
    return line[: len(line) - len(line.lstrip(" \t"))]


def _newline(text: str) -> str:
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"
