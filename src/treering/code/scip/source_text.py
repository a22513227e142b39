"""Source text addressed by SCIP positions."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

_TOKEN = re.compile(r"\w+ as \w+|\w+|#\w+|(['\"`]).*?\1")
_CLOSING = ")]}"
_LINE_END = re.compile(r"\r\n|\r|\n")


class TextRange(NamedTuple):
    """A range within one line, in characters, 0-based."""

    line: int
    start: int
    end: int


def _by_bytes(line: str, offset: int) -> int:
    return len(line.encode()[:offset].decode(errors="ignore"))


def _by_utf16(line: str, offset: int) -> int:
    return len(line.encode("utf-16-le")[: 2 * offset].decode("utf-16-le", errors="ignore"))


def _by_characters(_line: str, offset: int) -> int:
    return offset


PositionEncoding = Callable[[str, int], int]
UNSPECIFIED = 0
POSITION_ENCODINGS: dict[int, PositionEncoding] = {2: _by_utf16, 1: _by_bytes, 3: _by_characters}
"""Position encodings by their number in the index; the most likely first, for an index that declares none."""


class SourceText:
    """A file's text as lines."""

    def __init__(self, source: bytes) -> None:
        self.text = source.decode("utf-8", "replace")
        self.lines = _LINE_END.split(self.text)

    def place(self, span: Sequence[int], encoding: PositionEncoding) -> TextRange | None:
        """Convert a SCIP range; return None if the file has no such position."""
        if len(span) not in (3, 4) or min(span) < 0 or span[0] >= len(self.lines):
            return None
        line = self.lines[span[0]]
        end = span[-1] if len(span) == 3 or span[2] == span[0] else None
        start, stop = (span[1], end) if line.isascii() else (encoding(line, span[1]), end and encoding(line, end))
        stop = len(line) if stop is None else stop
        return TextRange(span[0], start, stop) if 0 <= start <= stop <= len(line) else None

    def at(self, place: TextRange) -> str:
        return self.lines[place.line][place.start : place.end]

    def is_word(self, place: TextRange) -> bool:
        """Whether the range is exactly one identifier or one quoted string."""
        line = self.lines[place.line]
        around = line[max(place.start - 1, 0) : place.end + 1]
        return any(found.group() == self.at(place) for found in _TOKEN.finditer(around)) and place.end > place.start

    def before(self, place: TextRange) -> str:
        return self.lines[place.line][: place.start]

    def after(self, place: TextRange) -> str:
        return self.lines[place.line][place.end :]

    def block_end(self, line: int) -> int:
        """Return the last line of the indented block that begins at a line."""
        begins, last = _indent(self.lines[line]), line
        for place in range(line + 1, len(self.lines)):
            text = self.lines[place]
            if not text.strip():
                continue
            if _indent(text) < begins or (_indent(text) == begins and text.lstrip()[0] not in _CLOSING):
                break
            last = place
        return last


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())
