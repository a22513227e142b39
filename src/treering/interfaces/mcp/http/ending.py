"""How the server ends: soon after it is asked to, whatever is still going on, and at once when asked again."""

import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from uvicorn import Config, Server

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_CLOSING_SECONDS = 1.0
"""How long the memory may take to close while a call still works in it."""
_AT_ONCE = 130
"""What shells call interrupted."""


class EndingServer(Server):
    """uvicorn's server, which tells when it is ready and ends when it is asked to.

    A call works in a thread, and a thread cannot be stopped. What it has not acknowledged is not stored, so the process
    leaves without it.
    """

    def __init__(self, config: Config, *, ready: Callable[[], None], close: Callable[[], None], seconds: float) -> None:
        super().__init__(config)
        self._ready = ready
        self._close = close
        self._seconds = seconds

    async def main_loop(self) -> None:
        self._ready()
        await super().main_loop()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # What is ignored stays so: `nohup` means the server to live on when its terminal goes.
        heard = (each for each in SIGNALS if signal.getsignal(each) is not signal.SIG_IGN)
        before = {each: signal.signal(each, self._asked) for each in heard}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    def _asked(self, number: int, frame: FrameType | None) -> None:
        if self.should_exit:
            os._exit(_AT_ONCE)
        # What is cut short from here on was asked for, and is no news.
        logging.disable(logging.CRITICAL)
        self.handle_exit(number, frame)
        backstop = threading.Timer(self._seconds, self._leave)
        backstop.daemon = True
        backstop.start()

    def _leave(self) -> None:
        closing = threading.Thread(target=self._close, daemon=True)
        closing.start()
        closing.join(_CLOSING_SECONDS)
        os._exit(0)
