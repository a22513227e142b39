"""A thread that does what this process has put into the queue, while there is something to do.

It begins with the first job that is queued, ends when there was nothing to do for a while, and begins again with the
next one; while a failed job waits for its next attempt, it sleeps. Whatever goes wrong in a job is kept with the job,
what goes wrong outside of one for `check`.
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

# How long a fork waits for a transaction of the thread to end; the child could not use the database otherwise.
_FORK_SECONDS = 2.0


class Background:
    """Runs `work` in a thread of its own from `wake` on, until it returns or `stop` is set."""

    def __init__(self, work: Callable[[], None], stop: threading.Event, gate: "Gate", close_seconds: float) -> None:
        self._work = work
        self._stop = stop
        self._gate = gate
        self._close_seconds = close_seconds
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._woken = False
        self._bell = threading.Event()
        self._error: str | None = None
        self._troubled = False
        _look_after(self)

    @property
    def running(self) -> bool:
        thread = self._thread
        return thread is not None and thread.is_alive()

    def wake(self) -> None:
        """There is something to do."""
        if self._stop.is_set() or threading.current_thread() is self._thread:
            return
        with self._starting:
            self._woken = True
            self._bell.set()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="treering-background", daemon=True)
                self._thread.start()

    def pause(self, seconds: float) -> None:
        """Sleep in the thread, until there is something to do."""
        if not self._stop.is_set():
            self._bell.wait(seconds)
        self._bell.clear()

    def trouble(self, error: Exception) -> None:
        """Something went wrong that is no job's own."""
        self._error, self._troubled = error_text(error), True

    def check(self) -> Check:
        """Whether all went well since the thread last began."""
        if self._error is None:
            return Check("background", True, "at work" if self.running else "nothing to do")
        return Check(
            "background", False, self._error, "put right what stops it; the next job that is queued tries again"
        )

    def close(self) -> None:
        """Stop, and wait a little: what the thread is at goes back to the queue, or is taken over later."""
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
        """In a child there is no thread, and no lock that one might hold."""
        getattr(self._stop, "_at_fork_reinit", lambda: None)()
        self._gate.renew()
        self._starting = threading.Lock()
        self._bell = threading.Event()
        self._thread = None
        self._woken = False

    def _run(self) -> None:
        while True:
            self._woken = self._troubled = False
            try:
                self._work()
            except Exception as exc:  # noqa: BLE001 - a thread is a door, and behind it is nobody who could be told
                # Jobs keep their errors; here the database is closed or away. The next job that is queued begins anew.
                self._woken = False
                self.trouble(exc)
            if not self._troubled:
                self._error = None
            with self._starting:
                if not self._woken or self._stop.is_set():
                    self._thread = None
                    return


class Gate:
    """Transactions pass while it is open: a process that forks shuts it first, and waits for the one inside."""

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
        """The store, with every transaction behind this gate."""
        return cast(Store, _Guarded(store, lambda: self._lock))


class _Guarded:
    def __init__(self, store: Store, lock: Callable[[], Any]) -> None:
        self._store = store
        self._lock = lock

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        return self._passing(found) if callable(found) else found

    def _passing(self, verb: Callable[..., Any]) -> Callable[..., Any]:
        def passed(*given: Any, **named: Any) -> Any:
            with self._lock():
                return verb(*given, **named)

        return passed

    @contextmanager
    def transaction(self, scope: Scope, now: datetime) -> Iterator[Transaction]:
        with self._lock(), self._store.transaction(scope, now) as tx:
            yield tx

    @contextmanager
    def reading(self, scope: Scope, now: datetime) -> Iterator[Transaction]:
        with self._lock(), self._store.reading(scope, now) as tx:
            yield tx


_all: WeakSet[Background] = WeakSet()
_registered: list[bool] = []


def _look_after(background: Background) -> None:
    """At forks and at the end of the process. Hooks before a fork run in reverse: this one goes before the store's."""
    _all.add(background)
    if _registered:
        return
    _registered.append(True)
    atexit.register(_each, "close")
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=lambda: _each("before_fork"),
            after_in_parent=lambda: _each("after_fork_in_parent"),
            after_in_child=lambda: _each("after_fork"),
        )


def _each(verb: str) -> None:
    for background in list(_all):
        getattr(background, verb)()
