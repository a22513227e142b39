"""Notification of changed files."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Final, Protocol

EVERYTHING: Final = ""
"""Represents the root among changed paths: anything below it may have changed."""


class Watcher(Protocol):
    def __call__(self, root: Path, quiet_ms: int, stop: Event) -> Iterator[frozenset[str]]:
        """Yield changed paths relative to the root soon after a change, and an empty set after `quiet_ms` without one.

        Runs until `stop` is set, even while the root is missing; when it is back, `EVERYTHING` is among the paths.
        `FolderUnavailable` if the system cannot watch the root.
        """
        ...
