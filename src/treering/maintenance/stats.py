"""Counts of what a project holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from treering.core.jobs import JobState
from treering.core.payloads import knowledge_types
from treering.core.queries import JobFilter, KnowledgeFilter, Order, TurnFilter

if TYPE_CHECKING:
    from treering.core.scope import Scope
    from treering.ports.store import Store, Transaction


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of the records visible to a scope."""

    project: str
    engine: str
    location: str
    records: Mapping[str, int]
    knowledge: Mapping[str, int]
    states: Mapping[str, int]
    jobs: Mapping[str, int]
    latest: Mapping[str, datetime] = field(default_factory=dict)
    """Time of the newest record by kind: when it was stored or, for an episode, when it happened."""
    episode_cache: Mapping[str, float] = field(default_factory=dict)
    """Cache of whole episodes in this process: `hits`, `misses` and `hit_rate`."""
    code: Mapping[str, Any] = field(default_factory=dict)
    """Status of the code index, as in `memory.code.status()`; empty if nothing is indexed."""


_STATES = {
    "pinned": KnowledgeFilter(pinned=True),
    "confirmed": KnowledgeFilter(user_verified=True),
    "needs review": KnowledgeFilter(needs_review=True),
    "flagged": KnowledgeFilter(flagged=True),
    "superseded": KnowledgeFilter(deprecated=True),
    "tainted": KnowledgeFilter(tainted=True),
    "forgotten": KnowledgeFilter(deleted=True),
}


def stats(
    scope: Scope,
    store: Store,
    now: datetime,
    *,
    episode_cache: Mapping[str, float] | None = None,
    code: Mapping[str, Any] | None = None,
) -> Stats:
    """Counts from one consistent snapshot."""
    with store.reading(scope, now) as tx:
        by_type = tx.knowledge.count_by("type", (KnowledgeFilter(), *_STATES.values()))
        by_state = tx.jobs.count_by("state", (JobFilter(),))
        records = {
            "knowledge": sum(stored for stored, *_ in by_type.values()),
            "turns": tx.turns.count(TurnFilter()),
            "sessions": tx.sessions.count(),
            "episodes": tx.episodes.count(),
            "patterns": tx.patterns.count(),
            "applications": tx.applications.count(),
            "entities": tx.entities.count(),
            "observed_sessions": tx.observed_sessions.count(),
            "audit entries": tx.audit.count(),
        }
        latest = _latest(tx)
    return Stats(
        project=scope.project,
        engine=store.engine,
        location=store.location,
        records=records,
        knowledge={name: by_type[name][0] for name in knowledge_types() if name in by_type and by_type[name][0]},
        states={name: sum(counts[place] for counts in by_type.values()) for place, name in enumerate(_STATES, start=1)},
        jobs={state.value: sum(by_state.get(state.value, (0,))) for state in JobState},
        latest=latest,
        episode_cache=episode_cache or {},
        code=code or {},
    )


def _latest(tx: Transaction) -> dict[str, datetime]:
    turns = tx.turns.find(TurnFilter(), order=Order(by="recorded_at"), limit=1).items
    found = {
        "knowledge": [match.value.created_at for match in tx.knowledge.newest(limit=1)],
        "turns": [turn.recorded_at for turn in turns],
        "episodes": [match.value.at for match in tx.episodes.newest(limit=1)],
    }
    return {kind: at for kind, moments in found.items() for at in moments}
