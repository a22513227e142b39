"""Holds new episodes against the patterns: what an episode followed or names becomes an application.

Only what was stored after a pattern took its present form counts: the episodes that it was found in, or narrowed by,
would prove it by itself.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from treering.core.episodes import Episode
from treering.core.patterns import Application, Pattern
from treering.core.queries import AuditFilter, PatternFilter, TimeRange
from treering.patterns.applications import STORED, applied_in, claimed, tells_of
from treering.patterns.audience import Audience
from treering.patterns.cleanup import LIVING
from treering.patterns.mining.conformance import Reading, followed, mined_of
from treering.patterns.mining.limits import MiningLimits
from treering.ports.store import Store, Transaction

# A transaction that was opened before others may be committed after them.
OVERLAP = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Stored:
    """When an episode came into the store, whenever it happened."""

    id: str
    at: datetime


def living_patterns(tx: Transaction, audience: Audience) -> tuple[Pattern, ...]:
    """Those of this audience that may still gather evidence."""
    found = tx.patterns.stream(PatternFilter(statuses=LIVING))
    return tuple(each for each in found if audience.owns(each.visibility))


def stored_since(tx: Transaction, since: datetime) -> list[Stored]:
    """Episodes that came in, in the order in which they did."""
    log = tx.audit.stream(AuditFilter(kinds=("episode",), actions=STORED, happened=TimeRange(since=since)))
    return sorted((Stored(each.subject, each.at) for each in log), key=lambda each: (each.at, each.id))


def applications_of(
    episode: Episode, stored: datetime, patterns: Iterable[Pattern], settings: MiningLimits
) -> Iterator[tuple[Pattern, Application]]:
    """What an episode says about patterns: about those that it names, and about mined ones that it followed."""
    if episode.consolidation is not None or episode.tainted or episode.deleted_at is not None:
        # Those that it stands for were counted themselves; what others planted proves nothing.
        return
    read = Reading.of(episode, settings)
    for pattern in patterns:
        if not tells_of(pattern, stored):
            continue
        done = followed(pattern, read, settings)
        if done is not None:
            yield pattern, applied_in(pattern, episode, **claimed(done))
        elif pattern.id in episode.reflection.patterns and mined_of(pattern) is None:
            yield pattern, applied_in(pattern, episode)


def record_stored(
    audience: Audience, store: Store, now: datetime, page: Sequence[Stored], settings: MiningLimits
) -> int:
    """Keep what these episodes say; how many applications are new is returned."""
    with store.reading(audience.scope, now) as tx:
        told = _told(tx, audience, page, living_patterns(tx, audience), settings)
    if not told:
        return 0
    with store.transaction(audience.scope, now) as tx:
        return sum(tx.applications.add(each) for each in told)


def _told(
    tx: Transaction,
    audience: Audience,
    page: Sequence[Stored],
    patterns: Sequence[Pattern],
    settings: MiningLimits,
) -> list[Application]:
    when: Mapping[str, datetime] = {each.id: each.at for each in page}
    found = (tx.episodes.get_complete(match.value.id) for match in tx.episodes.readable(when)) if patterns else ()
    own = (each for each in found if each is not None and is_own(audience, each))
    return [
        application
        for episode in own
        for _, application in applications_of(episode, when[episode.id], patterns, settings)
    ]


def is_own(audience: Audience, episode: Episode) -> bool:
    """Shared patterns by shared episodes; somebody's own by whatever he did."""
    return episode.owner == audience.scope.principal if audience.personal else audience.owns(episode.visibility)
