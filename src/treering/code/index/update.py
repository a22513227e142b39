"""Applies changes on disk to the stored graph.

The store is consistent at every moment: a file is either resolved against exactly the facts that are stored, or it
waits and has no edges. An interrupted run leaves files waiting, and the next one continues there.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from treering.code.chunks.encoding import unpack_chunks
from treering.code.encoding import unpack_facts, unpack_hashes
from treering.code.facts import Key, SyntaxProblem
from treering.code.files.source_file import TRANSIENT, SourceFile
from treering.code.files.stamps import is_doubtful
from treering.code.graph.memory_release import release_memory
from treering.code.index.executor import FileExecutor
from treering.code.index.file_cache import Changes, FileCache
from treering.code.index.project import LEASE_SECONDS
from treering.code.index.report import FileProblem, IndexPhase, IndexProgress
from treering.code.index.resolution import Resolution, resolve_file
from treering.code.index.version import reading_version
from treering.code.index.worker_pool import ENDED_ITS_READER, ENDED_ITS_RESOLVER
from treering.code.language_choice import load_language
from treering.ports.code import FileFacts, ListedFile, ReadFile, ResolvedFile

if TYPE_CHECKING:
    from treering.code.files.folder_listings import DiscoveredFile
    from treering.code.index.project import IndexedProject
    from treering.code.index.worker_process import LoadedFile

MIN_PARALLEL_FILES = 150  # starting a process takes as long as reading a hundred files
BATCH_FILES = 200  # files stored in one transaction: the most that a crash costs, and that is in memory at once

OnProgress = Callable[[IndexProgress], None]
T = TypeVar("T")


@dataclass
class _PendingWrite:
    """Content of the next transaction."""

    read: dict[str, ReadFile] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    waiting: set[str] = field(default_factory=set)
    resolved: list[ResolvedFile] = field(default_factory=list)
    touched: list[tuple[str, str, int]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.read or self.gone or self.waiting or self.resolved or self.touched)


@dataclass
class UpdateCounts:
    """Results of a run so far."""

    read: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)
    resolved: set[str] = field(default_factory=set)
    refused: dict[str, str] = field(default_factory=dict)
    """Stamps of files that could not be read now, by path."""
    reasons: Counter[str] = field(default_factory=Counter)
    problems: list[FileProblem] = field(default_factory=list)

    def forget(self, path: str, *, known_before: bool) -> None:
        """Drop the results of a file that no longer exists."""
        self.read.discard(path)
        self.resolved.discard(path)
        if known_before:
            self.removed.add(path)

    def add_problems(self, path: str, problems: Iterable[SyntaxProblem]) -> None:
        """Record the first problem of a file with the total, so that one broken file does not fill the list."""
        listed = list(problems)
        if listed:
            self.problems.append(FileProblem(path, listed[0].line, listed[0].message, len(listed)))


class Update:
    """Changes of one run. The cache follows the store; after a failed transaction it must be discarded."""

    def __init__(self, project: IndexedProject, cache: FileCache, on_progress: OnProgress) -> None:
        self._project, self.cache, self._on_progress = project, cache, on_progress
        self.counts = UpdateCounts()
        self.was_large = False
        """Whether the cache is of no further use: its symbols are out of date, or it has grown too large."""
        self.isolate = False
        """Whether a file may end the process that reads it, so that all files are read in workers."""
        self._in_batches = self._is_first_run = self._has_lease = False
        self._known_before = frozenset(cache.files)
        self._pending = _PendingWrite()
        self._renewed = project.clock()
        """When the write lease was last renewed."""

    def apply(self, changes: Changes, report: str | None) -> None:
        """Read, resolve and store: small changes at once, large ones in batches with the index marked incomplete."""
        settings = self._project.settings
        work = len(changes) + len(self.cache.waiting)
        self._begin(work)
        self._in_batches = work > BATCH_FILES
        self.was_large |= self._in_batches
        with ExitStack() as ending:
            # Starting a process takes as long as reading a hundred files.
            several = len(changes.changed) >= MIN_PARALLEL_FILES and settings.processes > 1
            apart = several or (self.isolate and work > 0)
            executor = FileExecutor(
                self._project.root, settings, self.cache.fatal, many=apart, meanwhile=self._renew_lease
            )
            ending.enter_context(executor)
            if not self._in_batches:
                ending.enter_context(self.cache.snapshot())
            # A first run has no askers to update, so that surfaces need not be built in this process.
            self._is_first_run = executor.shared and not self.cache.files
            self._remove_files(changes.gone)
            self._store_batch()
            self._read(changes.changed, executor)
            self._resolve_waiting(executor)
        self._write(complete=True, report=report)

    def _begin(self, work: int) -> None:
        """Take the write lease before anything is read; a first run also stores that it has begun.

        A run that finds the lease of an ended process thereby knows that one of these files may have ended it.
        """
        project, cache = self._project, self.cache
        if cache.root and not work:
            return
        with project.writing() as index:
            if not cache.root:
                here, seen = str(project.root), cache.generation
                version = reading_version()
                begun = index.describe(project.owner, seen=seen, root=here, version=version, complete=False)
                cache.mark_saved(begun, here, complete=False)
        self._has_lease, self._renewed = True, project.clock()

    def _report_progress(self, progress: IndexProgress) -> None:
        self._renew_lease()
        self._on_progress(progress)

    def _renew_lease(self) -> None:
        """Hold the write lease until the next batch is stored."""
        half = timedelta(seconds=LEASE_SECONDS / 2)
        if self._has_lease and self._project.clock() - self._renewed > half:
            with self._project.writing():
                self._renewed = self._project.clock()

    def _store_batch(self) -> None:
        """Store the work so far if the run is large."""
        if self._in_batches:
            self._write(complete=False)

    # SourceFile

    def _read(self, files: Sequence[DiscoveredFile], executor: FileExecutor) -> None:
        stamps = {file.path: file.stamp for file in files}
        done = 0
        for batch in _batches(executor.read(files, self.cache.files), BATCH_FILES):
            for reading in batch:
                self._add_reading(reading, stamps[reading.path])
                done += 1
                self._report_progress(IndexProgress(IndexPhase.READING, done, len(files)))
            self._store_batch()

    def _remove_files(self, paths: Iterable[str]) -> None:
        for path in paths:
            self._forget(path)

    def _forget(self, path: str) -> None:
        if path not in self.cache.files:
            return
        changed = self.cache.symbols.remove(path)
        del self.cache.files[path]
        self.counts.forget(path, known_before=path in self._known_before)
        self._pending.gone.add(path)
        self._pending.read.pop(path, None)
        self.cache.waiting.discard(path)
        self._invalidate(changed)

    def _add_reading(self, reading: SourceFile, stamp: str) -> None:
        self.counts.add_problems(reading.path, reading.problems)
        if reading.skipped in TRANSIENT:
            self.counts.refused[reading.path] = stamp
            self.counts.reasons[reading.skipped] += 1
            self._forget(reading.path)
            return
        if reading.skipped:
            self._mark_fatal(reading.path, reading.skipped)
        known = self.cache.files.get(reading.path)
        seen = (reading.digest, reading.language, reading.skipped)
        if known is not None and (known.digest, known.language, known.skipped) == seen:
            self._touch(known, reading)
            return
        self.counts.read.add(reading.path)
        self.counts.removed.discard(reading.path)
        self._replace(reading)

    def _mark_fatal(self, path: str, problem: str) -> None:
        """Mark a file that ended a process; unmark one that no longer does."""
        self.cache.fatal.pop(path, None)
        if problem in (ENDED_ITS_READER, ENDED_ITS_RESOLVER):
            self.cache.fatal[path] = problem

    def _touch(self, known: ListedFile, reading: SourceFile) -> None:
        """Update the stamp of a file with unchanged content, unless the new stamp is doubtful as well."""
        if known.stamp == reading.stamp and is_doubtful(reading.stamp, reading.read_at):
            return
        self.cache.files[reading.path] = replace(known, stamp=reading.stamp, read_at=reading.read_at)
        self._pending.touched.append((reading.path, reading.stamp, reading.read_at))

    def _replace(self, reading: SourceFile) -> None:
        path, cache = reading.path, self.cache
        # The previous surface is compared here, before the new one replaces it.
        changed = self._changed(reading)
        cache.files[path] = _listed(reading)
        self._pending.gone.discard(path)
        self._pending.read[path] = _stored(reading)
        if reading.skipped:
            cache.waiting.discard(path)
        else:
            cache.hold_facts(path, FileFacts(reading.given, reading.facts))
            cache.waiting.add(path)
        self._invalidate(changed)

    def _changed(self, reading: SourceFile) -> set[Key]:
        """Keys whose answers change with this file."""
        if reading.skipped:
            return self.cache.symbols.remove(reading.path)
        if self._is_first_run:
            return set()
        facts = unpack_facts(reading.language, reading.facts)
        return self.cache.symbols.put(reading.path, load_language(reading.language).surface(facts))

    def _invalidate(self, changed: Iterable[Key]) -> None:
        """Mark files that queried one of these keys as waiting; their edges are not served until they are resolved."""
        for path in self.cache.symbols.askers(changed):
            if path in self.cache.files and path not in self.cache.waiting:
                self.cache.waiting.add(path)
                self._pending.waiting.add(path)

    # Resolving

    def _resolve_waiting(self, executor: FileExecutor) -> None:
        waiting, size = sorted(self.cache.waiting), BATCH_FILES
        done = 0
        shared = executor.shared and (self._is_first_run or self.isolate or len(waiting) >= MIN_PARALLEL_FILES)
        # Keys queried in workers are not recorded in this process, so that its symbols are discarded.
        self.was_large |= shared
        if shared:
            release_memory()
        for batch in _batches(
            executor.resolve(waiting, None if shared else self._resolve_here, self._file_batches), size
        ):
            for resolution in batch:
                self._store_resolution(resolution, known=not shared)
                done += 1
                self._report_progress(IndexProgress(IndexPhase.RESOLVING, done, len(waiting)))
            self._store_batch()

    def _resolve_here(self, paths: Sequence[str]) -> Iterator[Resolution]:
        for some in _batches(paths, BATCH_FILES):
            for language, facts in self.cache.facts(some):
                yield resolve_file(language, facts, self.cache.symbols)

    def _file_batches(self) -> Iterator[Sequence[LoadedFile]]:
        for some in self.cache.loaded_files():
            self._renew_lease()
            yield some

    def _store_resolution(self, found: Resolution, *, known: bool) -> None:
        path, cache = found.path, self.cache
        if known:
            cache.symbols.asked(path, unpack_hashes(found.asked))
        if found.problem:
            self.counts.add_problems(path, [SyntaxProblem(1, found.problem)])
        self._mark_fatal(path, found.problem)
        cache.waiting.discard(path)
        self._pending.waiting.discard(path)
        self._pending.resolved.append(
            ResolvedFile(path, found.edges, found.unresolved, found.asked, found.used, found.unknown, found.ties)
        )
        cache.files[path] = replace(cache.files[path], resolved=True, used=found.used, unknown=found.unknown)
        self.counts.resolved.add(path)

    # Storing

    def _write(self, *, complete: bool, report: str | None = None) -> None:
        pending, cache, project = self._pending, self.cache, self._project
        report = cache.with_fatal(report, all_seen=complete)
        is_stored = report is None or json.loads(report) == cache.report
        if not pending and is_stored and complete is cache.complete and cache.root == str(project.root):
            if complete and self._has_lease:
                project.release_lease()
                self._has_lease = False
            return
        with project.finishing() if complete and self._has_lease else project.writing() as index:
            generation = index.describe(
                project.owner,
                seen=cache.generation,
                root=str(project.root),
                version=reading_version(),
                complete=complete,
                report=report,
            )
            if cache.outdated:
                index.clear()
            index.remove(sorted(pending.gone))
            index.put(list(pending.read.values()), generation)
            index.unresolve(sorted(pending.waiting), generation)
            index.resolve(pending.resolved, generation)
            index.touch(pending.touched)
            if complete:
                if cache.outdated or self._in_batches:
                    index.drop_unused()
                index.release_lease(project.owner)
        cache.mark_saved(generation, str(project.root), complete=complete, report=report)
        self._pending, self._renewed = _PendingWrite(), project.clock()
        self._has_lease &= not complete


def _listed(reading: SourceFile) -> ListedFile:
    return ListedFile(
        reading.path,
        reading.language,
        reading.digest,
        reading.stamp,
        reading.read_at,
        bool(reading.skipped),
        reading.skipped,
        0,
        defined=reading.defined,
        problems=len(reading.problems),
    )


def _stored(reading: SourceFile) -> ReadFile:
    return ReadFile(
        reading.path,
        reading.language,
        reading.digest,
        reading.stamp,
        reading.read_at,
        reading.skipped,
        reading.facts,
        reading.definitions,
        reading.given,
        reading.defined,
        len(reading.problems),
        unpack_chunks(reading.path, reading.chunks),
    )


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
