"""TOML edited as text: tomllib parses the file, this module finds the positions."""

import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from treering.interfaces.client_configs.formats import BOM, ConfigUnreadable, Entry, Place

_PIECE = re.compile(
    r'''(?P<break>\r?\n) | (?P<space>[ \t\ufeff]+ | \#[^\r\n]*)
    | """(?:[^\\]|\\.)*?"{3,5} | \'\'\'.*?\'{3,5} | "(?:[^"\\\r\n]|\\.)*" | '[^'\r\n]*'
    | (?P<open>[\[{]) | (?P<close>[\]}]) | (?P<equals>=) | .''',
    re.VERBOSE | re.DOTALL,
)
_MAX_ON_ONE_LINE = 5
"""Values of an array that are written on one line."""


@dataclass(frozen=True, slots=True)
class TomlStatement:
    """A header or an assignment, with its lines."""

    start: int
    end: int
    path: tuple[str, ...]
    is_header: bool


def content(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix(BOM), parse_float=str)
    except (ValueError, RecursionError) as exc:
        raise ConfigUnreadable(f"is not TOML ({exc})") from exc


def put(text: str, place: Place, entry: Entry) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [f"[{'.'.join(place)}]", *(f"{key} = {_value(value)}" for key, value in entry.items())]
    block = "".join(f"{line}\n" for line in lines).replace("\n", newline)
    present = _under(text, place)
    if present and present[0].is_header:
        return text[: present[0].start] + block + _cut(text[present[0].start :], present, present[0].start)
    rest = _cut(text, present)
    if not rest.removeprefix(BOM):
        return rest + block
    return f"{rest}{'' if rest.endswith(chr(10)) else newline}{newline}{block}"


def put_back(text: str, place: Place, written: str) -> str:
    present = _under(text, place)
    block = written if written.endswith("\n") else f"{written}\n"
    first = next(_statements(block))
    if present and first.is_header:
        at = present[0].start
        return text[:at] + block + _cut(text[at:], present, at)
    rest = take(text, place)
    # Lines without a header belong to the table of servers, or to the top if that table has no header.
    table = next((each for each in _statements(rest) if each.is_header and each.path == place[:1]), None)
    at = table.end if table else len(rest) - len(rest.removeprefix(BOM))
    return rest[:at] + block + rest[at:]


def take(text: str, place: Place) -> str:
    found = _under(text, place)
    if not found or not found[0].is_header:
        return _cut(text, found)
    # The empty line before the table is removed with it.
    blank = re.search(r"(?<=\n)\r?\n\Z", text[: found[0].start])
    start = blank.start() if blank else found[0].start
    return text[:start] + _cut(text[found[0].start :], found, found[0].start)


def part(text: str, path: tuple[str, ...]) -> str:
    return "".join(text[statement.start : statement.end] for statement in _under(text, path))


def _under(text: str, path: tuple[str, ...]) -> list[TomlStatement]:
    return [statement for statement in _statements(text) if statement.path[: len(path)] == path]


def _cut(text: str, statements: list[TomlStatement], offset: int = 0) -> str:
    for statement in reversed(statements):
        text = text[: statement.start - offset] + text[statement.end - offset :]
    return text


def _statements(text: str) -> Iterator[TomlStatement]:
    """All statements of a file, in order."""
    table: tuple[str, ...] = ()
    for start, end, equals in _spans(text):
        if equals is None:
            table = _path(text[start:end])
            yield TomlStatement(start, end, table, True)
        else:
            yield TomlStatement(start, end, table + _path(f"{text[start:equals]} = 0"), False)


def _spans(text: str) -> Iterator[tuple[int, int, int | None]]:
    """For each statement: start of its first line, end of its last line, and position of its equals sign."""
    start: int | None = None
    equals: int | None = None
    line, depth = len(BOM) if text.startswith(BOM) else 0, 0
    for piece in _PIECE.finditer(text):
        if piece["break"]:
            if depth == 0 and start is not None:
                yield start, piece.end(), equals
                start, equals = None, None
            line = piece.end()
        elif not piece["space"]:
            start = line if start is None else start
            depth += bool(piece["open"]) - bool(piece["close"])
            if piece["equals"] and depth == 0 and equals is None:
                equals = piece.start()
    if start is not None:
        yield start, len(text), equals


def _path(statement: str) -> tuple[str, ...]:
    """The keys of a header, or of the left side of an assignment."""
    parsed: Any = tomllib.loads(statement)
    names: list[str] = []
    while parsed:
        if isinstance(parsed, list):
            parsed = parsed[0]
        else:
            name, parsed = next(iter(parsed.items()))
            names.append(name)
    return tuple(names)


def _value(value: Any) -> str:
    if isinstance(value, list) and len(value) > _MAX_ON_ONE_LINE:
        return "[\n" + "".join(f"  {_value(item)},\n" for item in value) + "]"
    # JSON is valid TOML here, except for one character that only TOML requires to be escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
