"""Shutdown of the HTTP server: soon after the first signal, whatever is running, and at once after the second."""

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from uvicorn import Config, Server

from treering.interfaces.servers.shutdown import handled_signals, leave

_STEPS_SECONDS = 0.5
"""Time for the steps of uvicorn before and after it waits for calls."""
_INTERRUPTED = 130
"""Exit code of an interrupted process in shells."""


class StoppableServer(Server):
    """uvicorn's server, which calls `ready` when it is ready and ends in time.

    Calls run in threads, which cannot be stopped; the process ends without waiting for them, because what they have not
    acknowledged is not stored.
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
        # A signal handler may interrupt this thread while it holds any lock, so it only notifies the loop.
        loop = asyncio.get_running_loop()
        before = {
            each: signal.signal(each, lambda *_: loop.call_soon_threadsafe(self.stop)) for each in handled_signals()
        }
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    def stop(self) -> None:
        if self.should_exit:
            os._exit(_INTERRUPTED)
        # Calls that are cut off from here on need not be logged.
        logging.disable(logging.CRITICAL)
        self.should_exit = True
        limit = (self.config.timeout_graceful_shutdown or 0) + _STEPS_SECONDS
        backstop = threading.Timer(limit, leave, (self._close, 0))
        backstop.daemon = True
        backstop.start()
