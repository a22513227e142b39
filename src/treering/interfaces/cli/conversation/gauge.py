"""How full the window is, as a bar."""

from typing import TYPE_CHECKING

from rich.text import Text

from treering.interfaces.cli.views import BAD, FAINT, GOOD, bar

if TYPE_CHECKING:
    from treering.conversation.views import ConversationStats

NEARLY = 0.75
"""Of what a request may take: as full as pruning leaves a window."""
_LONGEST = 60


def fullness(stats: "ConversationStats", width: int) -> list[Text]:
    """The window against the model's limit; the mark is where messages begin to leave."""
    rules, cells = stats.rules, max(10, min(_LONGEST, width - 2))
    shown = f"{bar(stats.tokens, rules.limit, cells):·<{cells}}"
    mark = min(cells, round(cells * rules.max_tokens / rules.limit))
    used = len(shown.rstrip("·"))
    colour = _colour(stats.tokens / rules.max_tokens)
    drawn = Text(f"{shown[:mark]}|{shown[mark:]}", FAINT, no_wrap=True)
    drawn.stylize(colour, 0, used + (used > mark))
    drawn.stylize("bold not dim", mark, mark + 1)
    share = f"{stats.percent:.0f} % of {rules.limit:,} tokens: {stats.tokens:,} in the window"
    told = Text.assemble((share, f"{colour}"), (f"; messages leave at | {rules.max_tokens:,}", FAINT), no_wrap=True)
    return [drawn, told]


def _colour(share: float) -> str:
    return f"not dim {GOOD if share < NEARLY else 'yellow' if share <= 1 else BAD}"
