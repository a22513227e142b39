"""Watches a folder with `watchfiles`."""

import os
from collections.abc import Iterator
from pathlib import Path
from threading import Event

from watchfiles import Change, watch

_SOON_MS = 50
# Git's own files change with every command; what they mean for the working tree is told by the files there.
_UNWATCHED = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", ".mypy_cache", ".ruff_cache"})


def watched(root: Path, quiet_ms: int, stop: Event) -> Iterator[frozenset[str]]:
    """See `treering.ports.watching.Watcher`."""
    beginning = f"{root}{os.sep}"

    def matters(_change: Change, path: str) -> bool:
        return _UNWATCHED.isdisjoint(path.removeprefix(beginning).split(os.sep))

    for changes in watch(
        root,
        watch_filter=matters,
        debounce=quiet_ms,
        step=_SOON_MS,
        stop_event=stop,
        rust_timeout=quiet_ms,
        yield_on_timeout=True,
        ignore_permission_denied=True,
    ):
        yield frozenset(path.removeprefix(beginning).replace(os.sep, "/") for _, path in changes if path != str(root))
