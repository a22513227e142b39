"""The first reading of a repository's code: begun by the first question about it, in the background."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from treering.core.errors import Conflict, NotFound, StoreUnavailable

if TYPE_CHECKING:
    from treering.code.api import Code
    from treering.code.index.report import IndexProgress
    from treering.memory import Memory


class Closing(Exception):
    """The server closes while code is being read."""


class FirstIndex:
    """Reads the code of a repository once, where nobody has. An agent that asks for the impact of a change wants to
    hear of the change, and not of a command to run first.

    Only a repository is read unasked: a folder that is none may be anything, such as somebody's home.
    """

    def __init__(self, repository: Path | None) -> None:
        self.repository = repository
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._reading: _Reading | None = None
        self._ready = False

    def code(self, memory: Memory) -> Code:
        """The code, once it can be asked about; `Conflict` while it is still being read for the first time.

        What was read once is asked even where a part of it could not be read, or somebody has taken it away since.
        """
        if not self._ready:
            reading = self._begun(memory)
            if reading is not None:
                reading.wait(memory.settings.agents.index_wait_seconds)
            self._ready = True
        return memory.code

    def stop(self) -> None:
        """Read no further than the next few files; what was read stays, and the next one goes on from there."""
        self._closing.set()

    def join(self, seconds: float) -> None:
        """Wait until nobody reads."""
        if self._reading is not None:
            self._reading.join(seconds)

    def _begun(self, memory: Memory) -> _Reading | None:
        """The one reading that all who ask wait for; None where none is needed. After one that failed, a new one."""
        with self._lock:
            if self._closing.is_set():
                raise StoreUnavailable("the server is closing; connect again")
            if self._reading is None or self._reading.failed:
                if _complete(memory):
                    return None
                if self.repository is None:
                    raise NotFound(
                        "no code is indexed, and this is not a git repository; `treering index FOLDER` reads one"
                    )
                self._reading = _Reading(memory, self.repository, self._closing)
                self._reading.start()
            return self._reading


def _complete(memory: Memory) -> bool:
    try:
        return memory.code.status().complete
    except NotFound:
        return False


class _Reading(threading.Thread):
    """One reading of a repository. Whoever waits for it hears how far it is, or why it failed."""

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
            # Several may wait for it, and each raises it from a place of its own.
            raise self._error.with_traceback(None)
        if self.is_alive():
            raise Conflict(f"the code is being read for the first time{self._progress}; ask again in some seconds")

    def run(self) -> None:
        try:
            self._memory.code.index(self._repository, on_progress=self._heard)
        except Closing:
            self._error = StoreUnavailable("the server is closing; connect again")
        except Exception as exc:  # noqa: BLE001 - the end of a thread: whoever waits for it raises it
            self._error = exc

    def _heard(self, progress: IndexProgress) -> None:
        if self._closing.is_set():
            raise Closing
        if progress.total:
            self._progress = f" ({progress.phase.value}, {progress.done} of {progress.total})"
