"""Connects the server of the SDK with the lines of stdin and stdout."""

import logging
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import anyio
import mcp_types as types
from anyio import CapacityLimiter, Condition, create_memory_object_stream, move_on_after, to_thread
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.shared.message import SessionMessage

from treering.interfaces.mcp.host import MemoryHost
from treering.interfaces.mcp.server import build_server
from treering.interfaces.mcp.stdio.inbox import Inbox
from treering.interfaces.mcp.stdio.messages import error_for, message
from treering.interfaces.mcp.stdio.wire import Disconnected

_NEVER_ANSWERED = frozenset({"subscriptions/listen"})
"""Requests that stay open for as long as the connection does."""
SILENCE_SECONDS = 15.0
"""How long requests may stay open after the end of input without any answer; questions about code take less."""
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SilenceLimit:
    """After the end of input, `give_up` is called if requests are open and nothing was sent for `seconds`."""

    seconds: float = SILENCE_SECONDS
    give_up: Callable[[int], None] = lambda _unanswered: None


_DEFAULT_LIMIT = SilenceLimit()


def serve(host: MemoryHost, inbox: Inbox, write: Callable[[bytes], None], limit: SilenceLimit = _DEFAULT_LIMIT) -> None:
    """Answer every line of the inbox until the end of input, or until the client disconnects."""
    try:
        anyio.run(_serve, host, inbox, write, limit)
    except ExceptionGroup as several:
        _, unexpected = several.split(Disconnected)
        if unexpected is not None:
            raise _first(unexpected) from several


def _first(several: ExceptionGroup[Exception]) -> Exception:
    """The first error inside nested exception groups."""
    found = several.exceptions[0]
    return _first(found) if isinstance(found, ExceptionGroup) else found


async def _serve(host: MemoryHost, inbox: Inbox, write: Callable[[bytes], None], limit: SilenceLimit) -> None:
    server = build_server(host)
    to_server, incoming = create_memory_object_stream[SessionMessage | Exception]()
    outgoing, from_server = create_memory_object_stream[SessionMessage]()
    connection = _Connection(host, write)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(connection.receive, inbox, to_server, limit)
        tasks.start_soon(connection.send, from_server)
        await server.run(incoming, outgoing, server.create_initialization_options())


class _Connection:
    """Passes messages on and counts open requests, so that the end of input does not cut off their answers."""

    def __init__(self, host: MemoryHost, write: Callable[[bytes], None]) -> None:
        self._desk = host
        self._write = write
        self._open = Counter[str]()
        """A count per id, because a client may use one id twice."""
        self._answered = Condition()
        self._threads = CapacityLimiter(2)
        """Separate from the threads of tools: a line must not wait for a tool."""
        self._prepared = False

    async def receive(
        self, inbox: Inbox, server: ObjectSendStream[SessionMessage | Exception], limit: SilenceLimit
    ) -> None:
        """Pass every line on to the server; after the last, wait until the open requests are answered."""
        async with server:
            while (given := await self._next(inbox)) is not None:
                try:
                    received = message(given)
                except ValueError:
                    await self._reject(given)
                    continue
                self._count_request(received)
                await server.send(SessionMessage(received))
            if unanswered := await self._wait_for_answers(limit.seconds):
                limit.give_up(unanswered)

    async def send(self, server: ObjectReceiveStream[SessionMessage]) -> None:
        """Write everything that the server sends."""
        async with server:
            async for outgoing in server:
                sent = outgoing.message
                answered = sent.id if isinstance(sent, types.JSONRPCResponse | types.JSONRPCError) else None
                await self._write_message(sent)
                self._prepare()
                async with self._answered:
                    if answered is not None:
                        self._settle(answered)
                    self._answered.notify_all()

    async def _reject(self, line: bytes) -> None:
        if error := error_for(line):
            await self._write_message(error)
        elif line.strip():
            _LOG.warning("ignored a line of %d bytes that is not a message of the protocol", len(line))

    async def _next(self, inbox: Inbox) -> bytes | None:
        return await to_thread.run_sync(inbox.next, abandon_on_cancel=True, limiter=self._threads)

    async def _write_message(self, message: types.JSONRPCMessage) -> None:
        text = message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
        await to_thread.run_sync(self._write, text, abandon_on_cancel=True, limiter=self._threads)

    async def _wait_for_answers(self, seconds: float) -> int:
        """Wait until all requests are answered, or nothing was sent for `seconds`; return how many are open."""
        async with self._answered:
            while self._open:
                with move_on_after(seconds) as waiting:
                    await self._answered.wait()
                if waiting.cancelled_caught:
                    break
        return self._open.total()

    def _count_request(self, message: types.JSONRPCMessage) -> None:
        if isinstance(message, types.JSONRPCRequest) and message.method not in _NEVER_ANSWERED:
            self._open[str(message.id)] += 1
        if isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            self._settle((message.params or {}).get("requestId"))

    def _settle(self, id: object) -> None:
        self._open[str(id)] -= 1
        self._open = +self._open

    def _prepare(self) -> None:
        """Import what tools need after the first answer, because a call is likely to follow."""
        if not self._prepared:
            self._prepared = True
            threading.Thread(target=self._desk.prepare, name="mcp-preparing", daemon=True).start()
