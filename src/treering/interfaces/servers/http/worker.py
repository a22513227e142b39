"""A process that serves the connections which a supervisor passes to it."""

import asyncio
import json
import os
import socket
import sys
import threading
from collections.abc import Callable
from typing import Any

from starlette.types import ASGIApp
from uvicorn import Config

from treering.interfaces.servers.http.limits import HttpLimits
from treering.interfaces.servers.http.server import prepare_process, server_config
from treering.interfaces.servers.http.stoppable_server import StoppableServer
from treering.interfaces.servers.http.worker_protocol import CLOSED, READY, WorkerConfig
from treering.interfaces.servers.logs import log_to_stderr
from treering.interfaces.servers.shutdown import CLOSE_SECONDS


def read_config() -> WorkerConfig:
    """The configuration that the supervisor sends on standard input."""
    config = WorkerConfig(**json.load(sys.stdin))
    os.set_inheritable(config.channel, False)
    return config


def serve_channel(
    config: WorkerConfig,
    app: ASGIApp,
    limits: HttpLimits,
    *,
    begin: Callable[[], Callable[[], None]],
    close: Callable[[], None],
) -> None:
    """Serve the connections of the supervisor until it ends, or until a signal.

    `begin` starts what runs beside the server; it returns a function that is called before `close`.
    """
    logs = log_to_stderr()
    prepare_process()
    end = begin()

    def close_all() -> None:
        end()
        close()
        logs.flush()

    with socket.socket(fileno=config.channel) as channel:
        try:
            _ChannelServer(server_config(app, limits), channel, close_all).run(sockets=[])
        finally:
            close_all()


class _ChannelServer(StoppableServer):
    """Serves the connections that arrive on a channel, and listens on no address."""

    def __init__(self, config: Config, channel: socket.socket, close: Callable[[], None]) -> None:
        super().__init__(config, ready=self._start_receiving, close=close)
        self._channel = channel

    def _start_receiving(self) -> None:
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._receive, args=(loop,), name="mcp-connections", daemon=True).start()
        self._channel.send(READY)

    def _receive(self, loop: asyncio.AbstractEventLoop) -> None:
        """In a thread, which notices the end of the supervisor whatever the loop is doing."""
        while True:
            try:
                data, descriptors, _, _ = socket.recv_fds(self._channel, 1, 1)
            except OSError:
                data, descriptors = b"", []
            if not data:
                break
            for descriptor in descriptors:
                asyncio.run_coroutine_threadsafe(self._accept(loop, socket.socket(fileno=descriptor)), loop)
        loop.call_soon_threadsafe(self.stop)
        threading.Event().wait((self.config.timeout_graceful_shutdown or 0) + 2 * CLOSE_SECONDS)
        os._exit(1)

    async def _accept(self, loop: asyncio.AbstractEventLoop, connection: socket.socket) -> None:
        connection.setblocking(False)
        await loop.connect_accepted_socket(self._protocol, connection)

    def _protocol(self) -> asyncio.Protocol:
        ended = self._report_closed

        class ReportingProtocol(self.config.http_protocol_class):  # type: ignore[misc, name-defined]
            def connection_lost(self, exc: Exception | None) -> None:
                super().connection_lost(exc)
                ended()

        state: dict[str, Any] = {"server_state": self.server_state, "app_state": self.lifespan.state}
        protocol: asyncio.Protocol = ReportingProtocol(config=self.config, **state)
        return protocol

    def _report_closed(self) -> None:
        try:
            self._channel.send(CLOSED, socket.MSG_DONTWAIT)
        except OSError:
            # The supervisor has ended, which the thread notices, or is stopped.
            return
