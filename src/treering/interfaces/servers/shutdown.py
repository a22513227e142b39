"""Ends a server process within a time limit. Importing this module must stay cheap: clients wait for it."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import NoReturn

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
CALL_SECONDS = 0.8
"""Time for calls in progress and the first index. Longer ones are cut off, as by a power cut."""
JOB_SECONDS = 0.8
"""Time for a background job after the calls. The next server continues a longer one."""
CLOSE_SECONDS = 2.0
"""Time for both and the database: clients kill a server two seconds after ending it. Everything acknowledged is stored
already, and the next process continues the rest, as after a power cut."""


def handled_signals() -> tuple[signal.Signals, ...]:
    """Signals that end a server, without those that are ignored: `nohup` keeps it running without its terminal."""
    known = (signal.Signals[name] for name in _SIGNALS if hasattr(signal, name))
    return tuple(each for each in known if signal.getsignal(each) is not signal.SIG_IGN)


def leave(close: Callable[[], None], code: int) -> NoReturn:
    """End the process. No thread can delay it, whether it works, reads stdin or writes to stderr."""
    closing = threading.Thread(target=_close, args=(close,), name="mcp-closing", daemon=True)
    closing.start()
    closing.join(CLOSE_SECONDS)
    os._exit(code)


def _close(close: Callable[[], None]) -> None:
    try:
        close()
    finally:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            sys.stdout.flush()
