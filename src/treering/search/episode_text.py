"""An episode in a few lines: its task, outcome and insights."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treering.core.episodes import Episode

MAX_INSIGHTS = 3
_MAX_CHARACTERS = 400


def episode_text(episode: Episode) -> str:
    """The task, the outcome if recorded, and the first insights, one line each."""
    outcome = [f"in the end: {excerpt_line(episode.outcome.output)}"] if episode.outcome.output.strip() else []
    insights = (f"- {excerpt_line(each.text)}" for each in episode.reflection.insights[:MAX_INSIGHTS])
    return "\n".join((excerpt_line(episode.task.input), *outcome, *insights))


def excerpt_line(text: str) -> str:
    """The text on one line, cut off with an ellipsis if it is long."""
    line = " ".join(text.split())
    return line if len(line) <= _MAX_CHARACTERS else f"{line[: _MAX_CHARACTERS - 1]}…"
