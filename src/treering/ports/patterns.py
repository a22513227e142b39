"""What Treering needs from a transaction for patterns: their records, their applications, and both counted."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from treering.core.patterns import Application, Pattern
from treering.core.queries import ApplicationFilter, PatternFilter
from treering.core.values import EMPTY
from treering.ports.collections import Detail, Log, SearchableLearned


@dataclass(frozen=True, slots=True)
class Applied:
    """What came of a pattern in one session with tasks of one type."""

    pattern: str
    evidence: int
    session: str
    """Different for each session; what belongs to none is told apart by its episode, or has its own."""
    task_type: str | None
    last_at: datetime
    successes: int
    partial: int
    n: int


class UsedEpisode(NamedTuple):
    """An episode in which a pattern was applied, and the session of its task type that it belongs to.

    Millions are read at once: a tuple is made in half the time of a value.
    """

    pattern: str
    episode: str
    task_type: str | None
    session: str
    succeeded: bool
    session_successes: int
    """Of all episodes of this type in the session."""
    session_n: int


@dataclass(frozen=True, slots=True)
class Used:
    times: int
    last_at: datetime


@dataclass(frozen=True, slots=True)
class Lately:
    """What the newest applications of a pattern came to: episodes for it and against it, and what it saved."""

    supporting: tuple[str, ...] = ()
    counter: tuple[str, ...] = ()
    mean_time_saved_ms: float | None = None
    mean_cost_saved: float | None = None


STAMP_ROOM = 1_000_000_007
"""Moments are summed up modulo this prime: whole they would outgrow a 64-bit number."""

PatternMark = tuple[int, int]
"""Version and moment of the last change of one pattern."""


@dataclass(frozen=True, slots=True)
class PatternStamp:
    """Differs wherever a pattern came, changed or went."""

    count: int = 0
    versions: int = 0
    moments: int = 0
    """Of their last changes, summed up: one pattern that took the place of another."""
    newest: int | None = None


class Patterns(SearchableLearned[Pattern, PatternFilter], Protocol):
    def stamp(self) -> PatternStamp:
        """Of those that are not deleted; reads an index alone."""
        ...

    def marks(self) -> Mapping[str, PatternMark]:
        """The same of each: which of them changed is seen without reading them."""
        ...

    def note(self, value: Pattern) -> Pattern:
        """Store what was counted of it over the version it was read at; a stale version is a `Conflict`.

        Nobody decided anything: there is nothing to undo, and the version stays.
        """
        ...

    def purge(self, id: str, detail: Detail = EMPTY) -> None:
        """Remove it with its applications, whoever told of them."""
        ...


class Applications(Log[Application, ApplicationFilter], Protocol):
    def add(self, application: Application) -> bool:
        """Store it; False where the same was told before."""
        ...

    def applied(self, patterns: Sequence[str] | None = None, *, since: datetime | None = None) -> Iterator[Applied]:
        """Of these patterns, or of all, counted by session: those of one pattern together, a session of it, too.

        What happened at `since` or before is left out, also where its session went on.
        """
        ...

    def used(self, patterns: Sequence[str] | None = None) -> Mapping[str, Used]: ...

    def lately(self, parts: Iterable[tuple[str, int]], limit: int) -> Lately:
        """What the newest of one generation of evidence came to."""
        ...

    def used_episodes(self, patterns: Sequence[str] | None = None) -> Iterator[UsedEpisode]:
        """Episodes in which these patterns, or all, were applied, whatever the generation; those of one together.

        Only what `outcomes_by_session` counts: what is deleted or stands for several is not among them.
        """
        ...

    def outcomes_by_session(self) -> Mapping[str | None, tuple[float, int]]:
        """Of all episodes by task type: the shares that succeeded, added up over sessions, and how many these are."""
        ...
