"""The index of one project in this process, and the files of its index that processes share."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from dataclasses import replace
from threading import Lock, Thread
from typing import TYPE_CHECKING
from weakref import WeakMethod

from treering.adapters.sql.index_files import IndexFiles
from treering.adapters.sql.index_state import IndexState
from treering.adapters.sql.saved_index import MIN_SAVED, SavedIndex
from treering.adapters.sql.unstored_vectors import PendingVectors

if TYPE_CHECKING:
    from sqlalchemy import Connection


class ProjectIndex:
    """The state of one project in this process, shared by its threads, and the files that processes share.

    `connect` opens a connection to the database. The files are only read unless this process `saves`.
    """

    def __init__(
        self, project: tuple[str, str], files: IndexFiles, connect: WeakMethod[Callable[[], Connection]], *, saves: bool
    ) -> None:
        self.lock = Lock()
        self.state = IndexState()
        self.unstored = PendingVectors()
        self.problem = ""
        """Why the index could not be saved; it is not tried again."""
        self._project = project
        self._connect = connect
        self._files = files
        self._saves = saves
        self._restored = False
        self._replaces = False
        """Whether there were no files that fit the database: the next save writes all of them."""
        self._saving: Thread | None = None
        self._left_unsaved = 0

    def forget_spaces(self, *, but: Collection[str]) -> None:
        with self.lock:
            spaces = {name: space for name, space in self.state.spaces.items() if name in but}
            self.state = replace(self.state, spaces=spaces)

    def forget_files(self) -> None:
        """After the files were removed: everything is to be saved again."""
        self.wait()
        with self.lock:
            self.state = self.state.without_files()
            self._left_unsaved = 0

    def restore(self, connection: Connection) -> None:
        """Begin with the saved index. The caller holds the lock."""
        if self._restored:
            return
        self._restored = True
        self.state = SavedIndex(connection, self._project, self._files).restore()
        self._replaces = not len(self.state.segments)

    def save(self) -> None:
        """Save the index in the background if enough of it is in no file. The caller holds the lock."""
        if not self._saves or self.problem or self.state.unsaved - self._left_unsaved < MIN_SAVED:
            return
        if self._saving is None or not self._saving.is_alive():
            thread = Thread(target=self._save, name="treering-index")
            thread.start()
            self._saving = thread

    def wait(self) -> None:
        """Wait until nothing is being saved."""
        if self._saving is not None:
            self._saving.join()

    def _save(self) -> None:
        state = self.state
        try:
            saved = self._saved(state)
        except Exception as exc:  # noqa: BLE001 - the thread ends here; the search that started it has its results
            self.problem = str(exc) or type(exc).__name__
            logging.getLogger(__name__).warning("the search index cannot be saved (%s); first searches are slower", exc)
            return
        with self.lock:
            if saved is not None:
                self.state = self.state.with_files_of(state, saved)
            self._left_unsaved = self.state.unsaved

    def _saved(self, state: IndexState) -> IndexState | None:
        """The state with its parts in files; None if there is nothing to save, or if another process is saving."""
        connect = self._connect()
        with self._files.saving() as mine:
            if not mine or connect is None or not (self._replaces or self._files.is_worth(state, MIN_SAVED)):
                return None
            with connect() as connection, connection.begin():
                save = SavedIndex(connection, self._project, self._files).prepare(state)
            saved = save() if save is not None else None
            self._replaces = self._replaces and saved is None
            return saved
