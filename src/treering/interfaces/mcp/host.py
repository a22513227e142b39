"""Where agents are served: the memory of one project, opened when the first of them needs it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from treering.core.errors import StoreUnavailable
from treering.core.tokens import estimate_tokens
from treering.interfaces.mcp.first_index import FirstIndex
from treering.interfaces.mcp.shutdown import CALL_SECONDS

if TYPE_CHECKING:
    from treering.code.api import Code
    from treering.memory import Memory
    from treering.ports.clock import Clock


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: the only client, one of many whose session the transport keeps, or one of many without any."""

    session: str | None = None
    among_others: bool = False
    """Whether nothing tells it from other clients of this server."""


_ALONE = Caller()


@dataclass(frozen=True, slots=True)
class Call:
    """What one call works with: the memory, the session that it belongs to, and the moment."""

    memory: Memory
    session: str
    now: datetime
    first_index: FirstIndex
    among_others: bool = False
    """Whether other clients are of the same session."""

    @property
    def code(self) -> Code:
        """The code of the project; where nobody has read it yet, it is read now."""
        return self.first_index.code(self.memory)

    def handed_over(self, text: str, ids: Iterable[str], *, via: str) -> None:
        """Note in the audit log that a model is given these records, in this text."""
        self.memory.injected(ids, via=via, tokens=estimate_tokens(text))

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
        call_seconds: float = CALL_SECONDS,
    ) -> None:
        self._open = open_memory
        self._load = load
        self._session = session
        self._clock = clock
        self._first_index = FirstIndex(repository)
        self._call_seconds = call_seconds
        self._memory: Memory | None = None
        self._opening = False
        self._lock = threading.Lock()
        self._calls = 0
        self._call_ended = threading.Condition()
        self._closed = False

    @property
    def memory(self) -> Memory:
        """Opened once; where that fails, whoever asks next tries again."""
        with self._lock:
            # Said before anything is asked, so that whoever closes meanwhile waits for what is opened.
            self._opening = True
            try:
                if self._memory is None and not self._closed:
                    self._memory = self._open()
            finally:
                self._opening = False
            if self._memory is None or self._closed:
                raise StoreUnavailable("the server is closing; connect again")
            return self._memory

    def prepare(self) -> None:
        """Load what the first call will need. Nothing is opened: whoever only looks at the tools leaves no trace."""
        with self._lock:
            self._load()

    @contextmanager
    def at_work(self, caller: Caller = _ALONE) -> Iterator[Call]:
        """What a call works with, for as long as it does: closing waits for it a little."""
        own = self._session if caller.session is None else f"{self._session}-{caller.session}"
        with self._call_ended:
            self._calls += 1
        try:
            yield Call(self.memory, own, self._clock(), self._first_index, caller.among_others)
        finally:
            with self._call_ended:
                self._calls -= 1
                self._call_ended.notify_all()

    def close_if_open(self) -> None:
        """Close, unless that means waiting for what is only being loaded."""
        self._closed = True
        if self._opening or self._memory is not None:
            self.close()

    def close(self) -> None:
        """Take no more calls, and let those that work come to their end. Everything acknowledged is stored already."""
        self._closed = True
        give_up = time.monotonic() + self._call_seconds
        self._first_index.stop()
        with self._call_ended:
            self._call_ended.wait_for(lambda: not self._calls, self._call_seconds)
        self._first_index.join(max(0.0, give_up - time.monotonic()))
        with self._lock:
            if self._memory is not None:
                self._memory.close()
                self._memory = None
