"""What Treering needs to hear of changed files."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Final, Protocol

EVERYTHING: Final = ""
"""Stands for the root among changed paths: whatever is below may be another."""


class Watcher(Protocol):
    def __call__(self, root: Path, quiet_ms: int, stop: Event) -> Iterator[frozenset[str]]:
        """Paths below the root, relative to it, soon after they changed; nothing after so long without a change.

        Until `stop` is set, also where the root is gone for a while; when it is back, `EVERYTHING` is among the paths.
        `FolderUnavailable` where the system cannot watch it.
        """
        ...
