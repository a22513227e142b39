"""At the end of a task: what its episode taught, in words."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from treering.core.delimiters import one_line
from treering.core.episodes import OutcomeStatus
from treering.core.patterns import Application, Pattern, PatternStatus
from treering.core.scope import Scope
from treering.patterns.application_stage import applications_of, is_own, living_patterns
from treering.patterns.applications import episode_of, stored_at
from treering.patterns.audience import audiences
from treering.patterns.mining.limits import MINING_LIMITS
from treering.ports.store import Store, Transaction

_CAME_TO = {OutcomeStatus.SUCCESS: "worked", OutcomeStatus.PARTIAL: "worked in part", OutcomeStatus.FAILURE: "failed"}


@dataclass(frozen=True, slots=True)
class Learned:
    """What an episode taught: the applications it is, of which patterns; `counted` names those that are new."""

    episode: str
    applications: tuple[Application, ...]
    patterns: tuple[Pattern, ...]
    counted: frozenset[str]
    lines: tuple[str, ...]

    @property
    def candidates(self) -> tuple[Pattern, ...]:
        """Patterns that are still to be proven, and were seen here."""
        return tuple(each for each in self.patterns if each.status is PatternStatus.CANDIDATE)

    @property
    def text(self) -> str:
        return "\n".join(map(one_line, self.lines))


def learn_from_episode(scope: Scope, store: Store, now: datetime, id: str) -> Learned:
    """Keep what the episode says about patterns; told twice, it counts once."""
    told = list[tuple[Pattern, Application]]()
    with store.reading(scope, now) as tx:
        episode, stored = episode_of(tx, id), stored_at(tx, id)
    for audience in audiences(scope):
        with store.reading(audience.scope, now) as tx:
            patterns = living_patterns(tx, audience)
        if stored is not None and is_own(audience, episode):
            told += applications_of(episode, stored, patterns, MINING_LIMITS)
    with store.transaction(scope, now) as tx:
        counted = frozenset(each.pattern for _, each in told if tx.applications.add(each))
    with store.reading(scope, now) as tx:
        lines = tuple(_lines(tx, told, counted)) or ("no pattern was followed; what is new is mined at night",)
    return Learned(id, tuple(each for _, each in told), tuple(pattern for pattern, _ in told), counted, lines)


def _lines(tx: Transaction, told: list[tuple[Pattern, Application]], counted: frozenset[str]) -> Iterator[str]:
    for pattern, application in told:
        rows = [row for row in tx.applications.applied([pattern.id]) if row.evidence == pattern.evidence.generation]
        sessions = len({row.session for row in rows})
        new = "" if pattern.id in counted else " (counted before)"
        plural = "session" if sessions == 1 else "sessions"
        yield (
            f"{pattern.status.value} {pattern.name}: {_CAME_TO[application.outcome]}{new}; "
            f"{sum(row.successes for row in rows):,} of {sum(row.n for row in rows):,} in {sessions:,} {plural} so far"
        )
