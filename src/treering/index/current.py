"""The graph in memory as the files are now: what changed on disk is read, or at least not served any more."""

import threading
from collections.abc import Collection
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from treering.core.errors import Conflict, InvalidInput, NotFound, StoreError
from treering.index.desk import Desk
from treering.index.live import LiveGraph
from treering.index.pipeline import Indexer, nobody
from treering.index.summary import Indexed
from treering.index.updating import Tell
from treering.index.version import reading_version
from treering.index.which_language import language_named
from treering.ports.code import CodeState

if TYPE_CHECKING:
    from treering.index.graph import CodeGraph


class Current:
    """One project's graph for the threads of one process. Whoever asks gets it as of a moment ago."""

    def __init__(self, desk: Desk, roots: Collection[Path]) -> None:
        """`roots` are the folders that may be read without being named: what is indexed there is looked at."""
        self._desk = desk
        self._roots = set(roots)
        self._lock = threading.RLock()
        self._indexer: Indexer | None = None
        self._live = LiveGraph(desk.settings.in_place)
        self._looked: float | None = None
        self._watched = False
        self._changed: set[str] = set()

    def index(self, root: Path, tell: Tell = nobody) -> Indexed:
        with self._lock:
            done = self.indexer(root).run(tell)
            self._roots.add(root)
            self._looked, self._changed = monotonic(), set()
            return done

    def indexer(self, root: Path) -> Indexer:
        with self._lock:
            if self._indexer is None or self._indexer.desk.root != root:
                self._indexer = Indexer(self._desk.at(root))
            return self._indexer

    def graph(self) -> "CodeGraph":
        """`NotFound` where nothing was indexed."""
        with self._lock:
            state = self._state()
            root = self._root(state)
            if root is not None and self._is_time():
                self._look(self.indexer(root))
                state = self._state()
            with self._desk.reading() as index:
                self._live.refresh(index, state)
                self._live.mark(self._changed, index)
            if state.version != reading_version():
                self._live.indexing(True)
            return self._live.graph

    def root(self) -> Path | None:
        """The folder that was indexed, where it may be read."""
        return self._root(self._state())

    def heard(self, paths: Collection[str]) -> None:
        """Files changed: nothing of theirs is served until they are read again."""
        with self._lock:
            for path in paths:
                if language_named(path[path.rfind("/") + 1 :]) is not None:
                    self._changed.add(path)
                else:
                    self._changed.update(self._live.below(path))

    def catch_up(self, root: Path, hints: Collection[str] | None, tell: Tell = nobody) -> Indexed | None:
        """Read what was heard of, or everything that changed; None where another process indexes now.

        From here on nobody needs to look by themselves.
        """
        with self._lock:
            try:
                done = self.indexer(root).run(tell, hints=hints)
            except Conflict:
                return None
            self._roots.add(root)
            self._watched, self._changed = True, set()
            return done

    def unwatched(self) -> None:
        """Nobody tells of changes any more."""
        with self._lock:
            self._watched, self._looked = False, None

    def _state(self) -> CodeState:
        with self._desk.reading() as index:
            state = index.state()
        if state is None or not state.generation:
            raise NotFound(
                f"no code is indexed in project {self._desk.scope.project!r}; run `treering index` in its repository, "
                "or `memory.code.index(path)`"
            )
        return state

    def _root(self, state: CodeState) -> Path | None:
        """What the store names is read only where that was allowed on this machine."""
        root = Path(state.root)
        allowed = any(root == each or each in root.parents for each in self._roots)
        return root if allowed and root.is_dir() else None

    def _is_time(self) -> bool:
        if self._watched:
            return False
        return self._looked is None or monotonic() - self._looked >= self._desk.settings.look_seconds

    def _look(self, indexer: Indexer) -> None:
        """Read what changed where it is little; else it is left out, as it is where others write or nobody may."""
        changes = indexer.pending()
        self._changed = {file.path for file in changes.changed} | set(changes.gone)
        if self._changed and len(self._changed) <= self._desk.settings.inline_files:
            try:
                indexer.run()
                self._changed = set()
            except (Conflict, StoreError):
                # Somebody else is at it, or the store cannot be written: what changed is not served.
                pass
        self._looked = monotonic()


def chosen_root(path: str | Path | None, usual: Path | None) -> Path:
    """The folder that is meant, as it really stands on disk."""
    if path is None and usual is None:
        raise InvalidInput("the working directory cannot be read; name the folder that is to be indexed")
    try:
        root = Path(path if path is not None else str(usual)).expanduser().resolve()
    except (OSError, RuntimeError) as exc:
        raise InvalidInput(f"{path} cannot be found ({exc}); name the root of a project") from exc
    if not root.is_dir():
        raise InvalidInput(f"{root} is no folder that can be read; name the root of a project")
    return root
