"""TOML, edited as text: tomllib says what a file means, this where in it that is said."""

import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from treering.interfaces.client_configs.formats import BOM, Entry, NotUnderstood, Place

_PIECE = re.compile(
    r'''(?P<break>\r?\n) | (?P<space>[ \t\ufeff]+ | \#[^\r\n]*)
    | """(?:[^\\]|\\.)*?"{3,5} | \'\'\'.*?\'{3,5} | "(?:[^"\\\r\n]|\\.)*" | '[^'\r\n]*'
    | (?P<open>[\[{]) | (?P<close>[\]}]) | (?P<equals>=) | .''',
    re.VERBOSE | re.DOTALL,
)
_ON_ONE_LINE = 5
"""Values of an array that are read at a glance."""


@dataclass(frozen=True, slots=True)
class _Statement:
    """A header or an assignment, with the lines that it takes."""

    start: int
    end: int
    path: tuple[str, ...]
    is_header: bool


def content(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix(BOM), parse_float=str)
    except (ValueError, RecursionError) as exc:
        raise NotUnderstood(f"is not TOML ({exc})") from exc


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
    # Lines without a header of their own belong to the table of servers, or to the top where there is no such header.
    table = next((each for each in _statements(rest) if each.is_header and each.path == place[:1]), None)
    at = table.end if table else len(rest) - len(rest.removeprefix(BOM))
    return rest[:at] + block + rest[at:]


def take(text: str, place: Place) -> str:
    found = _under(text, place)
    if not found or not found[0].is_header:
        return _cut(text, found)
    # The empty line that sets the table off goes with it.
    blank = re.search(r"(?<=\n)\r?\n\Z", text[: found[0].start])
    start = blank.start() if blank else found[0].start
    return text[:start] + _cut(text[found[0].start :], found, found[0].start)


def part(text: str, path: tuple[str, ...]) -> str:
    return "".join(text[statement.start : statement.end] for statement in _under(text, path))


def _under(text: str, path: tuple[str, ...]) -> list[_Statement]:
    return [statement for statement in _statements(text) if statement.path[: len(path)] == path]


def _cut(text: str, statements: list[_Statement], offset: int = 0) -> str:
    for statement in reversed(statements):
        text = text[: statement.start - offset] + text[statement.end - offset :]
    return text


def _statements(text: str) -> Iterator[_Statement]:
    """Everything that a file says, in its order."""
    table: tuple[str, ...] = ()
    for start, end, equals in _spans(text):
        if equals is None:
            table = _path(text[start:end])
            yield _Statement(start, end, table, True)
        else:
            yield _Statement(start, end, table + _path(f"{text[start:equals]} = 0"), False)


def _spans(text: str) -> Iterator[tuple[int, int, int | None]]:
    """Where each statement starts (on its first line), ends (behind its last), and has its equals sign."""
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
    """The names that a header, or the left side of an assignment, goes through."""
    said: Any = tomllib.loads(statement)
    names: list[str] = []
    while said:
        if isinstance(said, list):
            said = said[0]
        else:
            name, said = next(iter(said.items()))
            names.append(name)
    return tuple(names)


def _value(value: Any) -> str:
    if isinstance(value, list) and len(value) > _ON_ONE_LINE:
        return "[\n" + "".join(f"  {_value(item)},\n" for item in value) + "]"
    # JSON is TOML here, but for one character that only TOML wants escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
