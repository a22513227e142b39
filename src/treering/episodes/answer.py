"""Results of searches for episodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, overload

from treering.core.citations import episode_source
from treering.search.answer import ScorePart

if TYPE_CHECKING:
    from treering.core.episodes import Episode


@dataclass(frozen=True, slots=True)
class EpisodeHit:
    """One episode without the parts in the blob store; `episodes.get` returns all of it.

    `parts` add up to `score`; both are empty without a query. `stands_for` has the ids of found episodes that were
    consolidated into this one. `compared` is the part whose vector was nearest to the query (whole, task or outcome);
    empty if words were compared.
    """

    id: str
    text: str
    score: float
    source: str
    episode: Episode
    parts: tuple[ScorePart, ...] = ()
    stands_for: tuple[str, ...] = ()
    compared: str = ""


@dataclass(frozen=True, slots=True)
class EpisodeAnswer(Sequence[EpisodeHit]):
    """The results in order.

    `missing` has the search paths that were unavailable, with the reason; `unreadable` the ids that cannot be read;
    `embedder` the model whose vectors were compared.
    """

    query: str
    hits: tuple[EpisodeHit, ...]
    missing: Mapping[str, str] = field(default_factory=dict)
    unreadable: tuple[str, ...] = ()
    embedder: str = ""

    @overload
    def __getitem__(self, index: int) -> EpisodeHit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[EpisodeHit, ...]: ...
    def __getitem__(self, index: int | slice) -> EpisodeHit | tuple[EpisodeHit, ...]:
        return self.hits[index]

    def __iter__(self) -> Iterator[EpisodeHit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)


@dataclass(frozen=True, slots=True)
class FailureHit:
    """An episode with a failure, and how it recovered.

    `same` if the messages are equal without their variable parts; else `likeness` is the share of common words.
    `recovery` has the steps after the error if the episode did not end in failure, `solved_by` the ids of later
    episodes that did the same task with success.
    """

    id: str
    error: str
    same: bool
    likeness: float
    recovered: bool
    recovery: tuple[str, ...]
    insights: tuple[str, ...]
    solved_by: tuple[str, ...]
    source: str
    episode: Episode


@dataclass(frozen=True, slots=True)
class FailureAnswer(Sequence[FailureHit]):
    """Episodes with a failure: equal ones before similar ones, recovered ones before others, latest first.

    `unreadable` has those whose steps cannot be read.
    """

    error: str
    hits: tuple[FailureHit, ...]
    unreadable: tuple[str, ...] = ()

    @overload
    def __getitem__(self, index: int) -> FailureHit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[FailureHit, ...]: ...
    def __getitem__(self, index: int | slice) -> FailureHit | tuple[FailureHit, ...]:
        return self.hits[index]

    def __iter__(self) -> Iterator[FailureHit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)


@dataclass(frozen=True, slots=True)
class Trend:
    """Number of episodes of a group from `since` to `before`, and of successful ones."""

    since: datetime
    before: datetime
    group: str
    episodes: int
    successes: int

    @property
    def success_rate(self) -> float:
        return self.successes / self.episodes


def plain_hit(episode: Episode, stands_for: tuple[str, ...] = ()) -> EpisodeHit:
    """A result without a score."""
    return EpisodeHit(episode.id, episode.task.input, 0.0, episode_source(episode), episode, stands_for=stands_for)
