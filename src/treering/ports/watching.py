"""What Treering needs to hear of changed files."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Protocol


class Watcher(Protocol):
    def __call__(self, root: Path, quiet_ms: int, stop: Event) -> Iterator[frozenset[str]]:
        """Paths below the root, relative to it, soon after they changed; nothing after so long without a change.

        Until `stop` is set.
        """
        ...
