"""How long a connection may take to say what it wants."""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from treering.interfaces.mcp.http.limits import Limits


def impatient(limits: Limits) -> type[H11Protocol]:
    """Connections that are closed when the head of a request does not arrive in time.

    uvicorn waits for ever for the end of a head: each half request would keep a connection until there are no more.
    """

    class Impatient(H11Protocol):
        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            self._relax()
            super().connection_lost(exc)

        def _watch(self) -> None:
            """A request that is under way has its own limits."""
            under_way: RequestResponseCycle | None = self.cycle
            if under_way is not None and not under_way.response_complete:
                self._relax()
            elif self._deadline is None:
                self._deadline = self.loop.call_later(limits.request_seconds, self.transport.abort)

        def _relax(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

    return Impatient
