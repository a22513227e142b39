"""Where agents are served: the memory of one project, opened when the first of them needs it."""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from treering.core.errors import StoreUnavailable
from treering.interfaces.mcp.first_index import FirstIndex
from treering.memory import Memory
from treering.ports.clock import Clock

if TYPE_CHECKING:
    from treering.index.asking.verbs import Code

_CALL_SECONDS = 1.0
"""How long closing waits for calls that work. A longer one is cut off, as by a power cut."""


@dataclass(frozen=True, slots=True)
class Call:
    """What one call works with: the memory, the session that it belongs to, and the moment."""

    memory: Memory
    session: str
    now: datetime
    first_index: FirstIndex

    @property
    def code(self) -> "Code":
        """The code of the project; where nobody has read it yet, it is read now."""
        return self.first_index.code(self.memory)

    def from_root(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Files as memory knows them: of what lies below the repository, the way from there. Agents name either."""
        root = self.first_index.repository
        places = () if root is None else (root, root.resolve())
        return tuple(_below(path, places) for path in paths)


def _below(path: str, places: Iterable[Path]) -> str:
    for place in places:
        if PurePath(path).is_relative_to(place):
            return PurePath(path).relative_to(place).as_posix()
    return path


class Desk:
    """One project's memory for as long as the server runs. Safe to share between threads.

    Opening takes longer than a client may wait for a greeting, so it is put off until somebody needs the memory.
    """

    def __init__(
        self,
        open_memory: Callable[[], Memory],
        *,
        session: str,
        clock: Clock,
        repository: Path | None = None,
        load: Callable[[], None] = lambda: None,
    ) -> None:
        self._open = open_memory
        self._load = load
        self._session = session
        self._clock = clock
        self._first_index = FirstIndex(repository)
        self._memory: Memory | None = None
        self._lock = threading.Lock()
        self._calls = 0
        self._call_ended = threading.Condition()
        self._closed = False

    @property
    def memory(self) -> Memory:
        """Opened once; where that fails, whoever asks next tries again."""
        with self._lock:
            if self._closed:
                raise StoreUnavailable("the server is closing; connect again")
            if self._memory is None:
                self._memory = self._open()
            return self._memory

    def prepare(self) -> None:
        """Load what the first call will need. Nothing is opened: whoever only looks at the tools leaves no trace."""
        with self._lock:
            self._load()

    def call(self, session: str | None = None) -> Call:
        """What a call works with. Connections that have a session of their own name it."""
        own = self._session if session is None else f"{self._session}-{session}"
        return Call(self.memory, own, self._clock(), self._first_index)

    @contextmanager
    def at_work(self, session: str | None = None) -> Iterator[Call]:
        """The same for as long as the call works: closing waits for it a little."""
        with self._call_ended:
            self._calls += 1
        try:
            yield self.call(session)
        finally:
            with self._call_ended:
                self._calls -= 1
                self._call_ended.notify_all()

    def close_if_open(self) -> None:
        """Close, unless that means waiting for what is only being loaded or opened."""
        if self._memory is not None:
            self.close()

    def close(self) -> None:
        """Take no more calls, and let those that work come to their end. Everything acknowledged is stored already."""
        self._closed = True
        self._first_index.close()
        with self._call_ended:
            self._call_ended.wait_for(lambda: not self._calls, _CALL_SECONDS)
        with self._lock:
            if self._memory is not None:
                self._memory.close()
                self._memory = None
