"""In-process cache of the habits of the newest episodes, so that advice is fast."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock
from typing import Any

from treering.core.episodes import TraceEntry
from treering.core.queries import EpisodeFilter
from treering.patterns.mining.candidates import mine_habits
from treering.patterns.mining.findings import Mining
from treering.patterns.mining.limits import MINING_LIMITS
from treering.patterns.mining.next_steps import Suggestion, next_steps
from treering.ports.store import Transaction

MAX_EPISODES = 1_000  # episodes whose habits are kept in memory, the newest: read in some seconds, once a process
REFRESH_GROWTH = 0.1  # habits are read again after this growth: one more episode among ten changes little
REFRESH_MINUTES = 60.0  # habits are read again after this long, so that forgotten episodes leave this process as well

_TRUSTED = EpisodeFilter(tainted=False, cold=False)


@dataclass(frozen=True, slots=True)
class _CachedHabits:
    mining: Mining
    episodes: int
    at: datetime


@dataclass
class HabitCache:
    """Habits of the episodes that one scope sees. Safe to share between threads."""

    _lock: Lock = field(default_factory=Lock)
    _cached: _CachedHabits | None = None

    def next_steps(
        self,
        tx: Transaction,
        history: Sequence[TraceEntry],
        *,
        features: Mapping[str, Any],
        message: str | None,
        limit: int,
    ) -> tuple[Suggestion, ...]:
        """The likeliest next steps after `history`; none if there are no episodes."""
        found = next_steps(
            self._mining(tx),
            history,
            features,
            limit=limit,
            message=message,
        )
        return tuple(found)

    def clear(self) -> None:
        """Drop the habits; called when a record is forgotten, since they may be derived from it."""
        with self._lock:
            self._cached = None

    def _mining(self, tx: Transaction) -> Mining:
        count = tx.episodes.count(_TRUSTED)
        with self._lock:
            cached = self._cached
            if cached is None or _is_stale(cached, count, tx.now):
                newest = tx.episodes.newest(_TRUSTED, limit=MAX_EPISODES)
                cached = self._cached = _CachedHabits(
                    mine_habits((each.value for each in newest), MINING_LIMITS), count, tx.now
                )
            return cached.mining


def _is_stale(cached: _CachedHabits, count: int, now: datetime) -> bool:
    more = count - cached.episodes
    grown = more < 0 or more > REFRESH_GROWTH * cached.episodes
    return grown or abs(now - cached.at) > timedelta(minutes=REFRESH_MINUTES)
