"""A timeout for the head of a request, which uvicorn does not have."""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from treering.interfaces.servers.http.limits import HttpLimits


def with_head_timeout(limits: HttpLimits) -> type[H11Protocol]:
    """A protocol that closes a connection if the head of a request does not arrive in time.

    uvicorn waits forever, so unfinished heads could occupy all connections.
    """

    class HeadTimeoutProtocol(H11Protocol):
        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._start_timer()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._start_timer()

        def connection_lost(self, exc: Exception | None) -> None:
            self._cancel_timer()
            super().connection_lost(exc)

        def _start_timer(self) -> None:
            """Only between requests: a request in progress has its own limits."""
            current: RequestResponseCycle | None = self.cycle
            if current is not None and not current.response_complete:
                self._cancel_timer()
            elif self._deadline is None:
                self._deadline = self.loop.call_later(limits.request_seconds, self.transport.abort)

        def _cancel_timer(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

    return HeadTimeoutProtocol
