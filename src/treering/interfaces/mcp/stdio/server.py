"""The SDK's server between the lines that were read and those that are written."""

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

from treering.interfaces.mcp.host import Desk
from treering.interfaces.mcp.server import build_server
from treering.interfaces.mcp.stdio.inbox import Inbox
from treering.interfaces.mcp.stdio.messages import complaint, message
from treering.interfaces.mcp.stdio.wire import HungUp

_NEVER_ANSWERED = frozenset({"subscriptions/listen"})
"""Requests that stay open for as long as the connection does."""
SILENCE_SECONDS = 15.0
"""How long requests stay open after the end of input while nothing is said: a question about code waits for less."""
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Patience:
    """What is done after the end of input where requests stay open, and after how long a silence."""

    seconds: float = SILENCE_SECONDS
    give_up: Callable[[int], None] = lambda _unanswered: None


_PATIENT = Patience()


def serve(desk: Desk, inbox: Inbox, write: Callable[[bytes], None], patience: Patience = _PATIENT) -> None:
    """Answer every line of the inbox, until the input ends or the client has hung up."""
    try:
        anyio.run(_serve, desk, inbox, write, patience)
    except ExceptionGroup as several:
        _, unexpected = several.split(HungUp)
        if unexpected is not None:
            raise _first(unexpected) from several


def _first(several: ExceptionGroup[Exception]) -> Exception:
    """What went wrong, out of the groups that tasks wrap it in."""
    found = several.exceptions[0]
    return _first(found) if isinstance(found, ExceptionGroup) else found


async def _serve(desk: Desk, inbox: Inbox, write: Callable[[bytes], None], patience: Patience) -> None:
    server = build_server(desk)
    to_server, heard = create_memory_object_stream[SessionMessage | Exception]()
    said, from_server = create_memory_object_stream[SessionMessage]()
    talk = _Talk(desk, write)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(talk.hear, inbox, to_server, patience)
        tasks.start_soon(talk.tell, from_server)
        await server.run(heard, said, server.create_initialization_options())


class _Talk:
    """Which requests are open, so that the end of input does not cut off their answers."""

    def __init__(self, desk: Desk, write: Callable[[bytes], None]) -> None:
        self._desk = desk
        self._write = write
        self._open = Counter[str]()
        """Nothing keeps a client from giving two requests one id."""
        self._answered = Condition()
        self._threads = CapacityLimiter(2)
        """Apart from those of the tools: a line must not wait until some tool is done."""
        self._prepared = False

    async def hear(
        self, inbox: Inbox, server: ObjectSendStream[SessionMessage | Exception], patience: Patience
    ) -> None:
        """Pass every line on to the server; after the last, wait until the open requests are answered."""
        async with server:
            while (given := await self._next(inbox)) is not None:
                try:
                    heard = message(given)
                except ValueError:
                    await self._complain(given)
                    continue
                self._note(heard)
                await server.send(SessionMessage(heard))
            if unanswered := await self._left_open(patience.seconds):
                patience.give_up(unanswered)

    async def tell(self, server: ObjectReceiveStream[SessionMessage]) -> None:
        """Everything the server says."""
        async with server:
            async for outgoing in server:
                said = outgoing.message
                answered = said.id if isinstance(said, types.JSONRPCResponse | types.JSONRPCError) else None
                await self._say(said)
                self._prepare()
                async with self._answered:
                    if answered is not None:
                        self._settle(answered)
                    self._answered.notify_all()

    async def _complain(self, line: bytes) -> None:
        if told := complaint(line):
            await self._say(told)
        elif line.strip():
            _LOG.warning("a line of %d bytes is no message of the protocol; it was left out", len(line))

    async def _next(self, inbox: Inbox) -> bytes | None:
        return await to_thread.run_sync(inbox.next, abandon_on_cancel=True, limiter=self._threads)

    async def _say(self, said: types.JSONRPCMessage) -> None:
        text = said.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
        await to_thread.run_sync(self._write, text, abandon_on_cancel=True, limiter=self._threads)

    async def _left_open(self, seconds: float) -> int:
        """How many requests are open when nothing was said for so long; none as soon as all are answered."""
        async with self._answered:
            while self._open:
                with move_on_after(seconds) as waiting:
                    await self._answered.wait()
                if waiting.cancelled_caught:
                    break
        return self._open.total()

    def _note(self, message: types.JSONRPCMessage) -> None:
        if isinstance(message, types.JSONRPCRequest) and message.method not in _NEVER_ANSWERED:
            self._open[str(message.id)] += 1
        if isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            self._settle((message.params or {}).get("requestId"))

    def _settle(self, id: object) -> None:
        self._open[str(id)] -= 1
        self._open = +self._open

    def _prepare(self) -> None:
        """Load what a tool needs once the first answer is out: a client that has it is likely to call one."""
        if not self._prepared:
            self._prepared = True
            threading.Thread(target=self._desk.prepare, name="mcp-preparing", daemon=True).start()
