"""Briefing for a session that begins or resumes, and the records that wait for review."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from treering.context.rules import applicable_rules
from treering.core.episodes import Episode
from treering.core.errors import InvalidInput
from treering.core.queries import EpisodeFilter, KnowledgeFilter
from treering.core.records import Knowledge
from treering.core.scope import Scope
from treering.observe.review import waiting_records
from treering.ports.store import Store, Transaction

_MAX_SESSION_RECORDS, _MAX_IN_PROGRESS, _MAX_RULES = 20, 3, 10
"""Small enough to read at once; a search finds the rest."""

_CURRENT = KnowledgeFilter(deprecated=False, flagged=False)
_TRUSTED = _CURRENT.replace(tainted=False)


@dataclass(frozen=True, slots=True)
class Briefing:
    """Records of the session, work in progress from earlier sessions, applicable rules and the latest episodes.

    Rules are never tainted. `records_left_out` counts further records of the session, `rules_left_out` further rules.
    """

    records: tuple[Knowledge, ...]
    in_progress: tuple[Knowledge, ...]
    rules: tuple[Knowledge, ...]
    episodes: tuple[Episode, ...]
    records_left_out: int = 0
    rules_left_out: int = 0


def briefing(
    scope: Scope, store: Store, now: datetime, session: str | None, episodes: int, *, tainted: bool = False
) -> Briefing:
    """Briefing without tainted records; with `tainted`, the session's records and the episodes include them."""
    if episodes < 0:
        raise InvalidInput(f"episodes is {episodes}; pass 0 or more")
    with store.reading(scope, now) as tx:
        visible = _CURRENT if tainted else _TRUSTED
        own = visible.replace(sessions=(session,)) if session is not None else None
        episode_filter = EpisodeFilter(tainted=None if tainted else False)
        records = () if own is None else _newest(tx, [own], _MAX_SESSION_RECORDS)
        work = _newest(tx, [_TRUSTED.replace(types=("work_state",))], _MAX_IN_PROGRESS)
        applicable = applicable_rules(tx)
        rules = applicable[:_MAX_RULES]
        return Briefing(
            records=records,
            in_progress=tuple(each for each in work if each not in records),
            rules=rules,
            episodes=tuple(match.value for match in tx.episodes.newest(episode_filter, limit=episodes))
            if episodes
            else (),
            rules_left_out=len(applicable) - len(rules),
            records_left_out=0
            if own is None or len(records) < _MAX_SESSION_RECORDS
            else _left_out(tx, own, (*records, *work, *rules)),
        )


def _left_out(tx: Transaction, own: KnowledgeFilter, shown: Iterable[Knowledge]) -> int:
    """Number of the session's records that are not among those shown."""
    return tx.knowledge.count(own) - tx.knowledge.count(own.replace(ids=tuple({each.id for each in shown})))


def to_review(scope: Scope, store: Store, now: datetime, limit: int) -> tuple[Knowledge, ...]:
    """Flagged, unconfirmed, tainted and stale records, in this order. Raises `InvalidInput` if `limit` is below 1."""
    if limit < 1:
        raise InvalidInput(f"limit is {limit}; pass at least 1")
    with store.reading(scope, now) as tx:
        return waiting_records(tx, limit)


def _newest(tx: Transaction, filters: Iterable[KnowledgeFilter], limit: int) -> tuple[Knowledge, ...]:
    """The newest records that pass the first filter, then those of the next ones, without duplicates."""
    found = {match.value.id: match.value for where in filters for match in tx.knowledge.newest(where, limit=limit)}
    return tuple(found.values())[:limit]
