"""The graph in memory, kept current: changed files are read again, or at least no longer served."""

from __future__ import annotations

import threading
from collections.abc import Collection
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from treering.code.files.roots import check_still_indexed
from treering.code.index.report import ignore_progress
from treering.code.index.version import reading_version
from treering.code.language_choice import NO_GRAMMAR, missing_grammars
from treering.code.live.unread_files import UnreadFiles
from treering.code.locations.search import IndexSnapshot
from treering.core.errors import Conflict, FolderUnavailable, InvalidInput, NotFound, StoreError
from treering.ports.watcher import EVERYTHING

if TYPE_CHECKING:
    from treering.code.graph import CodeGraph
    from treering.code.index.file_cache import Changes
    from treering.code.index.indexer import Indexer
    from treering.code.index.project import IndexedProject
    from treering.code.index.report import IndexReport
    from treering.code.index.update import OnProgress
    from treering.code.live.live_graph import LiveGraph
    from treering.ports.code import CodeIndex, CodeState

MAX_IN_PLACE = 200  # files changed in the graph in memory; above it, loading the whole graph is quicker

_SCAN_PAUSE = 10
"""Minimum pause between two scans, as a multiple of the last scan's duration: at most a tenth of the time is spent
scanning."""


class CurrentGraph:
    """One project's graph, shared by the threads of one process and current within seconds.

    One thread indexes at a time. Queries do not wait for it: files not read yet are left out of answers, which say so.
    """

    def __init__(self, project: IndexedProject, roots: Collection[Path]) -> None:
        """`roots` are the folders that may be scanned without being named by the caller."""
        self._project = project
        self._roots = set(roots)
        self._indexing = threading.Lock()
        """Held while indexing. A holder may take `_lock` as well, but never the other way round."""
        self._indexer: Indexer | None = None
        self._lock = threading.RLock()
        """Protects the graph and the list of unread files."""
        self._unread = UnreadFiles()
        self._last_scan: float | None = None
        self._scan_seconds = 0.0
        self._watched = False

    @cached_property
    def _live(self) -> LiveGraph:
        from treering.code.live.live_graph import LiveGraph

        return LiveGraph(MAX_IN_PLACE)

    # Indexing

    def index(self, root: Path, on_progress: OnProgress = ignore_progress, *, replace: bool = False) -> IndexReport:
        with self._indexing:
            done = self._run(root, on_progress, replace=replace)
            self._last_scan = monotonic()
            return done

    def catch_up(
        self,
        root: Path,
        hints: Collection[str] | None,
        on_progress: OnProgress = ignore_progress,
        *,
        replace: bool = False,
    ) -> IndexReport:
        """Read the reported paths, or everything that changed for None. Afterwards queries no longer scan the files.

        Raises `NotFound` or `InvalidInput` if the index was forgotten or replaced since the last call.
        """
        with self._indexing:
            done = self._run(root, on_progress, hints, replace=replace, keeping=self._watched)
            self._watched = True
            return done

    @property
    def watched(self) -> bool:
        """Whether a watcher reports every change."""
        return self._watched

    def check_still_indexed(self, root: Path) -> None:
        """Raise `NotFound` or `InvalidInput` if the watched index was forgotten or replaced."""
        if not self._watched:
            return
        # If the store is unavailable now, the next call checks again.
        with suppress(StoreError), self._project.reading() as index:
            state = index.state()
            check_still_indexed("" if state is None else state.root, root, self._project.scope.project)

    def mark_changed(self, paths: Collection[str]) -> None:
        """Mark files as changed: they are not served until they are read again."""
        with self._lock:
            self._unread.add(paths)

    def end_watch(self) -> None:
        """Record that changes are no longer reported."""
        self._watched, self._last_scan = False, None

    def _run(
        self,
        root: Path,
        on_progress: OnProgress = ignore_progress,
        hints: Collection[str] | None = None,
        *,
        replace: bool = False,
        keeping: bool = False,
    ) -> IndexReport:
        with self._lock:
            moment = self._unread.moment
        indexer = self._indexer_at(root)
        done = indexer.run(
            on_progress, hints=hints, replace=replace, keeping=keeping, outstanding=self._set_outstanding
        )
        with self._lock:
            self._roots.add(root)
            self._unread.forget_until(moment)
        return done

    def _indexer_at(self, root: Path) -> Indexer:
        if self._indexer is None or self._indexer.project.root != root:
            from treering.code.index.indexer import Indexer

            self._indexer = Indexer(self._project.at(root))
        return self._indexer

    def _set_outstanding(self, changes: Changes, generation: int) -> None:
        with self._lock:
            self._unread.set_scan(changes, generation)

    # Queries

    def graph(self) -> CodeGraph:
        """The current graph. Raises `NotFound` if nothing is indexed."""
        self._scan_if_due()
        with self._lock, self._project.reading() as index:
            state = self._state(index)
            self._live.refresh(index, state)
            self._live.mark_stale(self._unread.stale(self._live.stored, complete=state.complete), index)
            self._live.set_condition(going_on=self._is_incomplete(state), notes=_folder_notes(state))
            return self._live.graph

    def snapshot(self) -> IndexSnapshot:
        """State of the index without loading the graph."""
        self._scan_if_due()
        with self._lock, self._project.reading() as index:
            state = self._state(index)
            stale = self._unread.stale(index.generations(), complete=state.complete)
            files = index.skipped_languages(NO_GRAMMAR)
            notes = (*_folder_notes(state), *missing_grammars(files))
            return IndexSnapshot(state, self._root(state), stale, self._is_incomplete(state), notes)

    def missing_grammars(self) -> tuple[str, ...]:
        """Sentences about files that are not read because their grammars are not installed."""
        with self._project.reading() as index:
            return tuple(missing_grammars(index.skipped_languages(NO_GRAMMAR)))

    def root(self) -> Path | None:
        """The indexed folder, or None if it may not be read here."""
        with self._project.reading() as index:
            return self._root(self._state(index))

    def indexed_root(self) -> Path:
        """The indexed folder, whether or not it may be read here."""
        with self._project.reading() as index:
            return Path(self._state(index).root)

    def _state(self, index: CodeIndex) -> CodeState:
        state = index.state()
        if state is None or not state.root:
            raise NotFound(
                f"no code is indexed in project {self._project.scope.project!r}; run `treering index` in its "
                "repository, or `memory.code.index(path)`"
            )
        return state

    def _root(self, state: CodeState) -> Path | None:
        """The stored root, if reading it was allowed on this machine."""
        root = Path(state.root)
        with self._lock:
            allowed = any(root == each or each in root.parents for each in self._roots)
        return root if allowed and root.is_dir() else None

    def _is_incomplete(self, state: CodeState) -> bool:
        return not state.complete or state.version != reading_version() or self._unread.undecided

    def _scan_if_due(self) -> None:
        """Scan the files if it is due and no other thread is indexing."""
        with self._project.reading() as index:
            root = self._root(self._state(index))
        if root is not None and self._is_scan_due() and self._indexing.acquire(blocking=False):
            began = monotonic()
            try:
                self._scan(root)
            finally:
                self._last_scan = monotonic()
                self._scan_seconds = self._last_scan - began
                self._indexing.release()

    def _is_scan_due(self) -> bool:
        if self._watched:
            return False
        rest = min(self._project.settings.look_seconds, _SCAN_PAUSE * self._scan_seconds)
        return self._last_scan is None or monotonic() - self._last_scan >= rest

    def _scan(self, root: Path) -> None:
        """Read the changes if they are few; otherwise, or if the index cannot be written, only mark them as unread."""
        with self._lock:
            moment = self._unread.moment
        try:
            changes, generation, waiting, complete = self._indexer_at(root).pending()
        except FolderUnavailable:
            self.mark_changed({EVERYTHING})
            return
        with self._lock:
            self._unread.set_scan(changes, generation)
            self._unread.forget_until(moment)
        work = len(changes) + waiting
        if (work or not complete) and work <= self._project.settings.inline_files:
            # If another process is indexing, the store is read-only, or the index is of another folder, the changed
            # files are simply not served.
            with suppress(Conflict, StoreError, InvalidInput, NotFound):
                self._run(root, keeping=True)


def _folder_notes(state: CodeState) -> tuple[str, ...]:
    """A sentence if the indexed folder does not exist on this machine."""
    if Path(state.root).is_dir():
        return ()
    return (f"the indexed folder {state.root} does not exist on this machine; answers are as of its last index",)
