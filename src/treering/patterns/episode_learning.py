"""Learning from one episode: records the patterns it applied, and describes them in words."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from treering.core.delimiters import one_line
from treering.core.episodes import OutcomeStatus
from treering.core.patterns import Application, Pattern, PatternStatus
from treering.core.scope import Scope
from treering.core.settings import Settings
from treering.patterns.application_stage import active_patterns, applications_of, is_evidence_for
from treering.patterns.applications import episode_of, stored_at
from treering.patterns.audience import audiences
from treering.ports.store import Store, Transaction

_OUTCOME_WORDS = {
    OutcomeStatus.SUCCESS: "worked",
    OutcomeStatus.PARTIAL: "worked in part",
    OutcomeStatus.FAILURE: "failed",
}


@dataclass(frozen=True, slots=True)
class EpisodeLearning:
    """The patterns applied in an episode; `counted` has the ids of patterns whose application is new."""

    episode: str
    applications: tuple[Application, ...]
    patterns: tuple[Pattern, ...]
    counted: frozenset[str]
    lines: tuple[str, ...]

    @property
    def candidates(self) -> tuple[Pattern, ...]:
        """Applied patterns that are not validated yet."""
        return tuple(each for each in self.patterns if each.status is PatternStatus.CANDIDATE)

    @property
    def text(self) -> str:
        return "\n".join(map(one_line, self.lines))


def learn_from_episode(scope: Scope, store: Store, now: datetime, id: str, settings: Settings) -> EpisodeLearning:
    """Store the applications of patterns in the episode; calling it again changes nothing."""
    found = list[tuple[Pattern, Application]]()
    with store.reading(scope, now) as tx:
        episode, stored = episode_of(tx, id), stored_at(tx, id)
    for audience in audiences(scope):
        with store.reading(audience.scope, now) as tx:
            patterns = active_patterns(tx, audience)
        if stored is not None and is_evidence_for(audience, episode):
            found += applications_of(episode, stored, patterns, settings.mining)
    with store.transaction(scope, now) as tx:
        counted = frozenset(each.pattern for _, each in found if tx.applications.add(each))
    with store.reading(scope, now) as tx:
        lines = tuple(_lines(tx, found, counted)) or ("no pattern was followed; new patterns are mined by maintenance",)
    return EpisodeLearning(id, tuple(each for _, each in found), tuple(pattern for pattern, _ in found), counted, lines)


def _lines(tx: Transaction, found: list[tuple[Pattern, Application]], counted: frozenset[str]) -> Iterator[str]:
    for pattern, application in found:
        rows = [row for row in tx.applications.applied([pattern.id]) if row.evidence == pattern.evidence.generation]
        sessions = len({row.session for row in rows})
        new = "" if pattern.id in counted else " (counted before)"
        plural = "session" if sessions == 1 else "sessions"
        yield (
            f"{pattern.status.value} {pattern.name}: {_OUTCOME_WORDS[application.outcome]}{new}; "
            f"{sum(row.successes for row in rows):,} of {sum(row.n for row in rows):,} in {sessions:,} {plural} so far"
        )
