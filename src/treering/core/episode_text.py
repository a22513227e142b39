"""An episode in a few lines: its task, its output and its first insights."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treering.core.episodes import Episode

MAX_INSIGHTS = 3
"""Insights that a summary quotes."""
_MAX_LINE = 400
"""Characters of a line that is read at a glance."""


def episode_summary(episode: Episode) -> str:
    """The task, the output if present, and the first insights, one line each."""
    ended = [f"in the end: {in_a_line(episode.outcome.output)}"] if episode.outcome.output.strip() else []
    insights = (f"- {in_a_line(each.text)}" for each in episode.reflection.insights[:MAX_INSIGHTS])
    return "\n".join((in_a_line(episode.task.input), *ended, *insights))


def in_a_line(text: str) -> str:
    """A text on one line, cut if it is too long to be read at a glance."""
    line = " ".join(text.split())
    return line if len(line) <= _MAX_LINE else f"{line[: _MAX_LINE - 1]}…"
