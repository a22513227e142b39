"""JSON edited as text, in the style of the file."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from textwrap import dedent, indent
from typing import Any

from treering.interfaces.client_configs.formats import BOM, Entry, Place
from treering.interfaces.client_configs.json_parser import (
    JsonMember,
    JsonToken,
    Object,
    content,
    member_at,
    object_at,
    tokens_of,
)

__all__ = ["content", "part", "put", "put_back", "take"]

# Space and comments at the end of a line, which belong to the member before them.
_REST_OF_LINE = re.compile(r"(?:[ \t]|/\*[^\r\n]*?\*/)*+(?://[^\r\n]*+)?(?=\r?\n)")
_INDENT = "  "


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
        if self.spread:
            return json.dumps(value, indent=self.unit, ensure_ascii=False).replace("\n", self.line)
        return json.dumps(value, separators=(f",{self.gap}", f":{self.gap}"), ensure_ascii=False)

    def member(self, key: str, value: Any) -> str:
        return f"{json.dumps(key)}:{' ' if self.spread else self.gap}{self.value(value)}"


def put(text: str, place: Place, entry: Entry) -> str:
    servers, name = place
    tokens = tokens_of(text)
    if not tokens:
        return _begun(text, {servers: {name: dict(entry)}})
    root = object_at(tokens, 0)
    root_style = _style(text, tokens, root, spread=_is_spread(text, root, default=True))
    holder = root.member(servers)
    if holder is None:
        return _with_member(text, root, root_style, servers, {name: dict(entry)})
    held = object_at(tokens, holder.value)
    held_style = replace(
        root_style,
        spread=_is_spread(text, held, default=root_style.spread),
        indent=_indent(text, held.open.start),
    )
    present = held.member(name)
    if present is None:
        return _with_member(text, held, held_style, name, dict(entry))
    style = replace(held_style, indent=_indent(text, present.start))
    return text[: tokens[present.value].start] + style.value(dict(entry)) + text[present.end :]


def put_back(text: str, place: Place, written: str) -> str:
    member = member_at(text, place)
    if member is None:
        return text
    return text[: member.start] + indent(written, _indent(text, member.start)).lstrip() + text[member.end :]


def take(text: str, place: Place) -> str:
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


def _with_member(text: str, holder: Object, style: JsonStyle, key: str, value: Any) -> str:
    """The text with a member appended to an object."""
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


def _with_first(text: str, holder: Object, style: JsonStyle, key: str, value: Any) -> str:
    """The text with a member in an empty object, after all comments in it."""
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
