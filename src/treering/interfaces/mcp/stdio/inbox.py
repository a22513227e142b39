"""Lines from a client, read in a thread of their own: the main thread loads the server meanwhile."""

from collections.abc import Iterable
from queue import Queue

_LINES_AHEAD = 1_000
"""Lines that are read before the server has taken them; a client that sends more waits."""


class Inbox:
    """Lines in the order in which they came."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = lines
        self._waiting: Queue[bytes | None] = Queue(_LINES_AHEAD)

    def fill(self) -> bool:
        """Read until the input ends; return whether there was any line."""
        filled = False
        for line in self._lines:
            filled = True
            self._waiting.put(line)
        self._waiting.put(None)
        return filled

    def next(self) -> bytes | None:
        """The next line, as soon as there is one; None at the end of input."""
        return self._waiting.get()
