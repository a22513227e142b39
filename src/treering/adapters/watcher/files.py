"""Watches a folder with `watchfiles`."""

import os
from collections.abc import Iterator
from pathlib import Path
from threading import Event

from watchfiles import Change, watch

from treering.core.errors import FolderUnavailable
from treering.ports.watcher import EVERYTHING

_SOON_MS = 50
# Git's own files change with every command; what they mean for the working tree is told by the files there.
_UNWATCHED = frozenset(
    {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", ".mypy_cache", ".ruff_cache", ".treering"}
)

_REPOSITORY = ".git"
"""Where it comes or goes, what is below it is another repository, or no longer."""
_CLONE_RULES = [_REPOSITORY, "info", "exclude"]
"""What one clone of a repository ignores."""


def watched(root: Path, quiet_ms: int, stop: Event) -> Iterator[frozenset[str]]:
    """See `treering.ports.watcher.Watcher`."""
    again = False
    while not stop.is_set():
        try:
            for paths in _watched_while_there(root, quiet_ms, stop):
                yield paths | {EVERYTHING} if again else paths
                again = False
        except FileNotFoundError:
            pass
        except OSError as exc:
            raise FolderUnavailable(
                f"{root} cannot be watched ({exc}); where that is for too many folders, raise the system's limit (on "
                "Linux `sysctl fs.inotify.max_user_watches=524288`), or do without: questions look by themselves"
            ) from exc
        again = True
        # Nothing is told while it is gone, but for the time that passes.
        while not stop.wait(quiet_ms / 1000) and not root.is_dir():
            yield frozenset()


def _watched_while_there(root: Path, quiet_ms: int, stop: Event) -> Iterator[frozenset[str]]:
    """Until another folder stands in its place, which the system does not watch, or none."""
    beginning = f"{root}{os.sep}"
    meant = _identity(root)

    def matters(_change: Change, path: str) -> bool:
        parts = path.removeprefix(beginning).split(os.sep)
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
        yield frozenset(path.removeprefix(beginning).replace(os.sep, "/") for _, path in changes if path != str(root))
        if _identity(root) != meant:
            return


def _identity(root: Path) -> tuple[int, int]:
    status = root.stat()
    return status.st_dev, status.st_ino
