"""Operations on episodes: read, count accesses, archive, consolidate, purge."""

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
from treering.jobs.stage import StageRun, StageWork

if TYPE_CHECKING:
    from treering.core.episodes import Episode
    from treering.core.scope import Scope
    from treering.core.settings import Settings
    from treering.ports.clock import Clock, NewId
    from treering.ports.models import Models
    from treering.ports.store import Store, Transaction

ACCESSES_PER_WRITE = 20  # accesses written at once, or each read would be a write; the most that a crash forgets

# A hundred years; more could not be subtracted from every date.
_MAX_DAYS = 36_500


@dataclass
class _CountingProgress:
    """Progress that only sums the counts."""

    counts: Counter[str] = field(default_factory=Counter)

    def expect(self, total: int) -> None: ...

    def advance(self, cursor: str | None, steps: int = 1, **counts: int) -> None:
        self.counts.update(counts)


@dataclass(frozen=True, slots=True)
class _LifecycleChange:
    """An episode after a change of its lifecycle, with its stamps before and after."""

    before: str | None
    episode: Episode
    stamp: str | None


@dataclass(frozen=True)
class EpisodeOperations:
    """Operations on one project's episodes. Safe to share between threads."""

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
        self.cache.max_bytes = self.settings.episodes.cache_bytes

    def get(self, id: str) -> Episode:
        """The complete episode, including its parts in the blob store. Counts the access."""
        now = self.clock()
        try:
            found = self._whole(id, now)
        except BlobMissing:
            # The blob may have been replaced between reading the row and the blob.
            found = self._whole(id, now)
        access, pending = self.accesses.add(id, now)
        if pending >= ACCESSES_PER_WRITE:
            self.write_accesses()
        return _accessed(found, access)

    def touch(self, id: str) -> Episode:
        """Count and store an access; returns the episode without its parts in the blob store."""
        now = self.clock()

        def count(tx: Transaction) -> _LifecycleChange:
            found = tx.episodes.get(id)
            if found is None or found.deleted_at is not None:
                raise self._missing(id)
            return _count_access(tx, found, Access(1, now))

        moved = self.store.write(self.scope, now, count)
        self.cache.update_lifecycle(self.scope, moved.before, moved.episode, moved.stamp)
        return moved.episode

    def artifact(self, id: str, name: str) -> bytes:
        """The bytes of an artifact."""
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
        names = ", ".join(repr(artifact.name) for artifact in found.outcome.artifacts) or "none"
        raise NotFound(f"episode {id!r} has no artifact {name!r}; it has {names}")

    def archive_old(
        self, at: datetime | date | str | None = None, *, older_than_days: float | None = None, dry_run: bool = False
    ) -> Mapping[str, int]:
        """Move every episode to the phase of its age at `at`; returns the number of moved episodes by phase.

        `older_than_days` overrides the age of archiving in the settings.
        """
        settings = self.settings
        if older_than_days is not None:
            if not 0 < older_than_days <= _MAX_DAYS:
                raise InvalidInput(f"older_than_days is {older_than_days}; give more than 0 and up to {_MAX_DAYS:,}")
            ages = settings.episodes.replace(
                mature_after_days=min(older_than_days, settings.episodes.mature_after_days),
                aged_after_days=min(older_than_days, settings.episodes.aged_after_days),
                archived_after_days=older_than_days,
            )
            settings = settings.replace(episodes=ages)
        return self._run_stage(age_episodes, at, settings, dry_run=dry_run)

    def consolidate_similar(
        self, at: datetime | date | str | None = None, *, likeness: float | None = None, dry_run: bool = False
    ) -> Mapping[str, int]:
        """Consolidate similar episodes; returns counts.

        `likeness` overrides the minimum cosine in the settings.
        """
        from treering.episodes.consolidation.stage import consolidate_episodes

        settings = self.settings
        if likeness is not None:
            if not 0 < likeness < 1:
                raise InvalidInput(f"likeness is {likeness}; give a cosine between 0 and 1")
            settings = settings.replace(consolidation=settings.consolidation.replace(likeness=likeness))
        return self._run_stage(consolidate_episodes, at, settings, dry_run=dry_run)

    def dissolve(self, id: str) -> tuple[str, ...]:
        """Dissolve a consolidated episode; returns the ids of its members."""
        from treering.episodes.consolidation.dissolution import dissolve

        return dissolve(self.scope, self.store, self.clock(), id, settings=self.settings.episodes)

    def purge_deleted(self, retention_days: float | None = None) -> int:
        """Purge episodes forgotten longer ago than this, by default the grace period; returns their number."""
        days = self.settings.forgetting.grace_days if retention_days is None else retention_days
        if not 0 <= days <= _MAX_DAYS:
            raise InvalidInput(f"retention_days is {retention_days}; give 0 to {_MAX_DAYS:,}")
        purged = self.purge(self._stage_run(_CountingProgress(), None, self.settings), days)
        for id in purged:
            self.cache.drop(id)
        return len(purged)

    def write_accesses(self, seconds: float = 0.0) -> None:
        """Write the accesses counted so far; if another process holds the write lock, they stay in memory."""
        pending = self.accesses.take()
        if not pending:
            return
        moved: list[_LifecycleChange] = []

        def write(tx: Transaction) -> None:
            for id, access in sorted(pending.items()):
                found = tx.episodes.get(id)
                if found is not None and found.deleted_at is None:
                    moved.append(_count_access(tx, found, access))

        written = False
        # A failure here must not fail the reading of an episode; the next write of any record reports it.
        with suppress(StoreError):
            written = self.store.write_if_free(self.scope, self.clock(), write, seconds=seconds)
        if not written:
            self.accesses.put_back(pending)
            return
        for each in moved:
            self.cache.update_lifecycle(self.scope, each.before, each.episode, each.stamp)

    def _run_stage(
        self, work: StageWork, at: datetime | date | str | None, settings: Settings, *, dry_run: bool
    ) -> Mapping[str, int]:
        progress = _CountingProgress()
        work(self._stage_run(progress, at, settings, dry_run=dry_run))
        return {name: count for name, count in progress.counts.items() if count}

    def _stage_run(
        self,
        progress: _CountingProgress,
        at: datetime | date | str | None,
        settings: Settings,
        *,
        dry_run: bool = False,
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
        # One transaction, so that the stamp belongs to the episode that is read.
        with self.store.reading(self.scope, now) as tx:
            stamp = tx.episodes.stamp(id)
            if stamp is None:
                self.cache.drop(id)
                raise self._missing(id)
            found = self.cache.get(self.scope, id, stamp)
            if found is None:
                found = tx.episodes.get_complete(id)
                if found is None:
                    raise self._missing(id)
                self.cache.put(self.scope, found, stamp)
            return found

    def _missing(self, id: str) -> NotFound:
        return NotFound(f"no episode {id!r} in project {self.scope.project!r}; `treering episodes` lists ids")


def _count_access(tx: Transaction, found: Episode, access: Access) -> _LifecycleChange:
    before = tx.episodes.stamp(found.id)
    moved = tx.episodes.set_lifecycle(found.id, _accessed(found, access).lifecycle)
    return _LifecycleChange(before, moved, tx.episodes.stamp(found.id))


def _accessed(episode: Episode, access: Access) -> Episode:
    lifecycle = episode.lifecycle
    last = max(access.last, lifecycle.last_accessed_at or access.last)
    counted = lifecycle.replace(access_count=lifecycle.access_count + access.times, last_accessed_at=last)
    return episode.replace(lifecycle=counted)
