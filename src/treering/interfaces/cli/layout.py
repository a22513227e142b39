"""Layouts that adapt to the width of the terminal without breaking ids."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from textwrap import wrap

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

_UNLIMITED_WIDTH = 10_000
_GAP = 2
"""Columns between two cells."""


@dataclass(frozen=True, slots=True)
class WideOrNarrow:
    """The wide form if no word of it would be cut, else the narrow one: a broken id cannot be copied."""

    wide: RenderableType
    narrow: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        needed = Measurement.get(console, options.update(width=_UNLIMITED_WIDTH), self.wide).minimum
        yield self.wide if needed <= options.max_width else self.narrow


def rows(rows: Iterable[Sequence[RenderableType]], *, right: bool = False) -> RenderableType:
    """A table whose last column wraps; on a narrow terminal the cells are stacked.

    All cells but the last are short texts; `right` aligns the first column to the right.
    """
    known = [(*(_text(cell) for cell in short), last) for *short, last in rows]
    if not known:
        return Group()
    grid = Table.grid(padding=(0, 2, 0, 0))
    for place, cells in enumerate(zip(*(row[:-1] for row in known), strict=True)):
        widest = max(cell.cell_len for cell in cells)
        grid.add_column(justify="right" if right and place == 0 else "left", no_wrap=True, min_width=widest)
    grid.add_column(overflow="fold")
    for row in known:
        grid.add_row(*row)
    return WideOrNarrow(grid, Group(*(part for row in known for part in _stacked(row))))


@dataclass(frozen=True, slots=True)
class ListLine:
    """A line of a listing: short cells, an id, and a note."""

    short: tuple[Text, ...]
    id: Text
    note: Text = field(default_factory=Text)


@dataclass(frozen=True, slots=True)
class Listing:
    """Lines in columns; if one does not fit, notes go below the ids. Ids are never broken."""

    lines: Sequence[ListLine]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if not self.lines:
            return
        columns = zip(*(line.short for line in self.lines), strict=True)
        short = [max(cell.cell_len for cell in cells) for cells in columns]
        room = options.max_width - sum(width + _GAP for width in short)
        widest = max(line.id.cell_len for line in self.lines)
        beside = all(widest + _GAP + line.note.cell_len <= room for line in self.lines if line.note.plain)
        for line in self.lines:
            before = [_padded(cell, width + _GAP) for cell, width in zip(line.short, short, strict=True)]
            noted = beside and line.note.plain
            yield unbroken(*before, *([_padded(line.id, widest + _GAP), line.note] if noted else [line.id]))
            if line.note.plain and not beside:
                yield Hanging(line.note, sum(width + _GAP for width in short) + _GAP)


@dataclass(frozen=True, slots=True)
class Hanging:
    """An indented text that wraps between words."""

    text: Text
    indent: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        indent = min(self.indent, options.max_width // 3)
        for line in self.text.plain.splitlines():
            for part in wrap(line, options.max_width - indent, break_long_words=False, break_on_hyphens=False):
                yield unbroken(" " * indent, Text(part, self.text.style))


def unbroken(*parts: Text | str) -> Text:
    """A line that never wraps, however narrow the terminal is."""
    return Text.assemble(*parts, no_wrap=True, overflow="ignore")


def _padded(cell: Text, width: int) -> Text:
    padded = cell.copy()
    padded.pad_right(width - cell.cell_len)
    return padded


def indented(*lines: RenderableType) -> RenderableType:
    return Padding(Group(*lines), (0, 0, 0, 2))


def counted(count: int, noun: str) -> str:
    """`1 session`, `2,000 sessions`."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def _text(cell: RenderableType) -> Text:
    return cell if isinstance(cell, Text) else Text(str(cell))


def _stacked(row: Sequence[RenderableType]) -> Iterable[RenderableType]:
    *short, last = row
    head = Text("  ").join(cell for cell in short if isinstance(cell, Text) and cell.plain)
    return [head, indented(last)] if head.plain else [indented(last)]
