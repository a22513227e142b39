"""Stdin and stdout as the wire to a client: lines of the protocol, and nothing else among them."""

import fcntl
import os
import threading
from collections.abc import Iterator

_LONGEST_LINE = 32 * 1024 * 1024
"""Bytes of a line that are kept: several times what any tool takes. What is cut off is no message any more."""
_FIRST_PRIVATE = 3
"""Below are the streams that any code of the process may read and print to."""


class HungUp(Exception):
    """Nobody listens any more."""


class Wire:
    """Lines from a client and lines to it. Safe to write to from several threads."""

    def __init__(self, incoming: int, outgoing: int) -> None:
        self.outgoing = outgoing
        self._incoming = incoming
        self._writing = threading.Lock()

    def lines(self) -> Iterator[bytes]:
        """As they come, until the client closes its end. Of one that never ends, no more than fits is kept."""
        with os.fdopen(self._incoming, "rb", closefd=False) as incoming:
            while line := incoming.readline(_LONGEST_LINE):
                rest = line
                while len(rest) == _LONGEST_LINE and not rest.endswith(b"\n"):
                    rest = incoming.readline(_LONGEST_LINE)
                yield line

    def write(self, text: bytes) -> None:
        """All of it, or `HungUp`."""
        left = memoryview(text)
        with self._writing:
            while left:
                try:
                    left = left[os.write(self.outgoing, left) :]
                except OSError as exc:
                    raise HungUp from exc


def claimed() -> Wire:
    """Take stdin and stdout for the protocol.

    Whatever prints from here on, a plug-in or a child process, prints to stderr; whatever reads finds the end.
    A stdin that is not open ends at once; without a stdout there is nothing to serve, which is an `OSError`.
    """
    outgoing = _private(1)
    try:
        incoming = _private(0)
        nothing = os.open(os.devnull, os.O_RDWR)
    except OSError:
        nothing = os.open(os.devnull, os.O_RDWR)
        incoming = _private(nothing)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:
        os.dup2(nothing, 1)
    if nothing >= _FIRST_PRIVATE:
        os.close(nothing)
    return Wire(incoming, outgoing)


def _private(descriptor: int) -> int:
    """The same stream under a number that neither other code nor a child knows. Some parents leave it non-blocking."""
    own = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _FIRST_PRIVATE)
    os.set_blocking(own, True)
    return own
