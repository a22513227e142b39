"""Follows the files of a project: stale at once when they change, read again when they come to rest."""

from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from threading import Event
from time import monotonic

from treering.core.errors import Conflict, FolderUnavailable, StoreFull, StoreUnavailable, TreeringError
from treering.ports.watcher import EVERYTHING, Watcher

_LONGEST = 10
"""Times the debounce after which files that never come to rest are read all the same."""
_LONGEST_PAUSE = 30.0
"""Seconds between two attempts at what goes wrong: a server that is started again is back within that."""

CatchUp = Callable[[Collection[str] | None], bool]
"""Reads paths that changed, or whatever did; False where that must be done again."""

PASSING = (Conflict, StoreUnavailable, StoreFull, FolderUnavailable)
"""What may be over in a while: somebody else indexes, the store is busy or full, the root is being moved."""


def asking(watcher: Watcher, ask: Callable[[], None], seconds: float, now: Callable[[], float] = monotonic) -> Watcher:
    """This watcher, which calls `ask` every so many seconds, also while nothing changes."""

    def watched(root: Path, quiet_ms: int, stop: Event) -> Iterator[frozenset[str]]:
        last = now()
        for paths in watcher(root, quiet_ms, stop):
            if now() - last >= seconds:
                ask()
                last = now()
            yield paths

    return watched


class Stopped(Exception):
    """Whoever reads is asked to stop: what is stored so far is right, and the next run goes on there."""


class _Attempts:
    """Says when to try again: at once, and ever later while it goes wrong."""

    def __init__(self, first_pause: float, now: Callable[[], float]) -> None:
        self._first, self._now = first_pause, now
        self._pause = self._next = 0.0
        self._told = ""

    @property
    def is_time(self) -> bool:
        return self._now() >= self._next

    def succeeded(self) -> None:
        self._pause = self._next = 0.0
        self._told = ""

    def failed(self, why: TreeringError, trouble: Callable[[TreeringError], object]) -> None:
        """Whoever listens hears of it once."""
        if type(why).__name__ != self._told:
            self._told = type(why).__name__
            trouble(why)
        self._pause = min(max(2 * self._pause, self._first), _LONGEST_PAUSE)
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
    """Until `stop` is set. `changed` hears of paths at once, `read` when they have come to rest.

    Everything is read once the watcher is at it: what changes in between is told of twice, not never. What goes wrong
    and may pass is told to `trouble`, and tried again.
    """
    waiting: set[str] = set()
    since, missed = 0.0, True
    attempts = _Attempts(quiet_ms / 1000, now)
    for paths in watcher(root, quiet_ms, stop):
        if paths:
            since = since if waiting else now()
            waiting |= paths
            missed |= EVERYTHING in paths
            changed(paths)
        restless = bool(waiting) and now() - since > _LONGEST * quiet_ms / 1000
        due = restless or (not paths and (waiting or missed))
        if stop.is_set() or not due or not attempts.is_time:
            continue
        try:
            missed = not read(None if missed else frozenset(waiting))
        except PASSING as exc:
            missed = True
            attempts.failed(exc, trouble)
        else:
            attempts.succeeded()
        waiting.clear()
