"""In-process cache of the habits of the newest episodes, so that advice is fast."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock
from typing import Any

from treering.core.episodes import TraceEntry
from treering.core.queries import EpisodeFilter
from treering.core.settings import Settings
from treering.patterns.mining.candidates import mine_habits
from treering.patterns.mining.findings import Mining
from treering.patterns.mining.next_steps import Suggestion, next_steps
from treering.ports.store import Transaction

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
        settings: Settings,
        *,
        features: Mapping[str, Any],
        message: str | None,
        limit: int,
    ) -> tuple[Suggestion, ...]:
        """The likeliest next steps after `history`; none if there are no episodes."""
        found = next_steps(
            self._mining(tx, settings),
            history,
            features,
            limit=limit,
            message=message,
            advice=settings.advice,
            mining=settings.mining,
        )
        return tuple(found)

    def clear(self) -> None:
        """Drop the habits; called when a record is forgotten, since they may be derived from it."""
        with self._lock:
            self._cached = None

    def _mining(self, tx: Transaction, settings: Settings) -> Mining:
        count, mining = tx.episodes.count(_TRUSTED), settings.mining
        with self._lock:
            cached = self._cached
            if cached is None or _is_stale(cached, count, tx.now, settings):
                newest = tx.episodes.newest(_TRUSTED, limit=mining.advised_by)
                cached = self._cached = _CachedHabits(
                    mine_habits((each.value for each in newest), mining), count, tx.now
                )
            return cached.mining


def _is_stale(cached: _CachedHabits, count: int, now: datetime, settings: Settings) -> bool:
    more = count - cached.episodes
    grown = more < 0 or more > settings.mining.advised_growth * cached.episodes
    return grown or abs(now - cached.at) > timedelta(minutes=settings.mining.advised_minutes)
