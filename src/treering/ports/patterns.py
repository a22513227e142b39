"""Patterns inside a transaction: their records, their applications, and statistics of both."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from treering.core.patterns import Application, Pattern
from treering.core.queries import ApplicationFilter, PatternFilter
from treering.core.values import EMPTY
from treering.ports.collections import Detail, Log, SearchableRevisable


@dataclass(frozen=True, slots=True)
class SessionOutcomes:
    """Outcomes of a pattern's applications in one session, for one task type."""

    pattern: str
    evidence: int
    session: str
    """Unique to each session; an application without a session is grouped by its episode, or is a group of its own."""
    task_type: str | None
    last_at: datetime
    successes: int
    partial: int
    n: int


class UsedEpisode(NamedTuple):
    """An episode in which a pattern was applied, with the outcomes of its session for its task type.

    A NamedTuple because millions are read at a time: it takes half the time of a dataclass to create.
    """

    pattern: str
    episode: str
    task_type: str | None
    session: str
    succeeded: bool
    session_successes: int
    """Among all episodes of this type in the session."""
    session_n: int


@dataclass(frozen=True, slots=True)
class PatternUse:
    times: int
    last_at: datetime


@dataclass(frozen=True, slots=True)
class RecentApplications:
    """Results of a pattern's newest applications: supporting and opposing episodes, and mean savings."""

    supporting: tuple[str, ...] = ()
    counter: tuple[str, ...] = ()
    mean_time_saved_ms: float | None = None
    mean_cost_saved: float | None = None


STAMP_ROOM = 1_000_000_007
"""Modulus of the sum of timestamps, which would otherwise overflow 64 bits; a prime."""

PatternMark = tuple[int, int]
"""Version and timestamp of the last change of one pattern."""


@dataclass(frozen=True, slots=True)
class PatternStamp:
    """Differs after any pattern was added, changed or removed."""

    count: int = 0
    versions: int = 0
    moments: int = 0
    """Sum of the timestamps of the last changes; detects that one pattern replaced another."""
    newest: int | None = None


class PatternCollection(SearchableRevisable[Pattern, PatternFilter], Protocol):
    def stamp(self) -> PatternStamp:
        """Stamp of the patterns that are not deleted; reads only an index."""
        ...

    def marks(self) -> Mapping[str, PatternMark]:
        """Mark of each pattern, which shows the changed ones without reading them."""
        ...

    def note(self, value: Pattern) -> Pattern:
        """Store counted values over the version that was read; `Conflict` if it is stale.

        This is not a user's change: the version stays, and there is nothing to undo.
        """
        ...

    def purge(self, id: str, detail: Detail = EMPTY) -> None:
        """Purge the pattern with all of its applications, by every reporter."""
        ...


class ApplicationCollection(Log[Application, ApplicationFilter], Protocol):
    def add(self, application: Application) -> bool:
        """Store it; False if the same application was reported before."""
        ...

    def applied(
        self, patterns: Sequence[str] | None = None, *, since: datetime | None = None
    ) -> Iterator[SessionOutcomes]:
        """Outcomes of these patterns (default: all), grouped by pattern and session.

        Applications at or before `since` are left out, even if their session continued.
        """
        ...

    def used(self, patterns: Sequence[str] | None = None) -> Mapping[str, PatternUse]: ...

    def lately(self, parts: Iterable[tuple[str, int]], limit: int) -> RecentApplications:
        """Results of the newest applications of one generation of evidence."""
        ...

    def used_episodes(self, patterns: Sequence[str] | None = None) -> Iterator[UsedEpisode]:
        """Episodes in which these patterns (default: all) were applied in any generation, grouped by pattern.

        Like `outcomes_by_session`, this omits deleted episodes and those that represent several.
        """
        ...

    def outcomes_by_session(self) -> Mapping[str | None, tuple[float, int]]:
        """By task type: the sum over sessions of the share of successful episodes, and the number of sessions."""
        ...
