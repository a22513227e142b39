"""What Treering needs from a transaction for patterns: their records, their applications, and both counted."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

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


@dataclass(frozen=True, slots=True)
class PatternStamp:
    """Differs wherever a pattern came, changed or went."""

    count: int = 0
    versions: int = 0
    moments: int = 0
    """Of their last changes, summed up: one pattern that took the place of another."""
    newest: datetime | None = None


class Patterns(SearchableLearned[Pattern, PatternFilter], Protocol):
    def stamp(self) -> PatternStamp:
        """Of those that are not deleted; reads an index alone."""
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

    def applied(self, patterns: Sequence[str] | None = None) -> Iterator[Applied]:
        """Of these patterns, or of all, counted by session: those of one pattern together, a session of it, too."""
        ...

    def used(self, patterns: Sequence[str] | None = None) -> Mapping[str, Used]: ...

    def lately(self, pattern: str, evidence: int, limit: int) -> Lately:
        """What the newest of one generation of evidence came to."""
        ...

    def outcomes_by_session(self) -> Mapping[str | None, tuple[float, int]]:
        """Of all episodes by task type: the shares that succeeded, added up over sessions, and how many these are."""
        ...
