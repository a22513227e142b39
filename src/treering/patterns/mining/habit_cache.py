"""Habits of the newest episodes, kept in this process: advice is asked for in the middle of work, and may not wait."""

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
class _Held:
    mining: Mining
    episodes: int
    at: datetime


@dataclass
class HabitsAtHand:
    """What usually follows what, of what one scope sees. Safe to share between threads."""

    _lock: Lock = field(default_factory=Lock)
    _held: _Held | None = None

    def next_steps(
        self,
        tx: Transaction,
        history: Sequence[TraceEntry],
        *,
        features: Mapping[str, Any],
        message: str | None,
        limit: int,
    ) -> tuple[Suggestion, ...]:
        """The likeliest next steps after what was done so far; none where nothing was done before."""
        found = next_steps(
            self._mining(tx),
            history,
            features,
            limit=limit,
            message=message,
        )
        return tuple(found)

    def let_go(self) -> None:
        """Something was forgotten: what was learned of it leaves with it."""
        with self._lock:
            self._held = None

    def _mining(self, tx: Transaction) -> Mining:
        count = tx.episodes.count(_TRUSTED)
        with self._lock:
            held = self._held
            if held is None or _is_old(held, count, tx.now):
                newest = tx.episodes.newest(_TRUSTED, limit=MAX_EPISODES)
                held = self._held = _Held(mine_habits((each.value for each in newest), MINING_LIMITS), count, tx.now)
            return held.mining


def _is_old(held: _Held, count: int, now: datetime) -> bool:
    more = count - held.episodes
    grown = more < 0 or more > REFRESH_GROWTH * held.episodes
    return grown or abs(now - held.at) > timedelta(minutes=REFRESH_MINUTES)
