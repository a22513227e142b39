"""An episode in a few lines: what was to be done, what came of it, what it taught."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treering.core.episodes import Episode

LESSONS = 3
"""Of what an episode taught, so much tells what it is about."""
_LINE = 400


def told(episode: Episode) -> str:
    """The task, how it ended where somebody said so, and the first lessons, each in a line."""
    ended = [f"in the end: {in_a_line(episode.outcome.output)}"] if episode.outcome.output.strip() else []
    lessons = (f"- {in_a_line(each.text)}" for each in episode.reflection.insights[:LESSONS])
    return "\n".join((in_a_line(episode.task.input), *ended, *lessons))


def in_a_line(text: str) -> str:
    """The beginning of a text, where it is longer than what is read at a glance."""
    line = " ".join(text.split())
    return line if len(line) <= _LINE else f"{line[: _LINE - 1]}…"
