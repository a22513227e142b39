"""Start and end of an ASGI application inside another one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.types import ASGIApp, Message, Scope


@asynccontextmanager
async def started(app: ASGIApp, scope: Scope) -> AsyncIterator[None]:
    """Send the application its start, and its end after the block; `RuntimeError` if it cannot start."""
    incoming: asyncio.Queue[Message] = asyncio.Queue()
    outgoing: asyncio.Queue[Message] = asyncio.Queue()
    running = asyncio.ensure_future(app(scope, incoming.get, outgoing.put))
    await incoming.put({"type": "lifespan.startup"})
    answer = await _answer(running, outgoing)
    if answer["type"] != "lifespan.startup.complete":
        raise RuntimeError(str(answer.get("message", "the application did not start")))
    try:
        yield
    finally:
        await incoming.put({"type": "lifespan.shutdown"})
        await _answer(running, outgoing)
        await running


async def _answer(running: "asyncio.Future[None]", outgoing: "asyncio.Queue[Message]") -> Message:
    answer = asyncio.ensure_future(outgoing.get())
    both: set[asyncio.Future[Any]] = {running, answer}
    await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    if answer.done():
        return answer.result()
    answer.cancel()
    running.result()
    return {"type": "lifespan.startup.failed", "message": "the application ended"}
