"""Follows the files of a project: stale at once when they change, read again when they come to rest."""

from collections.abc import Callable, Collection
from pathlib import Path
from threading import Event
from time import monotonic

from treering.ports.watching import Watcher

_LONGEST = 10
"""Times the debounce after which files that never come to rest are read all the same."""

CatchUp = Callable[[Collection[str] | None], bool]
"""Reads paths that changed, or whatever did; False where that must be done again."""


class Stopped(Exception):
    """Whoever reads is asked to stop: what is stored so far is right, and the next run goes on there."""


def follow(
    root: Path,
    watcher: Watcher,
    stop: Event,
    quiet_ms: int,
    *,
    changed: Callable[[Collection[str]], None],
    read: CatchUp,
) -> None:
    """Until `stop` is set. `changed` hears of paths at once, `read` when they have come to rest.

    Everything is read once the watcher is at it: what changes in between is told of twice, not never.
    """
    waiting: set[str] = set()
    since, missed = 0.0, True
    for paths in watcher(root, quiet_ms, stop):
        if paths:
            since = since if waiting else monotonic()
            waiting |= paths
            changed(paths)
        restless = bool(waiting) and monotonic() - since > _LONGEST * quiet_ms / 1000
        if stop.is_set() or not (restless or (not paths and (waiting or missed))):
            continue
        missed = not read(None if missed else frozenset(waiting))
        waiting.clear()
