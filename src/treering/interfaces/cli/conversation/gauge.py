"""The bar that shows how full the window is."""

from typing import TYPE_CHECKING

from rich.text import Text

from treering.interfaces.cli.views import BAD, FAINT, GOOD, bar

if TYPE_CHECKING:
    from treering.conversation.views import ConversationStats

NEARLY_FULL = 0.75
"""Share of the maximum request size; pruning leaves the window this full."""
_MAX_CELLS = 60


def usage_bar(stats: "ConversationStats", width: int) -> list[Text]:
    """The window against the model's limit; the mark shows where pruning begins."""
    rules, cells = stats.rules, max(10, min(_MAX_CELLS, width - 2))
    shown = f"{bar(stats.tokens, rules.limit, cells):·<{cells}}"
    mark = min(cells, round(cells * rules.max_tokens / rules.limit))
    used = len(shown.rstrip("·"))
    colour = _colour(stats.tokens / rules.max_tokens)
    drawn = Text(f"{shown[:mark]}|{shown[mark:]}", FAINT, no_wrap=True)
    drawn.stylize(colour, 0, used + (used > mark))
    drawn.stylize("bold not dim", mark, mark + 1)
    share = f"{stats.percent:.0f} % of {rules.limit:,} tokens: {stats.tokens:,} in the window"
    caption = Text.assemble((share, f"{colour}"), (f"; pruning begins at | {rules.max_tokens:,}", FAINT), no_wrap=True)
    return [drawn, caption]


def _colour(share: float) -> str:
    return f"not dim {GOOD if share < NEARLY_FULL else 'yellow' if share <= 1 else BAD}"
