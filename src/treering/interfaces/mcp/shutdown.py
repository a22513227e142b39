"""How a server leaves: soon, whatever it is at. Importing this must stay cheap, as all that a client waits for."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import NoReturn

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
CALL_SECONDS = 0.8
"""For calls that work, and the first reading of code with them. A longer one is cut off, as by a power cut."""
JOB_SECONDS = 0.8
"""For a job in the background, behind the calls. The next server takes over a longer one."""
CLOSE_SECONDS = 2.0
"""For both and the database behind them: a client that ends its server kills it after two seconds. What is acknowledged
is stored already, and what is left is taken up by the next process, as after a power cut."""


def signals_heard() -> tuple[signal.Signals, ...]:
    """What asks a server to end. What is ignored stays so: `nohup` means it to live on when its terminal goes."""
    known = (signal.Signals[name] for name in _SIGNALS if hasattr(signal, name))
    return tuple(each for each in known if signal.getsignal(each) is not signal.SIG_IGN)


def leave(close: Callable[[], None], code: int) -> NoReturn:
    """End the process. Neither a thread at work nor one that reads stdin or writes to stderr can hold it up."""
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
