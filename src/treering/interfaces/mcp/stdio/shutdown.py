"""When a server over stdio ends: with its client, its parent, or a signal."""

import os
import select
import signal
import threading
from collections.abc import Callable
from typing import NoReturn

from treering.interfaces.mcp.shutdown import leave, signals_heard

_BY_SIGNAL = 128
"""What shells add to the number of a signal."""
_LOOK_MILLISECONDS = 500
"""How often the parent is looked for. Nobody tells a process that its parent has died, and somebody else may hold the
other end of stdin open."""


class Ending:
    """Waits for a reason to end: a signal, a client that no longer listens, a parent that has died.

    It waits in a thread of its own, because the main one may be importing, and signals are a byte in a pipe, because a
    handler runs between any two steps of the main thread, whatever lock that holds.
    """

    def __init__(self, outgoing: int, report: Callable[[Exception], int]) -> None:
        self._report = report
        self._parent = os.getppid()
        self._leaving = threading.Lock()
        self._closes: tuple[Callable[[], None], ...] = ()
        self._heard, told = os.pipe()
        os.set_blocking(told, False)
        signal.set_wakeup_fd(told, warn_on_full_buffer=False)
        for number in signals_heard():
            signal.signal(number, lambda *_: None)
        self._watched = select.poll()
        self._watched.register(self._heard, select.POLLIN)
        self._watched.register(outgoing, 0)
        threading.Thread(target=self._watch, name="mcp-ending", daemon=True).start()

    def closes(self, *each: Callable[[], None]) -> None:
        """What to close before the process ends, one after the other."""
        self._closes = each

    def leave(self, code: int = 0) -> NoReturn:
        """End the process, for the first reason that is given."""
        with self._leaving:
            leave(self._close, code)

    def fail(self, error: Exception) -> NoReturn:
        """Say what went wrong, and end with the code that comes of it."""
        self.leave(self._report(error))

    def _close(self) -> None:
        for close in self._closes:
            close()

    def _watch(self) -> None:
        while os.getppid() == self._parent:
            for descriptor, happened in self._watched.poll(_LOOK_MILLISECONDS):
                if descriptor == self._heard:
                    self.leave(_BY_SIGNAL + os.read(self._heard, 1)[0])
                if happened & (select.POLLERR | select.POLLHUP):
                    self.leave()
                # Some systems cannot watch a terminal.
                self._watched.unregister(descriptor)
        self.leave()
