"""Reserves stdin and stdout for the protocol, so that nothing else is written between its lines."""

import fcntl
import os
import threading
from collections.abc import Iterator

_MAX_LINE = 32 * 1024 * 1024
"""Bytes of a line: several times what any tool accepts. A longer line is cut and rejected."""
_FIRST_PRIVATE = 3
"""Lower descriptors are the standard streams, which any code of the process may use."""


class Disconnected(Exception):
    """The client no longer reads."""


class Wire:
    """Lines from a client and lines to it. Safe to write to from several threads."""

    def __init__(self, incoming: int, outgoing: int) -> None:
        self.outgoing = outgoing
        self._incoming = incoming
        self._writing = threading.Lock()

    def lines(self) -> Iterator[bytes]:
        """Lines until the client closes its end; longer ones are cut to `_MAX_LINE` bytes."""
        with os.fdopen(self._incoming, "rb", closefd=False) as incoming:
            while line := incoming.readline(_MAX_LINE):
                rest = line
                while len(rest) == _MAX_LINE and not rest.endswith(b"\n"):
                    rest = incoming.readline(_MAX_LINE)
                yield line

    def write(self, text: bytes) -> None:
        """Write the whole text, or raise `Disconnected`."""
        left = memoryview(text)
        with self._writing:
            while left:
                try:
                    left = left[os.write(self.outgoing, left) :]
                except OSError as exc:
                    raise Disconnected from exc


def claim_stdio() -> Wire:
    """Reserve stdin and stdout for the protocol.

    Afterwards, everything that plug-ins or child processes print goes to stderr, and their stdin is empty. A closed
    stdin is an empty one; a closed stdout is an `OSError`.
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
    """A duplicate of the descriptor for this module only, set to blocking, which some parents do not do."""
    own = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _FIRST_PRIVATE)
    os.set_blocking(own, True)
    return own
