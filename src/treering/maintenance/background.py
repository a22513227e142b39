"""A background thread that runs the jobs queued by this process.

It starts with the first queued job, ends after a while without jobs, and starts again with the next one. It sleeps
while a failed job waits for its next attempt. Errors in a job are stored with the job; `check` shows all others.
"""

import atexit
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, cast
from weakref import WeakSet

from treering.core.scope import Scope
from treering.jobs.worker import error_text
from treering.ports.store import Check, Store, Transaction

# How long a fork waits for the thread's transaction to end; a child forked within one could not use the database.
_FORK_SECONDS = 2.0


class Background:
    """Runs `work` in its own thread after `wake`, until it returns or `stop` is set."""

    def __init__(
        self, work: Callable[[], None], stop: threading.Event, gate: "TransactionGate", close_seconds: float
    ) -> None:
        self._work = work
        self._stop = stop
        self._gate = gate
        self._close_seconds = close_seconds
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._woken = False
        self._bell = threading.Event()
        self._error: str | None = None
        self._failed = False
        _register(self)

    @property
    def running(self) -> bool:
        thread = self._thread
        return thread is not None and thread.is_alive()

    def wake(self) -> None:
        """Start or wake the thread: a job was queued."""
        if self._stop.is_set() or threading.current_thread() is self._thread:
            return
        with self._starting:
            self._woken = True
            self._bell.set()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="treering-background", daemon=True)
                self._thread.start()

    def pause(self, seconds: float) -> None:
        """Sleep until a job is queued, or for this many seconds. Called in the thread."""
        if not self._stop.is_set():
            self._bell.wait(seconds)
        self._bell.clear()

    def record_error(self, error: Exception) -> None:
        """Record a failure that belongs to no single job."""
        self._error, self._failed = error_text(error), True

    def check(self) -> Check:
        """The last error outside of a job, unless the thread has since run without one."""
        if self._error is None:
            return Check("background", True, "running" if self.running else "idle")
        return Check("background", False, self._error, "fix the cause; the next queued job starts the thread again")

    def close(self) -> None:
        """Stop, and wait up to `close_seconds`; another worker takes over a job that was not done by then."""
        self._stop.set()
        self._bell.set()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(self._close_seconds)

    def before_fork(self) -> None:
        self._gate.shut()

    def after_fork_in_parent(self) -> None:
        self._gate.open()

    def after_fork(self) -> None:
        """In a forked child: replace locks that the thread may hold, since the thread does not exist there."""
        getattr(self._stop, "_at_fork_reinit", lambda: None)()
        self._gate.renew()
        self._starting = threading.Lock()
        self._bell = threading.Event()
        self._thread = None
        self._woken = False

    def _run(self) -> None:
        while True:
            self._woken = self._failed = False
            try:
                self._work()
            except Exception as exc:  # noqa: BLE001 - a thread has no caller to raise to; `check` reports it
                # Jobs store their errors; here the database is closed or unreachable. The next queued job starts again.
                self._woken = False
                self.record_error(exc)
            if not self._failed:
                self._error = None
            with self._starting:
                if not self._woken or self._stop.is_set():
                    self._thread = None
                    return


class TransactionGate:
    """Blocks transactions during a fork, and makes the fork wait for a transaction in progress."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        self._lock = threading.RLock()
        self._shut = False

    def shut(self) -> None:
        self._shut = self._lock.acquire(timeout=_FORK_SECONDS)

    def open(self) -> None:
        if self._shut:
            self._shut = False
            self._lock.release()

    def guarding(self, store: Store) -> Store:
        """The store, with every call passing through this gate."""
        return cast(Store, _GuardedStore(store, lambda: self._lock))


class _GuardedStore:
    def __init__(self, store: Store, lock: Callable[[], Any]) -> None:
        self._store = store
        self._lock = lock

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        return self._guard(found) if callable(found) else found

    def _guard(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def guarded(*args: Any, **kwargs: Any) -> Any:
            with self._lock():
                return method(*args, **kwargs)

        return guarded

    @contextmanager
    def transaction(self, scope: Scope, now: datetime) -> Iterator[Transaction]:
        with self._lock(), self._store.transaction(scope, now) as tx:
            yield tx

    @contextmanager
    def reading(self, scope: Scope, now: datetime, *, for_search: bool = False) -> Iterator[Transaction]:
        with self._lock(), self._store.reading(scope, now, for_search=for_search) as tx:
            yield tx


_all: WeakSet[Background] = WeakSet()
_registered: list[bool] = []


def _register(background: Background) -> None:
    """Register for forks and exit. Hooks before a fork run in reverse order: this one before the store's."""
    _all.add(background)
    if _registered:
        return
    _registered.append(True)
    atexit.register(_call_all, "close")
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=lambda: _call_all("before_fork"),
            after_in_parent=lambda: _call_all("after_fork_in_parent"),
            after_in_child=lambda: _call_all("after_fork"),
        )


def _call_all(method: str) -> None:
    for background in list(_all):
        getattr(background, method)()
