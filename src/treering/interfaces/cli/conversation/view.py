"""The terminal view of a conversation's window."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from treering.interfaces.cli.conversation.gauge import usage_bar
from treering.interfaces.cli.conversation.rows import INDENT, LineBlock, blocks, legend, message_count
from treering.interfaces.cli.views import FAINT, HEAD, ID, preview, when

if TYPE_CHECKING:
    from treering.conversation.views import ConversationStats, WindowExplanation
    from treering.conversation.window_context import RecalledMessage

ROWS = 30
"""Lines drawn by default."""
_MIN_LINES = 3
_REMOVALS_SHARE = 1 / 3
"""Share of the lines for earlier removals."""


@dataclass(frozen=True, slots=True)
class WindowView:
    """A conversation in the available width: in full (`whole`), or what fits in `height` or `ROWS` lines."""

    explanation: "WindowExplanation"
    whole: bool = False
    height: int | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self.lines(options.max_width):
            line.truncate(options.max_width, overflow="ellipsis")
            yield line

    def lines(self, width: int) -> list[Text]:
        """Lines no wider than `width`, unless it is too narrow for any message."""
        stats, lines = self.explanation.stats, self.explanation.lines
        head = [_heading(stats), *usage_bar(stats, width), *_numbers(stats), Text()]
        foot = [Text(line, FAINT, no_wrap=True) for line in (legend(lines, whole=self.whole),) if line]
        drawn = list(blocks(self.explanation, width, whole=self.whole))
        if not self.whole:
            room = ROWS if self.height is None else self.height - len(head) - len(foot)
            drawn = _chosen(drawn, max(_MIN_LINES, room), first=bool(lines) and lines[0].role.value == "system")
        return [*head, *(line for block in drawn for line in block.lines), *foot]


def render_matches(query: str, matching: Sequence["RecalledMessage"]) -> RenderableType:
    """Removed messages that match a query."""
    if not matching:
        return Text(f"no removed message matches {preview(query)!r}")
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(justify="right", style=FAINT, no_wrap=True)
    grid.add_column(overflow="fold")
    for place, each in enumerate(matching, start=1):
        source = ((f"{each.role.value}, {when(each.at)}", FAINT), "  ", (preview(each.id), ID))
        grid.add_row(str(place), Text.assemble(preview(each.text), "\n", *source))
    return grid


def _heading(stats: "ConversationStats") -> Text:
    """Id, model, strategy and kind of counts."""
    rules = stats.rules
    counts = "exact counts" if stats.exact else "estimated counts"
    failed = f", {stats.counts_estimated:,} of them estimated" if stats.exact and stats.counts_estimated else ""
    talk = f"  {preview(rules.model)}, {rules.strategy.replace('_', ' ')}, {counts}{failed}"
    return Text.assemble((preview(stats.id), HEAD), (talk, FAINT), no_wrap=True)


def _numbers(stats: "ConversationStats") -> Iterator[Text]:
    """Tokens by role, numbers of messages, and times."""
    by_role = {**stats.tokens_by_role, "markers": stats.marker_tokens}
    yield Text(", ".join(f"{name} {tokens:,}" for name, tokens in by_role.items() if tokens), no_wrap=True)
    inside = f"{message_count(stats.in_context)} in the window, {stats.removed:,} removed, {stats.left_out:,} left out"
    yield Text(f"{inside}; {stats.messages:,} in all, {stats.total_tokens:,} tokens", no_wrap=True)
    oldest = "the window is empty" if stats.oldest is None else f"oldest in the window {when(stats.oldest)}"
    last = "nothing was removed" if stats.last_removal is None else f"last removal {when(stats.last_removal)}"
    yield Text(f"{oldest}, {last}", no_wrap=True)


def _chosen(drawn: list[LineBlock], room: int, *, first: bool) -> list[LineBlock]:
    """The blocks that fit: the `first`, the last removals, then the latest. Gaps show how much is hidden."""
    if sum(map(len, drawn)) <= room:
        return drawn
    chosen_places = {0} if first else set[int]()
    chosen_places |= _last_that_fit(
        drawn, [place for place, block in enumerate(drawn) if block.removal], int(room * _REMOVALS_SHARE)
    )
    others = [place for place in range(len(drawn)) if place not in chosen_places]
    left = room - sum(len(drawn[place]) + 1 for place in chosen_places) - 1
    chosen_places |= {*_last_that_fit(drawn, others, left), *others[-1:]}
    chosen = list[LineBlock]()
    for shown, group in groupby(range(len(drawn)), key=chosen_places.__contains__):
        these = [drawn[place] for place in group]
        more = Text(f"{'':>{INDENT}}{len(these):,} more, --all shows them", FAINT, no_wrap=True)
        chosen += these if shown or sum(map(len, these)) == 1 else [LineBlock((more,))]
    return chosen


def _last_that_fit(drawn: Sequence[LineBlock], places: Sequence[int], room: int) -> set[int]:
    """The last of these places that fit."""
    backwards = places[::-1]
    taken = accumulate(len(drawn[place]) for place in backwards)
    return {place for place, lines in zip(backwards, taken, strict=True) if lines <= room}
