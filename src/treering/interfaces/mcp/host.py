"""The memory that a server hosts, opened by the first call that needs it."""

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
from treering.interfaces.servers.shutdown import CALL_SECONDS

if TYPE_CHECKING:
    from treering.code.api import Code
    from treering.memory import Memory
    from treering.ports.clock import Clock


@dataclass(frozen=True, slots=True)
class Caller:
    """The client of a call: the only one, one of several with a session, or one of several without."""

    session: str | None = None
    is_anonymous: bool = False
    """Whether it cannot be told apart from other clients of this server."""


_ONLY_CLIENT = Caller()
Beside = Callable[["MemoryHost"], Callable[[], None]]
"""Starts what runs beside a server, without delay, and returns the function that ends it."""


def nothing_beside(_host: MemoryHost) -> Callable[[], None]:
    return lambda: None


@dataclass(frozen=True, slots=True)
class CallContext:
    """Context of one call: the memory, the session, and the time."""

    memory: Memory
    session: str
    now: datetime
    first_index: FirstIndex
    is_anonymous: bool = False
    """Whether other clients share its session."""

    @property
    def code(self) -> Code:
        """The code graph of the project; the first use indexes the repository."""
        return self.first_index.code(self.memory)

    def note_injection(self, text: str, ids: Iterable[str], *, via: str) -> None:
        """Note in the audit log that a model received these records in this text."""
        self.memory.injected(ids, via=via, tokens=estimate_tokens(text))

    def from_root(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Paths relative to the repository root; agents pass relative and absolute ones."""
        root = self.first_index.repository
        roots = () if root is None else (root, root.resolve())
        return tuple(_below(path, roots) for path in paths)


def _below(path: str, roots: Iterable[Path]) -> str:
    for root in roots:
        if PurePath(path).is_relative_to(root):
            return PurePath(path).relative_to(root).as_posix()
    return path


class MemoryHost:
    """One project's memory for as long as the server runs. Safe to share between threads.

    It is opened on first use: opening takes longer than a client may wait for the handshake.
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
        self.prepared = threading.Event()
        """Set after the first answer, once what the first call needs is imported."""

    @property
    def memory(self) -> Memory:
        """The memory, opened once; after a failure the next access tries again."""
        with self._lock:
            # Set first, so that a concurrent `close_if_open` waits for the memory that is being opened.
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
        """Import what the first call needs. Opens nothing, so that listing the tools creates no files."""
        with self._lock:
            self._load()
        self.prepared.set()

    @contextmanager
    def call(self, caller: Caller = _ONLY_CLIENT) -> Iterator[CallContext]:
        """The context of a call; `close` waits a little for calls in progress."""
        own = self._session if caller.session is None else f"{self._session}-{caller.session}"
        with self._call_ended:
            self._calls += 1
        try:
            yield CallContext(self.memory, own, self._clock(), self._first_index, caller.is_anonymous)
        finally:
            with self._call_ended:
                self._calls -= 1
                self._call_ended.notify_all()

    def close_if_open(self) -> None:
        """Close, without waiting for imports if nothing is open."""
        self._closed = True
        if self._opening or self._memory is not None:
            self.close()

    def close(self) -> None:
        """Refuse new calls, wait briefly for those in progress, and close the memory."""
        self._closed = True
        deadline = time.monotonic() + self._call_seconds
        self._first_index.stop()
        with self._call_ended:
            self._call_ended.wait_for(lambda: not self._calls, self._call_seconds)
        self._first_index.join(max(0.0, deadline - time.monotonic()))
        with self._lock:
            if self._memory is not None:
                self._memory.close()
                self._memory = None
