"""What is done with one episode, or with all that are old enough."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING

from treering.core.errors import BlobMissing, InvalidInput, NotFound, StoreError
from treering.core.timestamps import timestamp_of
from treering.episodes.cache import Access, Accesses, EpisodeCache
from treering.episodes.lifecycle import age_episodes
from treering.jobs.stage import StageRun, Work

if TYPE_CHECKING:
    from treering.core.episodes import Episode
    from treering.core.scope import Scope
    from treering.core.settings import Settings
    from treering.ports.clock import Clock, NewId
    from treering.ports.models import Models
    from treering.ports.store import Store, Transaction

# A hundred years: a longer time cannot be taken from every date.
_LONGEST = 36_500


@dataclass
class _Counted:
    """Progress for somebody who waits: only what was done is of interest."""

    counts: Counter[str] = field(default_factory=Counter)

    def expect(self, total: int) -> None: ...

    def advance(self, cursor: str | None, steps: int = 1, **counts: int) -> None:
        self.counts.update(counts)


@dataclass(frozen=True, slots=True)
class _Moved:
    """An episode after its lifecycle changed, and its stamps before and after that."""

    before: str | None
    episode: Episode
    stamp: str | None


@dataclass(frozen=True)
class EpisodeOperations:
    """One project's episodes: fetched whole, counted, moved on, removed. Safe to share between threads."""

    scope: Scope
    store: Store
    clock: Clock
    new_id: NewId
    settings: Settings
    models: Models
    cache: EpisodeCache
    purge: Callable[[StageRun, float], tuple[str, ...]]
    """Purge episodes deleted at least this many days ago, with everything derived from them; return their ids."""
    accesses: Accesses = field(default_factory=Accesses)

    def __post_init__(self) -> None:
        self.cache.most_bytes = self.settings.episodes.cache_bytes

    def get(self, id: str) -> Episode:
        """All of an episode, also where most of it lies in the blob store. The access is counted."""
        now = self.clock()
        try:
            found = self._whole(id, now)
        except BlobMissing:
            # Between reading the row and its blob it may have moved to another.
            found = self._whole(id, now)
        access, waiting = self.accesses.add(id, now)
        if waiting >= self.settings.episodes.counted_together:
            self.write_accesses()
        return _accessed(found, access)

    def touch(self, id: str) -> Episode:
        """Count an access, at once; what is at hand of the episode is returned."""
        now = self.clock()

        def count(tx: Transaction) -> _Moved:
            found = tx.episodes.get(id)
            if found is None or found.deleted_at is not None:
                raise self._missing(id)
            return _move(tx, found, Access(1, now))

        moved = self.store.write(self.scope, now, count)
        self.cache.moved(self.scope, moved.before, moved.episode, moved.stamp)
        return moved.episode

    def artifact(self, id: str, name: str) -> bytes:
        """What an episode produced, byte for byte."""
        with self.store.reading(self.scope, self.clock()) as tx:
            found = tx.episodes.get(id)
        if found is None or found.deleted_at is not None:
            raise self._missing(id)
        for artifact in found.outcome.artifacts:
            if artifact.name == name:
                try:
                    return self.store.blobs.get(self.scope, artifact.digest)
                except BlobMissing as exc:
                    raise BlobMissing(f"episode {id!r}, artifact {name!r}: {exc}") from exc
        there = ", ".join(repr(artifact.name) for artifact in found.outcome.artifacts) or "none"
        raise NotFound(f"episode {id!r} has no artifact {name!r}; it has {there}")

    def archive_old(
        self, at: datetime | date | str | None = None, *, older_than_days: float | None = None, dry_run: bool = False
    ) -> Mapping[str, int]:
        """Move every episode on to the phase of its age, as if it were `at`; how many reached which is returned.

        `older_than_days` is the age at which one is archived, in the place of the setting.
        """
        settings = self.settings
        if older_than_days is not None:
            if not 0 < older_than_days <= _LONGEST:
                raise InvalidInput(f"older_than_days is {older_than_days}; give more than 0 and up to {_LONGEST:,}")
            ages = settings.episodes.replace(
                mature_after_days=min(older_than_days, settings.episodes.mature_after_days),
                aged_after_days=min(older_than_days, settings.episodes.aged_after_days),
                archived_after_days=older_than_days,
            )
            settings = settings.replace(episodes=ages)
        return self._done(age_episodes, at, settings, dry_run=dry_run)

    def consolidate_similar(
        self, at: datetime | date | str | None = None, *, likeness: float | None = None, dry_run: bool = False
    ) -> Mapping[str, int]:
        """Make one episode of several alike; what was done is counted.

        `likeness` is the cosine above which two are alike, in the place of the setting.
        """
        from treering.episodes.consolidation.stage import consolidate_episodes

        settings = self.settings
        if likeness is not None:
            if not 0 < likeness < 1:
                raise InvalidInput(f"likeness is {likeness}; give a cosine between 0 and 1")
            settings = settings.replace(consolidation=settings.consolidation.replace(likeness=likeness))
        return self._done(consolidate_episodes, at, settings, dry_run=dry_run)

    def dissolve(self, id: str) -> tuple[str, ...]:
        """Take apart what stands for several episodes; their ids are returned."""
        from treering.episodes.consolidation.dissolution import dissolve

        return dissolve(self.scope, self.store, self.clock(), id, settings=self.settings.episodes)

    def purge_deleted(self, retention_days: float | None = None) -> int:
        """Remove for good what was forgotten longer ago than this, or than the grace; how many is returned."""
        kept = self.settings.forgetting.grace_days if retention_days is None else retention_days
        if not 0 <= kept <= _LONGEST:
            raise InvalidInput(f"retention_days is {retention_days}; give 0 to {_LONGEST:,}")
        purged = self.purge(self._run(_Counted(), None, self.settings), kept)
        for id in purged:
            self.cache.drop(id)
        return len(purged)

    def write_accesses(self, seconds: float = 0.0) -> None:
        """Write the accesses counted so far. While another process writes for longer, they stay counted in memory."""
        waiting = self.accesses.take()
        if not waiting:
            return
        moved: list[_Moved] = []

        def write(tx: Transaction) -> None:
            for id, access in sorted(waiting.items()):
                found = tx.episodes.get(id)
                if found is not None and found.deleted_at is None:
                    moved.append(_move(tx, found, access))

        written = False
        # A failure here must not fail the reading of an episode; the next write of any record reports it.
        with suppress(StoreError):
            written = self.store.write_if_free(self.scope, self.clock(), write, seconds=seconds)
        if not written:
            self.accesses.put_back(waiting)
            return
        for each in moved:
            self.cache.moved(self.scope, each.before, each.episode, each.stamp)

    def _done(
        self, work: Work, at: datetime | date | str | None, settings: Settings, *, dry_run: bool
    ) -> Mapping[str, int]:
        progress = _Counted()
        work(self._run(progress, at, settings, dry_run=dry_run))
        return {name: count for name, count in progress.counts.items() if count}

    def _run(
        self, progress: _Counted, at: datetime | date | str | None, settings: Settings, *, dry_run: bool = False
    ) -> StageRun:
        return StageRun(
            scope=self.scope,
            store=self.store,
            now=timestamp_of(at, self.clock()),
            settings=settings,
            models=self.models,
            new_id=self.new_id,
            progress=progress,
            dry_run=dry_run,
        )

    def _whole(self, id: str, now: datetime) -> Episode:
        # One view of the store: the stamp is that of what is read.
        with self.store.reading(self.scope, now) as tx:
            stamp = tx.episodes.stamp(id)
            if stamp is None:
                self.cache.drop(id)
                raise self._missing(id)
            found = self.cache.get(self.scope, id, stamp)
            if found is None:
                found = tx.episodes.whole(id)
                if found is None:
                    raise self._missing(id)
                self.cache.put(self.scope, found, stamp)
            return found

    def _missing(self, id: str) -> NotFound:
        return NotFound(f"no episode {id!r} in project {self.scope.project!r}; `treering episodes` finds ids")


def _move(tx: Transaction, found: Episode, access: Access) -> _Moved:
    before = tx.episodes.stamp(found.id)
    moved = tx.episodes.set_lifecycle(found.id, _accessed(found, access).lifecycle)
    return _Moved(before, moved, tx.episodes.stamp(found.id))


def _accessed(episode: Episode, access: Access) -> Episode:
    lifecycle = episode.lifecycle
    last = max(access.last, lifecycle.last_accessed_at or access.last)
    counted = lifecycle.replace(access_count=lifecycle.access_count + access.times, last_accessed_at=last)
    return episode.replace(lifecycle=counted)
