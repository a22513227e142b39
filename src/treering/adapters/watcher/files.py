"""Watches a folder with `watchfiles`."""

import os
from collections.abc import Iterator
from pathlib import Path
from threading import Event

from watchfiles import Change, watch

from treering.core.errors import FolderUnavailable
from treering.ports.watcher import EVERYTHING

_SOON_MS = 50
# Git's own files change with every command; their effect on the working tree shows in the files there.
_UNWATCHED = frozenset(
    {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", ".mypy_cache", ".ruff_cache", ".treering"}
)

_REPOSITORY = ".git"
"""When it appears or disappears, the files below belong to another repository, or to none."""
_CLONE_RULES = [_REPOSITORY, "info", "exclude"]
"""The ignore rules of one clone of a repository."""


def watched(root: Path, quiet_ms: int, stop: Event) -> Iterator[frozenset[str]]:
    """See `treering.ports.watcher.Watcher`."""
    was_missing = False
    while not stop.is_set():
        try:
            for paths in _watch_while_present(root, quiet_ms, stop):
                yield paths | {EVERYTHING} if was_missing else paths
                was_missing = False
        except FileNotFoundError:
            pass
        except OSError as exc:
            raise FolderUnavailable(
                f"{root} cannot be watched ({exc}); if there are too many folders, raise the system's limit (on "
                "Linux `sysctl fs.inotify.max_user_watches=524288`), or work without: queries check files on their own"
            ) from exc
        was_missing = True
        # While the root is missing, yield empty sets so that the caller can act on the time.
        while not stop.wait(quiet_ms / 1000) and not root.is_dir():
            yield frozenset()


def _watch_while_present(root: Path, quiet_ms: int, stop: Event) -> Iterator[frozenset[str]]:
    """Watch until the root is removed, or replaced by another folder, which the system does not watch."""
    prefix = f"{root}{os.sep}"
    original = _identity(root)

    def matters(_change: Change, path: str) -> bool:
        parts = path.removeprefix(prefix).split(os.sep)
        if parts[-1] == _REPOSITORY or parts[-3:] == _CLONE_RULES:
            return True
        return _UNWATCHED.isdisjoint(parts)

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
        yield frozenset(path.removeprefix(prefix).replace(os.sep, "/") for _, path in changes if path != str(root))
        if _identity(root) != original:
            return


def _identity(root: Path) -> tuple[int, int]:
    status = root.stat()
    return status.st_dev, status.st_ino
