"""Records applications: patterns that new episodes followed or name.

Only episodes stored after a pattern took its present form count: those it was mined from or narrowed by are no
independent evidence.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from treering.core.episodes import Episode
from treering.core.patterns import Application, Pattern
from treering.core.queries import AuditFilter, PatternFilter, TimeRange
from treering.core.settings.mining import MiningSettings
from treering.patterns.applications import STORE_ACTIONS, application_in, claimed_outcome, counts_as_evidence
from treering.patterns.audience import Audience
from treering.patterns.cleanup import ACTIVE
from treering.patterns.mining.conformance import EpisodeReading, match_episode, mined_of
from treering.ports.store import Store, Transaction

# A transaction may be committed after others that were opened later.
OVERLAP = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class StoredEpisode:
    """An episode and when it was stored, which may be long after it happened."""

    id: str
    at: datetime


def active_patterns(tx: Transaction, audience: Audience) -> tuple[Pattern, ...]:
    """Patterns of this audience that are not deprecated."""
    found = tx.patterns.stream(PatternFilter(statuses=ACTIVE))
    return tuple(each for each in found if audience.owns(each.visibility))


def episodes_stored_since(tx: Transaction, since: datetime) -> list[StoredEpisode]:
    """Episodes stored since then, oldest first."""
    log = tx.audit.stream(AuditFilter(kinds=("episode",), actions=STORE_ACTIONS, happened=TimeRange(since=since)))
    return sorted((StoredEpisode(each.subject, each.at) for each in log), key=lambda each: (each.at, each.id))


def applications_of(
    episode: Episode, stored: datetime, patterns: Iterable[Pattern], settings: MiningSettings
) -> Iterator[tuple[Pattern, Application]]:
    """Applications of the patterns that an episode names, and of the mined patterns that it followed."""
    if episode.consolidation is not None or episode.tainted or episode.deleted_at is not None:
        # The members of a consolidated episode were counted themselves; tainted episodes prove nothing.
        return
    read = EpisodeReading.of(episode, settings)
    for pattern in patterns:
        if not counts_as_evidence(pattern, stored):
            continue
        done = match_episode(pattern, read, settings)
        if done is not None:
            yield pattern, application_in(pattern, episode, **claimed_outcome(done))
        elif pattern.id in episode.reflection.patterns and mined_of(pattern) is None:
            yield pattern, application_in(pattern, episode)


def record_applications(
    audience: Audience, store: Store, now: datetime, page: Sequence[StoredEpisode], settings: MiningSettings
) -> int:
    """Store the applications in these episodes; returns the number of new ones."""
    with store.reading(audience.scope, now) as tx:
        found = _applications_in(tx, audience, page, active_patterns(tx, audience), settings)
    if not found:
        return 0
    with store.transaction(audience.scope, now) as tx:
        return sum(tx.applications.add(each) for each in found)


def _applications_in(
    tx: Transaction,
    audience: Audience,
    page: Sequence[StoredEpisode],
    patterns: Sequence[Pattern],
    settings: MiningSettings,
) -> list[Application]:
    stored_at: Mapping[str, datetime] = {each.id: each.at for each in page}
    found = (tx.episodes.get_complete(match.value.id) for match in tx.episodes.readable(stored_at)) if patterns else ()
    own = (each for each in found if each is not None and is_evidence_for(audience, each))
    return [
        application
        for episode in own
        for _, application in applications_of(episode, stored_at[episode.id], patterns, settings)
    ]


def is_evidence_for(audience: Audience, episode: Episode) -> bool:
    """Shared patterns are judged by shared episodes, personal ones by all episodes of their owner."""
    return episode.owner == audience.scope.principal if audience.personal else audience.owns(episode.visibility)
