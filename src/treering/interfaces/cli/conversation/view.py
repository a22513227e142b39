"""Draws a conversation's window: how full it is, what is in it, what left and why."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from treering.interfaces.cli.conversation.gauge import fullness
from treering.interfaces.cli.conversation.rows import INDENT, Block, blocks, legend, messages
from treering.interfaces.cli.views import FAINT, HEAD, ID, preview, when

if TYPE_CHECKING:
    from treering.conversation.views import ConversationStats, WindowExplanation
    from treering.conversation.window_context import RecalledMessage

ROWS = 30
"""Lines of a conversation that are drawn where nobody asks for all of it."""
_FEWEST = 3
_FOR_REMOVALS = 1 / 3
"""Of those lines, what tells of removals that lie further back."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A conversation in the width at hand: the `whole` of it, or what fits `height` lines, else `ROWS`."""

    told: "WindowExplanation"
    whole: bool = False
    height: int | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self.lines(options.max_width):
            line.truncate(options.max_width, overflow="ellipsis")
            yield line

    def lines(self, width: int) -> list[Text]:
        """Each no wider than that, but in a terminal too narrow for any message."""
        stats, said = self.told.stats, self.told.lines
        head = [_heading(stats), *fullness(stats, width), *_numbers(stats), Text()]
        foot = [Text(told, FAINT, no_wrap=True) for told in (legend(said, whole=self.whole),) if told]
        drawn = list(blocks(self.told, width, whole=self.whole))
        if not self.whole:
            room = ROWS if self.height is None else self.height - len(head) - len(foot)
            drawn = _chosen(drawn, max(_FEWEST, room), first=bool(said) and said[0].role.value == "system")
        return [*head, *(line for block in drawn for line in block.lines), *foot]


def found(query: str, matching: Sequence["RecalledMessage"]) -> RenderableType:
    """What left the window and matches."""
    if not matching:
        return Text(f"nothing that left the window matches {preview(query)!r}")
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(justify="right", style=FAINT, no_wrap=True)
    grid.add_column(overflow="fold")
    for place, each in enumerate(matching, start=1):
        source = ((f"{each.role.value}, {when(each.at)}", FAINT), "  ", (preview(each.id), ID))
        grid.add_row(str(place), Text.assemble(preview(each.text), "\n", *source))
    return grid


def _heading(stats: "ConversationStats") -> Text:
    """Which conversation, held how."""
    rules = stats.rules
    counts = "exact counts" if stats.exact else "estimated counts"
    failed = f", {stats.counts_estimated:,} of them estimated" if stats.exact and stats.counts_estimated else ""
    held = f"  {preview(rules.model)}, {rules.strategy.replace('_', ' ')}, {counts}{failed}"
    return Text.assemble((preview(stats.id), HEAD), (held, FAINT), no_wrap=True)


def _numbers(stats: "ConversationStats") -> Iterator[Text]:
    """What takes the tokens, how many messages are in and out, and since when."""
    by_role = {**stats.tokens_by_role, "markers": stats.marker_tokens}
    yield Text(", ".join(f"{name} {tokens:,}" for name, tokens in by_role.items() if tokens), no_wrap=True)
    inside = f"{messages(stats.in_context)} in the window, {stats.removed:,} removed, {stats.left_out:,} left out"
    yield Text(f"{inside}; {stats.messages:,} in all, {stats.total_tokens:,} tokens", no_wrap=True)
    oldest = "the window is empty" if stats.oldest is None else f"oldest in the window {when(stats.oldest)}"
    last = "nothing was removed" if stats.last_removal is None else f"last removal {when(stats.last_removal)}"
    yield Text(f"{oldest}, {last}", no_wrap=True)


def _chosen(drawn: list[Block], room: int, *, first: bool) -> list[Block]:
    """What there is room for: the `first`, the last removals, then the latest. A gap says how much it hides."""
    if sum(map(len, drawn)) <= room:
        return drawn
    kept = {0} if first else set[int]()
    kept |= _that_fit(drawn, [place for place, block in enumerate(drawn) if block.removal], int(room * _FOR_REMOVALS))
    others = [place for place in range(len(drawn)) if place not in kept]
    left = room - sum(len(drawn[place]) + 1 for place in kept) - 1
    kept |= {*_that_fit(drawn, others, left), *others[-1:]}
    chosen = list[Block]()
    for shown, group in groupby(range(len(drawn)), key=kept.__contains__):
        these = [drawn[place] for place in group]
        more = Text(f"{'':>{INDENT}}{len(these):,} more, --all shows them", FAINT, no_wrap=True)
        chosen += these if shown or sum(map(len, these)) == 1 else [Block((more,))]
    return chosen


def _that_fit(drawn: Sequence[Block], places: Sequence[int], room: int) -> set[int]:
    """The last of these places, as many as there is room for."""
    backwards = places[::-1]
    taken = accumulate(len(drawn[place]) for place in backwards)
    return {place for place, lines in zip(backwards, taken, strict=True) if lines <= room}
