"""How the server ends: soon after it is asked to, whatever is still going on, and at once when asked again."""

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from uvicorn import Config, Server

from treering.interfaces.mcp.shutdown import leave, signals_heard

_STEPS_SECONDS = 0.5
"""For uvicorn's own steps before and after it has waited for the calls."""
_AT_ONCE = 130
"""What shells call interrupted."""


class EndingServer(Server):
    """uvicorn's server, which tells when it is ready and ends when it is asked to.

    A call works in a thread, and a thread cannot be stopped. What it has not acknowledged is not stored, so the process
    leaves without it.
    """

    def __init__(self, config: Config, *, ready: Callable[[], None], close: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready
        self._close = close

    async def main_loop(self) -> None:
        self._ready()
        await super().main_loop()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # A handler runs between any two steps of this thread, whatever lock that holds: it only tells the loop.
        loop = asyncio.get_running_loop()
        before = {
            each: signal.signal(each, lambda *_: loop.call_soon_threadsafe(self._asked)) for each in signals_heard()
        }
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    def _asked(self) -> None:
        if self.should_exit:
            os._exit(_AT_ONCE)
        # What is cut short from here on was asked for, and is no news.
        logging.disable(logging.CRITICAL)
        self.should_exit = True
        granted = (self.config.timeout_graceful_shutdown or 0) + _STEPS_SECONDS
        backstop = threading.Timer(granted, leave, (self._close, 0))
        backstop.daemon = True
        backstop.start()
