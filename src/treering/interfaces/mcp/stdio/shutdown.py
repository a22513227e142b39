"""Ends a stdio server with its client, its parent process, or a signal."""

import os
import select
import signal
import threading
from collections.abc import Callable
from typing import NoReturn

from treering.interfaces.servers.shutdown import handled_signals, leave

_SIGNAL_BASE = 128
"""Shells add this to the number of a signal."""
_POLL_MILLISECONDS = 500
"""How often the parent is checked: a process gets no notice of its parent's death, and another process may hold stdin
open."""


class Shutdown:
    """Ends the process after a signal, when the client disconnects, or when the parent process dies.

    It waits in a thread of its own, because the main thread may be importing. Signals arrive as a byte in a pipe,
    because a handler may interrupt the main thread while it holds any lock.
    """

    def __init__(self, outgoing: int, report: Callable[[Exception], int]) -> None:
        self._report = report
        self._parent = os.getppid()
        self._leaving = threading.Lock()
        self._on_close: tuple[Callable[[], None], ...] = ()
        self._signals, wakeup = os.pipe()
        os.set_blocking(wakeup, False)
        signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
        for number in handled_signals():
            signal.signal(number, lambda *_: None)
        self._watched = select.poll()
        self._watched.register(self._signals, select.POLLIN)
        self._watched.register(outgoing, 0)
        threading.Thread(target=self._watch, name="mcp-ending", daemon=True).start()

    def on_close(self, *each: Callable[[], None]) -> None:
        """Set the functions to call before the process ends, in order."""
        self._on_close = each

    def leave(self, code: int = 0) -> NoReturn:
        """End the process; only the first call counts."""
        with self._leaving:
            leave(self._close, code)

    def fail(self, error: Exception) -> NoReturn:
        """Report an error and end the process with its exit code."""
        self.leave(self._report(error))

    def _close(self) -> None:
        for close in self._on_close:
            close()

    def _watch(self) -> None:
        while os.getppid() == self._parent:
            for descriptor, happened in self._watched.poll(_POLL_MILLISECONDS):
                if descriptor == self._signals:
                    self.leave(_SIGNAL_BASE + os.read(self._signals, 1)[0])
                if happened & (select.POLLERR | select.POLLHUP):
                    self.leave()
                # Some systems cannot watch a terminal.
                self._watched.unregister(descriptor)
        self.leave()
