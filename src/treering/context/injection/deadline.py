"""Runs work beside its caller, who waits no longer than a deadline."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from threading import Condition, Event, Lock, Thread
from typing import Generic, TypeVar

T = TypeVar("T")
MAX_THREADS = 4  # more work than this waits: a store that hangs holds every thread


class Pending(Generic[T]):
    """A result that is awaited until a deadline. Exactly one side wins: the result, or the end of the wait."""

    def __init__(self) -> None:
        self._done = Event()
        self._lock = Lock()
        self._result: T | None = None
        self._abandoned = False

    @property
    def abandoned(self) -> bool:
        return self._abandoned

    def deliver(self, result: T, before: Callable[[], bool] = lambda: True) -> bool:
        """Hand the result over if `before`, which runs first, agrees; False, without either, if the wait has ended."""
        with self._lock:
            if self._abandoned or not before():
                return False
            self._result = result
            self._done.set()
            return True

    def wait(self, seconds: float) -> T | None:
        """The result; None once the deadline is past."""
        self._done.wait(max(0.0, seconds))
        with self._lock:
            self._abandoned = self._result is None
            return self._result


class BackgroundThreads:
    """A few daemon threads, started on demand. Work must not raise."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._work: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        self._idle = Condition()
        self._threads = self._busy = 0

    def run(self, work: Callable[[], object]) -> None:
        with self._idle:
            self._busy += 1
            if self._busy > self._threads and self._threads < MAX_THREADS:
                self._threads += 1
                Thread(target=self._loop, name=self._name, daemon=True).start()
        self._work.put(work)

    def wait(self, seconds: float) -> None:
        """Wait until everything that was begun is done, at most this long."""
        with self._idle:
            self._idle.wait_for(lambda: not self._busy, timeout=seconds)

    def end(self) -> None:
        """End the threads, each once it is idle."""
        with self._idle:
            for _ in range(self._threads):
                self._work.put(None)
            self._threads = 0

    def _loop(self) -> None:
        while (work := self._work.get()) is not None:
            try:
                work()
            finally:
                with self._idle:
                    self._busy -= 1
                    self._idle.notify_all()
