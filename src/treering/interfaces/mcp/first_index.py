"""The first index of a repository, started in the background by the first question about its code."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from treering.core.errors import Conflict, NotFound, StoreUnavailable

if TYPE_CHECKING:
    from treering.code.api import Code
    from treering.code.index.report import IndexProgress
    from treering.memory import Memory


class _ServerClosing(Exception):
    """Raised to stop indexing when the server closes."""


class FirstIndex:
    """Indexes the code of a repository that is not indexed yet, so that agents need not run a command first.

    Only a git repository is indexed without being asked: another folder may be a home folder, for instance.
    """

    def __init__(self, repository: Path | None) -> None:
        self.repository = repository
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._thread: _IndexThread | None = None
        self._ready = False

    def code(self, memory: Memory) -> Code:
        """The code graph after the first index; `Conflict` while that is still running.

        Once indexed, it is used even if parts could not be read or the index was removed since.
        """
        if not self._ready:
            run = self._start(memory)
            if run is not None:
                run.wait(memory.settings.agents.index_wait_seconds)
            self._ready = True
        return memory.code

    def stop(self) -> None:
        """Stop after the next few files; the next index continues from there."""
        self._closing.set()

    def join(self, seconds: float) -> None:
        """Wait until indexing has stopped."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _start(self, memory: Memory) -> _IndexThread | None:
        """The thread that all callers wait for, started again after a failure; None if the index is complete."""
        with self._lock:
            if self._closing.is_set():
                raise StoreUnavailable("the server is closing; connect again")
            if self._thread is None or self._thread.failed:
                if _is_complete(memory):
                    return None
                if self.repository is None:
                    raise NotFound("no code is indexed, and this is not a git repository; run `treering index FOLDER`")
                self._thread = _IndexThread(memory, self.repository, self._closing)
                self._thread.start()
            return self._thread


def _is_complete(memory: Memory) -> bool:
    try:
        return memory.code.status().complete
    except NotFound:
        return False


class _IndexThread(threading.Thread):
    """Indexes a repository; `wait` raises the progress, or the failure."""

    def __init__(self, memory: Memory, repository: Path, closing: threading.Event) -> None:
        super().__init__(name="first-index", daemon=True)
        self._memory, self._repository, self._closing = memory, repository, closing
        self._progress = ""
        self._error: Exception | None = None

    @property
    def failed(self) -> bool:
        return self._error is not None

    def wait(self, seconds: float) -> None:
        self.join(seconds)
        if self._error is not None:
            # Several callers may raise the same error, each with its own traceback.
            raise self._error.with_traceback(None)
        if self.is_alive():
            raise Conflict(f"the code is being indexed for the first time{self._progress}; ask again in a few seconds")

    def run(self) -> None:
        try:
            self._memory.code.index(self._repository, on_progress=self._on_progress)
        except _ServerClosing:
            self._error = StoreUnavailable("the server is closing; connect again")
        except Exception as exc:  # noqa: BLE001 - the end of a thread: `wait` raises it
            self._error = exc

    def _on_progress(self, progress: IndexProgress) -> None:
        if self._closing.is_set():
            raise _ServerClosing
        if progress.total:
            self._progress = f" ({progress.phase.value}, {progress.done} of {progress.total})"
