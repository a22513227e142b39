"""Habits of the newest episodes, kept in this process: advice is asked for in the middle of work, and may not wait."""

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
class _Held:
    mining: Mining
    episodes: int
    at: datetime


@dataclass
class HabitCache:
    """What usually follows what, of what one scope sees. Safe to share between threads."""

    _lock: Lock = field(default_factory=Lock)
    _held: _Held | None = None

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
        """The likeliest next steps after what was done so far; none where nothing was done before."""
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
        """Something was forgotten: what was learned of it leaves with it."""
        with self._lock:
            self._held = None

    def _mining(self, tx: Transaction, settings: Settings) -> Mining:
        count, mining = tx.episodes.count(_TRUSTED), settings.mining
        with self._lock:
            held = self._held
            if held is None or _is_old(held, count, tx.now, settings):
                newest = tx.episodes.newest(_TRUSTED, limit=mining.advised_by)
                held = self._held = _Held(mine_habits((each.value for each in newest), mining), count, tx.now)
            return held.mining


def _is_old(held: _Held, count: int, now: datetime, settings: Settings) -> bool:
    more = count - held.episodes
    grown = more < 0 or more > settings.mining.advised_growth * held.episodes
    return grown or abs(now - held.at) > timedelta(minutes=settings.mining.advised_minutes)
