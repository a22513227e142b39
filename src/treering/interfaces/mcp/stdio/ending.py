"""How a server over stdio ends: at once, whatever it is at, and nothing stays behind."""

import contextlib
import os
import select
import signal
import sys
import threading
from collections.abc import Callable
from typing import NoReturn

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_BY_SIGNAL = 128
"""What shells add to the number of a signal."""
_LOOK_MILLISECONDS = 500
"""How often the parent is looked for. Nobody tells a process that its parent has died, and somebody else may hold the
other end of stdin open."""
_CLOSE_SECONDS = 2.0
"""How long closing may take. What is acknowledged is stored already, and what is left is taken up by the next process,
as after a power cut."""


class Ending:
    """Waits for a reason to end: a signal, a client that no longer listens, a parent that has died.

    It waits in a thread of its own, because the main one may be importing, and signals are a byte in a pipe, because a
    handler runs between any two steps of the main thread, whatever lock that holds.
    """

    def __init__(self, outgoing: int) -> None:
        self._parent = os.getppid()
        self._leaving = threading.Lock()
        self._close: Callable[[], None] = lambda: None
        self._heard, told = os.pipe()
        os.set_blocking(told, False)
        signal.set_wakeup_fd(told, warn_on_full_buffer=False)
        for number in _SIGNALS:
            signal.signal(number, lambda *_: None)
        self._watched = select.poll()
        self._watched.register(self._heard, select.POLLIN)
        self._watched.register(outgoing, 0)
        threading.Thread(target=self._watch, name="mcp-ending", daemon=True).start()

    def closes(self, close: Callable[[], None]) -> None:
        """What to close before the process ends."""
        self._close = close

    def leave(self, code: int = 0) -> NoReturn:
        """End the process. Neither a thread that is at work nor one that reads stdin can hold it up."""
        with self._leaving:
            closing = threading.Thread(target=self._close, name="mcp-closing", daemon=True)
            closing.start()
            closing.join(_CLOSE_SECONDS)
            with contextlib.suppress(OSError, ValueError, AttributeError):
                sys.stdout.flush()
            os._exit(code)

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
