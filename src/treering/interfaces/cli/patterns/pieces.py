"""What the pictures of patterns are made of: rows that fit the terminal, counts, episodes by name."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from treering.interfaces.cli import show

_ENDLESS = 10_000
"""Columns of a terminal on which everything fits."""


@dataclass(frozen=True, slots=True)
class Fitting:
    """Drawn wide where no word of it is cut, otherwise narrow: an id that is broken cannot be copied."""

    wide: RenderableType
    narrow: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        needed = Measurement.get(console, options.update(width=_ENDLESS), self.wide).minimum
        yield self.wide if needed <= options.max_width else self.narrow


def rows(rows: Iterable[Sequence[RenderableType]], *, right: bool = False) -> RenderableType:
    """Beside each other in columns of which the last folds; on a narrow terminal under each other.

    All cells but the last are short texts; `right` aligns the first.
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
    return Fitting(grid, Group(*(part for row in known for part in _under_each_other(row))))


def indented(*lines: RenderableType) -> RenderableType:
    return Padding(Group(*lines), (0, 0, 0, 2))


def counted(count: int, noun: str) -> str:
    """`1 session`, `2,000 sessions`."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def episodes(count: int, ids: Sequence[str], most: int) -> Text:
    """The first few by their ids, and how many there are besides."""
    named = Text(", ").join(Text(show.safe(id), show.ID) for id in ids[:most])
    more = count - min(most, len(ids))
    return Text.assemble(named, f" and {more:,} more") if more > 0 else named


def _text(cell: RenderableType) -> Text:
    return cell if isinstance(cell, Text) else Text(str(cell))


def _under_each_other(row: Sequence[RenderableType]) -> Iterable[RenderableType]:
    *short, last = row
    head = Text("  ").join(cell for cell in short if isinstance(cell, Text) and cell.plain)
    return [head, indented(last)] if head.plain else [indented(last)]
