"""Whole episodes at hand: the last ones used, each served only while the store says that it is still the same."""

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

MAX_CACHED_EPISODES = 1_000  # whole episodes kept in this process, the most recently used

Place = tuple[Scope, str]


@dataclass(frozen=True, slots=True)
class _Held:
    """An episode, the stamp that the store had for it, and its length as JSON."""

    episode: Episode
    stamp: str
    length: int


class EpisodeCache:
    """At most `size` episodes, of `most_bytes` in all. Safe to share between threads.

    A version does not tell an episode from another that took its id after it was removed for good; a stamp does.
    """

    def __init__(self, size: int, most_bytes: int = 64_000_000) -> None:
        self.most_bytes = most_bytes
        self._size = size
        self._bytes = 0
        self._kept: OrderedDict[Place, _Held] = OrderedDict()
        self._lock = Lock()
        self._hits = self._misses = 0

    def get(self, scope: Scope, id: str, stamp: str | None) -> Episode | None:
        """The episode that has this stamp in the store; None where it has to be read. What has another is let go."""
        with self._lock:
            found = self._kept.get((scope, id))
            if found is None or found.stamp != stamp:
                self._misses += 1
                self._remove((scope, id))
                return None
            self._hits += 1
            self._kept.move_to_end((scope, id))
            return found.episode

    def put(self, scope: Scope, episode: Episode, stamp: str) -> None:
        """Keep it, if it is not too long for that; `stamp` was read together with it."""
        held = _Held(episode, stamp, len(episode.to_json().encode()))
        with self._lock:
            self._remove((scope, episode.id))
            if held.length > self.most_bytes:
                return
            self._kept[scope, episode.id] = held
            self._bytes += held.length
            while len(self._kept) > self._size or self._bytes > self.most_bytes:
                self._remove(next(iter(self._kept)))

    def moved(self, scope: Scope, before: str | None, episode: Episode, stamp: str | None) -> None:
        """Its lifecycle changed, and with it its stamp, which was `before`; its content is what it was."""
        with self._lock:
            kept = self._kept.get((scope, episode.id))
            if kept is not None and stamp is not None and kept.stamp == before:
                now = kept.episode.replace(version=episode.version, lifecycle=episode.lifecycle)
                self._kept[scope, episode.id] = _Held(now, stamp, kept.length)

    def drop(self, id: str) -> None:
        """Whoever saw it."""
        with self._lock:
            for place in [each for each in self._kept if each[1] == id]:
                self._remove(place)

    def _remove(self, place: Place) -> None:
        if (held := self._kept.pop(place, None)) is not None:
            self._bytes -= held.length

    def counts(self) -> Mapping[str, float]:
        """How it does: `hit_rate` is the share of look-ups that needed no reading."""
        with self._lock:
            asked = self._hits + self._misses
            return {
                "size": self._size,
                "held": len(self._kept),
                "bytes": self._bytes,
                "hits": self._hits,
                "misses": self._misses,
                "hit_rate": self._hits / asked if asked else 0.0,
            }


@dataclass(frozen=True, slots=True)
class Access:
    """How often an episode was read since its count was written, and when last."""

    times: int
    last: datetime


class Accesses:
    """Reads that are counted and not yet written. Safe to share between threads."""

    def __init__(self) -> None:
        self._waiting: dict[str, Access] = {}
        self._lock = Lock()

    def add(self, id: str, now: datetime) -> tuple[Access, int]:
        """Those of this episode so far, and how many wait in all."""
        with self._lock:
            before = self._waiting.get(id, Access(0, now))
            access = Access(before.times + 1, max(before.last, now))
            self._waiting[id] = access
            return access, sum(each.times for each in self._waiting.values())

    def take(self) -> Mapping[str, Access]:
        """All of them; from now on they are the caller's to write."""
        with self._lock:
            taken, self._waiting = self._waiting, {}
            return taken

    def put_back(self, taken: Mapping[str, Access]) -> None:
        """They could not be written now."""
        with self._lock:
            for id, access in taken.items():
                since = self._waiting.get(id, Access(0, access.last))
                self._waiting[id] = Access(access.times + since.times, max(access.last, since.last))
