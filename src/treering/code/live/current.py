"""The graph in memory as the files are now: what changed on disk is read, or at least not served any more."""

from __future__ import annotations

import threading
from collections.abc import Collection
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from treering.code.build.report import nobody
from treering.code.build.version import reading_version
from treering.code.files.roots import still_indexed
from treering.code.live.unread_files import Unread
from treering.code.locations.search import Seen
from treering.core.errors import Conflict, FolderUnavailable, InvalidInput, NotFound, StoreError
from treering.ports.watcher import EVERYTHING

if TYPE_CHECKING:
    from treering.code.build.file_cache import Changes
    from treering.code.build.indexer import Indexer
    from treering.code.build.project import Desk
    from treering.code.build.report import Indexed
    from treering.code.build.update import Tell
    from treering.code.graph import CodeGraph
    from treering.code.live.live_graph import LiveGraph
    from treering.ports.code import CodeIndex, CodeState

MAX_IN_PLACE = 200  # files changed in the graph in memory; above it, loading the whole graph is quicker

_REST = 10
"""Times what the last look took until the next: who asks again and again spends a tenth of it looking, not more."""


class Current:
    """One project's graph for the threads of one process. Whoever asks gets it as of a moment ago.

    One thread indexes at a time. Nobody who asks waits for it: what is not read yet is left out of answers, which say
    so.
    """

    def __init__(self, desk: Desk, roots: Collection[Path]) -> None:
        """`roots` are the folders that may be read without being named: what is indexed there is looked at."""
        self._desk = desk
        self._roots = set(roots)
        self._indexing = threading.Lock()
        """Held by the thread that indexes, which may take the other lock as well, never the other way round."""
        self._indexer: Indexer | None = None
        self._lock = threading.RLock()
        """Held for the graph in memory, and for what is known of the files."""
        self._unread = Unread()
        self._looked: float | None = None
        self._look_took = 0.0
        self._watched = False

    @cached_property
    def _live(self) -> LiveGraph:
        from treering.code.live.live_graph import LiveGraph

        return LiveGraph(MAX_IN_PLACE)

    # Indexing

    def index(self, root: Path, tell: Tell = nobody, *, replace: bool = False) -> Indexed:
        with self._indexing:
            done = self._run(root, tell, replace=replace)
            self._looked = monotonic()
            return done

    def catch_up(
        self, root: Path, hints: Collection[str] | None, tell: Tell = nobody, *, replace: bool = False
    ) -> Indexed:
        """Read what was heard of, or everything that changed. From here on nobody needs to look by themselves.

        `NotFound` or `InvalidInput` where the index was forgotten or replaced since the last time.
        """
        with self._indexing:
            done = self._run(root, tell, hints, replace=replace, keeping=self._watched)
            self._watched = True
            return done

    @property
    def watched(self) -> bool:
        """Whether all that changes is told of."""
        return self._watched

    def keep(self, root: Path) -> None:
        """`NotFound` or `InvalidInput` where what is watched was forgotten or replaced, though no file changed."""
        if not self._watched:
            return
        # A store that cannot be asked now is asked the next time.
        with suppress(StoreError), self._desk.reading() as index:
            state = index.state()
            still_indexed("" if state is None else state.root, root, self._desk.scope.project)

    def heard(self, paths: Collection[str]) -> None:
        """Files changed: nothing of theirs is served until they are read again."""
        with self._lock:
            self._unread.hear(paths)

    def unwatched(self) -> None:
        """Nobody tells of changes any more."""
        self._watched, self._looked = False, None

    def _run(
        self,
        root: Path,
        tell: Tell = nobody,
        hints: Collection[str] | None = None,
        *,
        replace: bool = False,
        keeping: bool = False,
    ) -> Indexed:
        with self._lock:
            moment = self._unread.moment
        indexer = self._indexer_at(root)
        done = indexer.run(tell, hints=hints, replace=replace, keeping=keeping, outstanding=self._found)
        with self._lock:
            self._roots.add(root)
            self._unread.read(moment)
        return done

    def _indexer_at(self, root: Path) -> Indexer:
        if self._indexer is None or self._indexer.desk.root != root:
            from treering.code.build.indexer import Indexer

            self._indexer = Indexer(self._desk.at(root))
        return self._indexer

    def _found(self, changes: Changes, generation: int) -> None:
        with self._lock:
            self._unread.find(changes, generation)

    # Asking

    def graph(self) -> CodeGraph:
        """`NotFound` where nothing was indexed."""
        self._look_where_it_is_time()
        with self._lock, self._desk.reading() as index:
            state = self._state(index)
            self._live.refresh(index, state)
            self._live.mark(self._unread.stale(self._live.stored, complete=state.complete), index)
            self._live.indexing(self._is_incomplete(state))
            return self._live.graph

    def seen(self) -> Seen:
        """How the index stands, for whoever does not need its graph."""
        self._look_where_it_is_time()
        with self._lock, self._desk.reading() as index:
            state = self._state(index)
            stale = self._unread.stale(index.generations(), complete=state.complete)
            return Seen(state, self._root(state), stale, self._is_incomplete(state))

    def root(self) -> Path | None:
        """The folder that was indexed, where it may be read."""
        with self._desk.reading() as index:
            return self._root(self._state(index))

    def held(self) -> Path:
        """The folder that was indexed, whether or not it may be read here."""
        with self._desk.reading() as index:
            return Path(self._state(index).root)

    def _state(self, index: CodeIndex) -> CodeState:
        state = index.state()
        if state is None or not state.root:
            raise NotFound(
                f"no code is indexed in project {self._desk.scope.project!r}; run `treering index` in its repository, "
                "or `memory.code.index(path)`"
            )
        return state

    def _root(self, state: CodeState) -> Path | None:
        """What the store names is read only where that was allowed on this machine."""
        root = Path(state.root)
        with self._lock:
            allowed = any(root == each or each in root.parents for each in self._roots)
        return root if allowed and root.is_dir() else None

    def _is_incomplete(self, state: CodeState) -> bool:
        return not state.complete or state.version != reading_version() or self._unread.undecided

    def _look_where_it_is_time(self) -> None:
        """Not where somebody is at it: they tell what they find."""
        with self._desk.reading() as index:
            root = self._root(self._state(index))
        if root is not None and self._is_time() and self._indexing.acquire(blocking=False):
            began = monotonic()
            try:
                self._look(root)
            finally:
                self._looked = monotonic()
                self._look_took = self._looked - began
                self._indexing.release()

    def _is_time(self) -> bool:
        if self._watched:
            return False
        rest = min(self._desk.settings.look_seconds, _REST * self._look_took)
        return self._looked is None or monotonic() - self._looked >= rest

    def _look(self, root: Path) -> None:
        """Read what changed where it is little; else it is left out, as it is where others write or nobody may."""
        with self._lock:
            moment = self._unread.moment
        try:
            changes, generation, waiting, complete = self._indexer_at(root).pending()
        except FolderUnavailable:
            self.heard({EVERYTHING})
            return
        with self._lock:
            self._unread.find(changes, generation)
            self._unread.read(moment)
        work = len(changes) + waiting
        if (work or not complete) and work <= self._desk.settings.inline_files:
            # Where somebody else is at it, or the store cannot be written, what changed is not served.
            # So it is where the index is not of this folder any more.
            with suppress(Conflict, StoreError, InvalidInput, NotFound):
                self._run(root, keeping=True)
