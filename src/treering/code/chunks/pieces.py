"""A file in pieces: definitions if they fit, else their members, and lines where nothing is defined."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treering.code.chunks.outline import Span
from treering.code.chunks.sizes import LineSizes, bytes_of

if TYPE_CHECKING:
    from treering.core.settings import ChunkSettings


@dataclass(frozen=True, slots=True)
class Piece:
    """Lines from `start` to before `end`, counted from 0; or a part of one line that alone is too long."""

    symbol: str
    start: int
    end: int
    text: str
    is_part: bool = False


class Splitter:
    """Splits one file."""

    def __init__(self, lines: Sequence[str], max_bytes: int, settings: ChunkSettings) -> None:
        self._lines = lines
        self._max_bytes = max_bytes
        self._settings = settings
        self._sizes = LineSizes(lines)

    def pieces(self, whole: Span) -> Iterator[Piece]:
        """All lines in order, none twice."""
        waiting = [whole]
        while waiting:
            span = waiting.pop()
            if span.symbol and self.fits(span.start, span.end):
                yield self._piece(span.symbol, span.start, span.end)
            elif span.children:
                waiting.extend(reversed(self._parts(span)))
            else:
                yield from self._by_lines(span)

    def fits(self, start: int, end: int) -> bool:
        return self._sizes.of(start, end) <= self._max_bytes

    def _parts(self, span: Span) -> list[Span]:
        """The children and the lines between them; blank lines stay with what they follow."""
        parts, place = list[Span](), span.start
        following = [*(child.start for child in span.children[1:]), span.end]
        for child, limit in zip(span.children, following, strict=True):
            if child.start > place:
                parts.append(Span(span.symbol, place, child.start, place))
            end = self._past_blank(child.end, limit)
            parts.append(Span(child.symbol, child.start, end, child.body, child.children))
            place = end
        if place < span.end:
            parts.append(Span(span.symbol, place, span.end, place))
        return parts

    def _past_blank(self, line: int, end: int) -> int:
        while line < end and not self._lines[line].strip():
            line += 1
        return line

    def _by_lines(self, span: Span) -> Iterator[Piece]:
        """Split at blank lines near the usual length, or earlier if the lines are long."""
        start = span.start
        while start < span.end:
            end = self._good_end(start, span.end)
            if end == start + 1 and not self.fits(start, end):
                yield from self._by_characters(span.symbol, start)
            else:
                yield self._piece(span.symbol, start, end)
            start = end

    def _good_end(self, start: int, last: int) -> int:
        """End of a run of lines that fits: after a nearby blank line, if there is one."""
        usual, slack = self._settings.prose_lines, self._settings.prose_slack
        farthest = min(last, start + usual + slack)
        if farthest == last and self.fits(start, last):
            return last
        end = max(start + 1, min(farthest, self._sizes.last_within(self._max_bytes, start)))
        wished = min(start + usual, end)
        near = range(max(start + 1, wished - slack), end + 1)
        blank = [place for place in near if not self._lines[place - 1].strip()]
        return min(blank, key=lambda place: (abs(place - wished), place)) if blank else wished

    def _by_characters(self, symbol: str, line: int) -> Iterator[Piece]:
        waiting = [self._lines[line]]
        while waiting:
            text = waiting.pop()
            if len(text) <= 1 or bytes_of(text) <= self._max_bytes:
                yield Piece(symbol, line, line + 1, text, is_part=True)
            else:
                waiting += [text[len(text) // 2 :], text[: len(text) // 2]]

    def _piece(self, symbol: str, start: int, end: int) -> Piece:
        return Piece(symbol, start, end, "".join(self._lines[start:end]))
