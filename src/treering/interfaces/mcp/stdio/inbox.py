"""Lines from a client, read in a thread of its own while the main thread loads the server."""

from collections.abc import Iterable
from queue import Queue

_MAX_QUEUED_LINES = 1_000
"""Lines that are read ahead; a client that sends more waits."""


class Inbox:
    """A queue of lines in the order of arrival."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = lines
        self._waiting: Queue[bytes | None] = Queue(_MAX_QUEUED_LINES)

    def fill(self) -> bool:
        """Read until the end of input; return whether there was any line."""
        filled = False
        for line in self._lines:
            filled = True
            self._waiting.put(line)
        self._waiting.put(None)
        return filled

    def next(self) -> bytes | None:
        """Wait for the next line; None at the end of input."""
        return self._waiting.get()
