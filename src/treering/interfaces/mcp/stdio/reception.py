"""Who hears a client from its first line on: answers what is printed, and passes everything else on."""

import queue
import threading
from collections.abc import Callable, Iterable
from typing import NamedTuple

from treering.interfaces.mcp.stdio.programme import Programme, Standing, reply

_LINES_AHEAD = 1_000
"""Lines that are read before the server has taken them; a client that sends more waits."""


class Handover(NamedTuple):
    """What the server needs to go on as if it had answered from the beginning."""

    decisive: tuple[bytes, ...] = ()
    """What the client said that later answers depend on."""
    answered: frozenset[int | str] = frozenset()
    """The requests among that: nobody waits for their answers any more."""
    ready: bool = False
    """The client goes on after the greeting: it will want the memory."""


class Reception:
    """Reads all lines, in a thread of its own: the main one loads the server meanwhile."""

    def __init__(
        self, lines: Iterable[bytes], write: Callable[[bytes], None], programme: Programme | None = None
    ) -> None:
        self.inbox: queue.Queue[bytes | None] = queue.Queue(_LINES_AHEAD)
        """Lines for the server; None is the end of them."""
        self.begun = threading.Event()
        """The first line has been dealt with; until then the server need not be loaded."""
        self._lines = lines
        self._write = write
        self._programme = programme
        self._standing = Standing()
        self._handover = Handover()
        self._passed_on = False
        self._turn = threading.Lock()

    def listen(self) -> bool:
        """Until the lines end: whether there was anything for the server."""
        for line in self._lines:
            with self._turn:
                answered = not self._passed_on and self._answered(line)
                self._passed_on = not answered
            if not answered:
                self.inbox.put(line)
            self.begun.set()
        with self._turn:
            passed_on = self._passed_on
        self.inbox.put(None)
        return passed_on

    def hand_over(self) -> Handover:
        """From here on, everything is for the server."""
        with self._turn:
            self._passed_on = True
            return self._handover

    def _answered(self, line: bytes) -> bool:
        found = None if self._programme is None else reply(self._programme, self._standing, line)
        if found is None:
            return False
        before, self._standing = self._handover, found.standing
        self._handover = Handover(
            decisive=(*before.decisive, line) if found.decisive else before.decisive,
            answered=before.answered | {found.id} if found.decisive and found.id is not None else before.answered,
            ready=bool(before.decisive),
        )
        self._write(found.text)
        return True
