"""Cache of complete episodes by recent use; each is validated by a stamp from the store."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING

from treering.core.scope import Scope

if TYPE_CHECKING:
    from treering.core.episodes import Episode

CacheKey = tuple[Scope, str]


@dataclass(frozen=True, slots=True)
class _CachedEpisode:
    """An episode, its stamp in the store, and its length as JSON."""

    episode: Episode
    stamp: str
    length: int


class EpisodeCache:
    """At most `size` episodes and `max_bytes` in total. Safe to share between threads.

    Stamps rather than versions: they also differ if an episode was purged and its id used again.
    """

    def __init__(self, size: int, max_bytes: int = 64_000_000) -> None:
        self.max_bytes = max_bytes
        self._size = size
        self._bytes = 0
        self._entries: OrderedDict[CacheKey, _CachedEpisode] = OrderedDict()
        self._lock = Lock()
        self._hits = self._misses = 0

    def get(self, scope: Scope, id: str, stamp: str | None) -> Episode | None:
        """The cached episode if it has this stamp, else None; an outdated entry is dropped."""
        with self._lock:
            found = self._entries.get((scope, id))
            if found is None or found.stamp != stamp:
                self._misses += 1
                self._remove((scope, id))
                return None
            self._hits += 1
            self._entries.move_to_end((scope, id))
            return found.episode

    def put(self, scope: Scope, episode: Episode, stamp: str) -> None:
        """Add an episode unless it is too large; `stamp` must be read in the same transaction."""
        entry = _CachedEpisode(episode, stamp, len(episode.to_json().encode()))
        with self._lock:
            self._remove((scope, episode.id))
            if entry.length > self.max_bytes:
                return
            self._entries[scope, episode.id] = entry
            self._bytes += entry.length
            while len(self._entries) > self._size or self._bytes > self.max_bytes:
                self._remove(next(iter(self._entries)))

    def update_lifecycle(self, scope: Scope, before: str | None, episode: Episode, stamp: str | None) -> None:
        """Update an entry whose lifecycle, and so its stamp, changed from `before` while its content did not."""
        with self._lock:
            entry = self._entries.get((scope, episode.id))
            if entry is not None and stamp is not None and entry.stamp == before:
                updated = entry.episode.replace(version=episode.version, lifecycle=episode.lifecycle)
                self._entries[scope, episode.id] = _CachedEpisode(updated, stamp, entry.length)

    def drop(self, id: str) -> None:
        """Drop the episode for all scopes."""
        with self._lock:
            for key in [each for each in self._entries if each[1] == id]:
                self._remove(key)

    def _remove(self, key: CacheKey) -> None:
        if (entry := self._entries.pop(key, None)) is not None:
            self._bytes -= entry.length

    def counts(self) -> Mapping[str, float]:
        """Statistics; `hit_rate` is the share of look-ups served from the cache."""
        with self._lock:
            lookups = self._hits + self._misses
            return {
                "size": self._size,
                "held": len(self._entries),
                "bytes": self._bytes,
                "hits": self._hits,
                "misses": self._misses,
                "hit_rate": self._hits / lookups if lookups else 0.0,
            }


@dataclass(frozen=True, slots=True)
class Access:
    """Number of reads of an episode since its count was written, and the time of the last."""

    times: int
    last: datetime


class Accesses:
    """Reads that are counted but not yet written. Safe to share between threads."""

    def __init__(self) -> None:
        self._pending: dict[str, Access] = {}
        self._lock = Lock()

    def add(self, id: str, now: datetime) -> tuple[Access, int]:
        """Count a read; returns the pending reads of this episode, and the number of all pending reads."""
        with self._lock:
            before = self._pending.get(id, Access(0, now))
            access = Access(before.times + 1, max(before.last, now))
            self._pending[id] = access
            return access, sum(each.times for each in self._pending.values())

    def take(self) -> Mapping[str, Access]:
        """Remove and return all pending reads; the caller writes them."""
        with self._lock:
            taken, self._pending = self._pending, {}
            return taken

    def put_back(self, taken: Mapping[str, Access]) -> None:
        """Return reads that could not be written."""
        with self._lock:
            for id, access in taken.items():
                since = self._pending.get(id, Access(0, access.last))
                self._pending[id] = Access(access.times + since.times, max(access.last, since.last))
