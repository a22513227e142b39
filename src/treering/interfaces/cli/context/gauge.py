"""Bars: how much of something there is."""

from typing import TYPE_CHECKING

from rich.text import Text

from treering.interfaces.cli.show import BAD, FAINT, GOOD

if TYPE_CHECKING:
    from treering.session.conversation.views import ConversationStats

NEARLY = 0.75
"""Of what a request may take: as full as pruning leaves a window."""
_LONGEST = 60
_EIGHTHS = " ▏▎▍▌▋▊▉"


def filled(part: float, whole: float, cells: int) -> str:
    """Filled to an eighth of a character; what counts at all is seen."""
    eighths = min(cells * 8, max(1, round(part / whole * cells * 8))) if part > 0 and whole > 0 else 0
    full, rest = divmod(eighths, 8)
    return "█" * full + (_EIGHTHS[rest] if rest else "")


def fullness(stats: "ConversationStats", width: int) -> list[Text]:
    """The window against the model's limit; the mark is where messages begin to leave."""
    rules, cells = stats.rules, max(10, min(_LONGEST, width - 2))
    bar = f"{filled(stats.tokens, rules.limit, cells):·<{cells}}"
    mark = min(cells, round(cells * rules.max_tokens / rules.limit))
    used = len(bar.rstrip("·"))
    colour = _colour(stats.tokens / rules.max_tokens)
    drawn = Text(f"{bar[:mark]}|{bar[mark:]}", FAINT, no_wrap=True)
    drawn.stylize(colour, 0, used + (used > mark))
    drawn.stylize("bold not dim", mark, mark + 1)
    share = f"{stats.percent:.0f} % of {rules.limit:,} tokens: {stats.tokens:,} in the window"
    told = Text.assemble((share, f"{colour}"), (f"; messages leave at | {rules.max_tokens:,}", FAINT), no_wrap=True)
    return [drawn, told]


def _colour(share: float) -> str:
    return f"not dim {GOOD if share < NEARLY else 'yellow' if share <= 1 else BAD}"
