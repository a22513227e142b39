"""Keeps the stored graph of a project up to date with its files."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from treering.code.files.discovery import Discovery, discover
from treering.code.files.folder_listings import DiscoveredFile, FolderListings
from treering.code.files.outer_ignore_rules import load_outer_rules
from treering.code.files.roots import check_readable, check_replacement, check_still_indexed
from treering.code.index.file_cache import Changes, FileCache
from treering.code.index.report import IndexPhase, IndexProgress, IndexReport, ignore_progress
from treering.code.index.version import reading_version
from treering.core.errors import StoreError

if TYPE_CHECKING:
    from treering.code.index.project import IndexedProject
    from treering.code.index.update import OnProgress, Update
    from treering.ports.code import CodeState, IndexLease

MAX_ROUNDS = 5  # how often files that changed meanwhile are read again before they are left to the next run
MAX_UNCHECKED_CHANGES = 10  # so few files are read in less time than another scan of all files takes
MAX_LISTED_PROBLEMS = 50  # problems that a summary lists; all are counted


class PendingChanges(NamedTuple):
    """Work that a run would have to do."""

    changes: Changes
    generation: int
    """Generation of the store that was examined."""
    waiting: int
    """Number of files whose edges are not resolved."""
    complete: bool


OnOutstanding = Callable[[Changes, int], None]
"""Called with files that differ from the store, and the generation of the store that was examined."""


def _ignore_outstanding(_changes: Changes, _generation: int) -> None:
    """Default of `outstanding`."""


def _was_interrupted(state: CodeState) -> bool:
    """Whether an earlier run ended before it was complete; one of the files may have ended its process."""
    return bool(state.root) and (not state.complete or state.lease is not None)


class Indexer:
    """Indexes one project's files repeatedly. One thread at a time; symbols stay cached between runs."""

    def __init__(self, project: IndexedProject) -> None:
        self.project = project
        self._cache: FileCache | None = None
        self._seen: Discovery | None = None
        self._listings = FolderListings()

    def pending(self) -> PendingChanges:
        """What changed on disk since it was stored."""
        cache, _ = self._loaded()
        changes = cache.changes(self._discover(None), doubt=True)
        changed = tuple(file for file in changes.changed if not self._is_as_stored(file, cache))
        changes = dataclasses.replace(changes, changed=changed)
        return PendingChanges(changes, cache.generation, len(cache.waiting), cache.complete)

    def _is_as_stored(self, found: DiscoveredFile, cache: FileCache) -> bool:
        """Whether a file has the stored content, whatever its stamp."""
        from treering.code.files.source_file import can_be_read_now, digest_of

        known = cache.files.get(found.path)
        if known is None or known.language != found.language:
            return False
        if can_be_read_now(self.project.root, known.path, known.language, known.skipped):
            return False
        return digest_of(self.project.root, found.path, self.project.settings.largest_file) == known.digest

    def run(
        self,
        on_progress: OnProgress = ignore_progress,
        *,
        hints: Collection[str] | None = None,
        replace: bool = False,
        keeping: bool = False,
        outstanding: OnOutstanding = _ignore_outstanding,
    ) -> IndexReport:
        """Read changed files, resolve what they affect, store both.

        `hints` are the only paths that changed, as reported by a watcher. `outstanding` is called with the changes
        before they are read, and with the rest at the end. With `keeping`, the index of this folder has to exist.

        Raises `Conflict` while another process indexes, `InvalidInput` if another folder is indexed and `replace` is
        not set, `NotFound` with `keeping` if the index was forgotten.
        """
        from treering.code.index.update import Update
        from treering.code.index.warnings import skipped_counts, warnings
        from treering.code.language_choice import NO_GRAMMAR, without_grammar

        check_readable(self.project.root)
        began = monotonic()
        on_progress(IndexProgress(IndexPhase.LOOKING))
        cache, state = self._loaded()
        known_root = "" if state is None else state.root
        if keeping:
            # Later changes by other processes raise `Conflict` when something is stored.
            check_still_indexed(known_root, self.project.root, self.project.scope.project)
        notes = check_replacement(known_root, self.project.root, self.project.scope.project, replace=replace)
        known = hints is not None and cache.complete and not cache.waiting and self._saw_every_change()
        folders = cache.folders_of(hints or (), self.project.root) if known else None
        update = Update(self.project, cache, on_progress)
        update.isolate = state is not None and _was_interrupted(state)
        try:
            reported = None if folders is None else hints
            lease = None if state is None else state.lease
            discovery, complete = self._follow(update, folders, reported, lease, outstanding)
        except BaseException:
            # The cache no longer matches the store.
            self._cache = None
            with suppress(StoreError):
                self.project.release_lease()
            raise
        if update.was_large:
            # The cache of a large run takes much memory: drop it rather than hold it until the next change.
            self._cache = None
        self._seen = discovery
        counts, cache = update.counts, update.cache
        skipped = skipped_counts(cache, discovery) + counts.reasons
        unread = discovery.unread if folders is None else Counter(cache.report.get("unread", {}))
        return IndexReport(
            root=str(self.project.root),
            read=sum(path in cache.files and cache.files[path].skipped != NO_GRAMMAR for path in counts.read),
            unchanged=len(cache.files) - len(counts.read),
            removed=len(counts.removed),
            resolved=len(counts.resolved),
            skipped=dict(sorted(skipped.items())),
            unread=dict(sorted((without_grammar(cache.files.values()) + unread).items())),
            problems=tuple(counts.problems[:MAX_LISTED_PROBLEMS]),
            problems_total=len(counts.problems),
            totals=cache.totals(),
            seconds=round(monotonic() - began, 3),
            complete=complete,
            warnings=tuple(warnings(cache, discovery)),
            notes=notes,
        )

    def _follow(
        self,
        update: Update,
        folders: frozenset[str] | None,
        reported: Collection[str] | None,
        lease: IndexLease | None,
        outstanding: OnOutstanding,
    ) -> tuple[Discovery, bool]:
        """Repeat until nothing changed while the last changes were stored.

        A watcher reports such changes itself. After a few changes there is no other scan either: a file that changes
        meanwhile is found by the next run, as if it had changed a moment later.
        """
        cache = update.cache
        discovery = self._discover(folders)
        changes = cache.changes(discovery, doubt=True, reported=reported)
        outstanding(cache.certain(changes), cache.generation)
        if changes or cache.waiting or not cache.complete:
            self.project.check_lease(lease)
        for _ in range(MAX_ROUNDS if folders is None else 1):
            update.apply(
                changes,
                json.dumps({**cache.report, "skipped": discovery.skipped, "unread": discovery.unread})
                if folders is None
                else None,
            )
            refused = update.counts.refused
            if folders is not None or (len(changes) <= MAX_UNCHECKED_CHANGES and not refused):
                changes = Changes(unreadable=changes.unreadable)
            if not changes:
                break
            discovery = self._discover(folders)
            changes = cache.changes(discovery, doubt=False)
            still = tuple(file for file in changes.changed if refused.get(file.path) != file.stamp)
            changes = dataclasses.replace(changes, changed=still)
            if changes and update.was_large:
                self._cache = None
                update.cache = cache = self._loaded()[0]
            outstanding(changes, cache.generation)
        outstanding(changes, cache.generation)
        return discovery, not changes

    def _saw_every_change(self) -> bool:
        """Whether the watcher saw every change: rules outside the root are the same, and every folder could be read."""
        seen = self._seen
        return (
            seen is not None
            and not seen.unreadable
            and seen.outer_rules == load_outer_rules(self.project.root, self.project.git)
        )

    def _discover(self, folders: frozenset[str] | None) -> Discovery:
        return discover(self.project.root, self.project.settings, folders, self.project.git, self._listings)

    def _loaded(self) -> tuple[FileCache, CodeState | None]:
        """The cache and state as stored now; another process may have changed them."""
        with self.project.reading() as index:
            state = index.state()
            if self._cache is None or state is None or self._cache.generation != state.generation:
                self._cache = FileCache(state, index, self.project.reading, reading_version())
            return self._cache, state
