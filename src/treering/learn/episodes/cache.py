"""Whole episodes at hand: the last ones used, each served only while the store says that it did not change."""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from threading import Lock

from treering.core.episodes import Episode
from treering.core.scope import Scope

Place = tuple[Scope, str]


class EpisodeCache:
    """At most `size` episodes. Safe to share between threads."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: OrderedDict[Place, Episode] = OrderedDict()
        self._lock = Lock()
        self._hits = self._misses = 0

    def get(self, scope: Scope, id: str, version: int) -> Episode | None:
        """The episode as it is at `version`; None where it has to be read."""
        with self._lock:
            found = self._kept.get((scope, id))
            if found is None or found.version != version:
                self._misses += 1
                self._kept.pop((scope, id), None)
                return None
            self._hits += 1
            self._kept.move_to_end((scope, id))
            return found

    def put(self, scope: Scope, episode: Episode) -> None:
        with self._lock:
            self._kept[scope, episode.id] = episode
            self._kept.move_to_end((scope, episode.id))
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)

    def moved(self, scope: Scope, before: int, episode: Episode) -> None:
        """Its lifecycle went from version `before` to that of `episode`; its content is what it was."""
        with self._lock:
            kept = self._kept.get((scope, episode.id))
            if kept is not None and kept.version == before:
                self._kept[scope, episode.id] = kept.replace(version=episode.version, lifecycle=episode.lifecycle)

    def drop(self, id: str) -> None:
        """Whoever saw it."""
        with self._lock:
            for place in [each for each in self._kept if each[1] == id]:
                del self._kept[place]

    def counts(self) -> Mapping[str, float]:
        """How it does: `hit_rate` is the share of look-ups that needed no reading."""
        with self._lock:
            asked = self._hits + self._misses
            return {
                "size": self._size,
                "held": len(self._kept),
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
