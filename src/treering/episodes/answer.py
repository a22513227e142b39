"""What a search for episodes gives back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, overload

from treering.search.answer import ScorePart
from treering.search.citations import episode_source

if TYPE_CHECKING:
    from treering.core.episodes import Episode


@dataclass(frozen=True, slots=True)
class EpisodeHit:
    """One episode, as far as it is at hand; `episodes.get` has all of it.

    `parts` add up to `score`; both are empty where nothing was compared with a query. `stands_for` names episodes that
    were found and that this one was made of. `compared` is the part whose vector was nearest to the query (whole, task
    or outcome); empty where words were compared.
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
    """The results, in the order that was asked for.

    `missing` says which ways of finding were not available and why, `unreadable` what was found but cannot be shown,
    `embedder` whose vectors were compared.
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
    """An episode that met a failure, and how it got out.

    `same` where the failure is the very one, told from others by what does not vary in its message; else `likeness`
    says how many words the messages share. `recovery` is what followed the error where the episode did not end in
    failure, `solved_by` names later episodes that did the same task with success.
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
    """Episodes that met a failure: the same before the alike, those that got out before the others, the latest first.

    `unreadable` names those whose steps cannot be read.
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
    """How many episodes of a group there were from `since` to `before`, and how many of them succeeded."""

    since: datetime
    before: datetime
    group: str
    episodes: int
    successes: int

    @property
    def success_rate(self) -> float:
        return self.successes / self.episodes


def plain_hit(episode: Episode, stands_for: tuple[str, ...] = ()) -> EpisodeHit:
    """A result that was not compared with a query."""
    return EpisodeHit(episode.id, episode.task.input, 0.0, episode_source(episode), episode, stands_for=stands_for)
