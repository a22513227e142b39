"""Watching of a project's files: stale as soon as they change, read again when changes pause."""

from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from threading import Event
from time import monotonic

from treering.core.errors import Conflict, FolderUnavailable, StoreFull, StoreUnavailable, TreeringError
from treering.ports.watcher import EVERYTHING, Watcher

_MAX_WAIT = 10
"""Multiple of the debounce time after which files that keep changing are read anyway."""
_MAX_PAUSE = 30.0
"""Longest pause in seconds between two attempts: a server that restarts is back within it."""

CatchUp = Callable[[Collection[str] | None], bool]
"""Reads the given paths, or all changes for None; returns False if it has to run again."""

TEMPORARY = (Conflict, StoreUnavailable, StoreFull, FolderUnavailable)
"""Errors that may resolve themselves: another process indexes, the store is busy or full, the root is being moved."""


def with_polling(
    watcher: Watcher, poll: Callable[[], None], seconds: float, now: Callable[[], float] = monotonic
) -> Watcher:
    """A watcher that also calls `poll` every `seconds` seconds, even while nothing changes."""

    def watched(root: Path, quiet_ms: int, stop: Event) -> Iterator[frozenset[str]]:
        last = now()
        for paths in watcher(root, quiet_ms, stop):
            if now() - last >= seconds:
                poll()
                last = now()
            yield paths

    return watched


class WatchStopped(Exception):
    """Raised to stop a run; the store is consistent, and the next run continues there."""


class _Retries:
    """Decides when to try again: immediately at first, then with growing pauses."""

    def __init__(self, first_pause: float, now: Callable[[], float]) -> None:
        self._first, self._now = first_pause, now
        self._pause = self._next = 0.0
        self._reported = ""

    @property
    def is_due(self) -> bool:
        return self._now() >= self._next

    def succeeded(self) -> None:
        self._pause = self._next = 0.0
        self._reported = ""

    def failed(self, why: TreeringError, trouble: Callable[[TreeringError], object]) -> None:
        """Report an error once, not on every attempt."""
        if type(why).__name__ != self._reported:
            self._reported = type(why).__name__
            trouble(why)
        self._pause = min(max(2 * self._pause, self._first), _MAX_PAUSE)
        self._next = self._now() + self._pause


def follow(
    root: Path,
    watcher: Watcher,
    stop: Event,
    quiet_ms: int,
    *,
    changed: Callable[[Collection[str]], None],
    read: CatchUp,
    trouble: Callable[[TreeringError], object],
    now: Callable[[], float] = monotonic,
) -> None:
    """Run until `stop` is set: call `changed` with paths at once, and `read` when changes pause.

    Everything is read once after the watcher has started, so that no change in between is missed. Temporary errors are
    passed to `trouble`, and the reading is tried again.
    """
    waiting: set[str] = set()
    since, missed = 0.0, True
    attempts = _Retries(quiet_ms / 1000, now)
    for paths in watcher(root, quiet_ms, stop):
        if paths:
            since = since if waiting else now()
            waiting |= paths
            missed |= EVERYTHING in paths
            changed(paths)
        restless = bool(waiting) and now() - since > _MAX_WAIT * quiet_ms / 1000
        due = restless or (not paths and (waiting or missed))
        if stop.is_set() or not due or not attempts.is_due:
            continue
        try:
            missed = not read(None if missed else frozenset(waiting))
        except TEMPORARY as exc:
            missed = True
            attempts.failed(exc, trouble)
        else:
            attempts.succeeded()
        waiting.clear()
