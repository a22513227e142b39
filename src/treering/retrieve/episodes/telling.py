"""An episode in a few lines: what was to be done, what came of it, what it taught."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from treering.retrieve.answer import Answer, Hit

if TYPE_CHECKING:
    from treering.core.episodes import Episode
    from treering.retrieve.episodes.answer import EpisodeAnswer, EpisodeHit

LESSONS = 3
"""Of what an episode taught, so much tells what it is about."""
_LINE = 400


def told(episode: Episode) -> str:
    """The task, how it ended where somebody said so, and the first lessons, each in a line."""
    ended = [f"in the end: {in_a_line(episode.outcome.output)}"] if episode.outcome.output.strip() else []
    lessons = (f"- {in_a_line(each)}" for each in episode.reflection.insights[:LESSONS])
    return "\n".join((in_a_line(episode.task.input), *ended, *lessons))


def among(found: Answer, episodes: EpisodeAnswer, limit: int) -> Answer:
    """What recall found with the episodes that fit as well, the best of both first."""
    best = sorted((*found, *map(_hit, episodes)), key=lambda hit: -hit.score)
    return replace(found, hits=tuple(best[:limit]), unreadable=(*found.unreadable, *episodes.unreadable))


def _hit(each: EpisodeHit) -> Hit:
    return Hit(each.id, "episode", told(each.episode), each.score, each.source, each.episode)


def in_a_line(text: str) -> str:
    """The beginning of a text, where it is longer than what is read at a glance."""
    line = " ".join(text.split())
    return line if len(line) <= _LINE else f"{line[: _LINE - 1]}…"
