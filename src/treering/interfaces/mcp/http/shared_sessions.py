"""Sessions of the previous protocol that every worker of a server recognises, with no memory of their own."""

import hmac
import json
import re
from uuid import uuid4

from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from treering.interfaces.mcp.http.gate import rpc_error
from treering.interfaces.servers.http.gate import Refusal, replayed

_SESSION = b"mcp-session-id"
_VERSION = b"mcp-protocol-version"
_RANDOM, _SIGNATURE = 32, 16
"""Hexadecimal digits."""
_ID = re.compile(rf"[0-9a-f]{{{_RANDOM + _SIGNATURE}}}")

NO_SESSION = Refusal(400, "a session header is missing; send initialize first")
UNKNOWN_SESSION = Refusal(404, "session not found; send initialize again")
ONLY_POST = Refusal(405, "the server has no messages of its own; use POST", (("Allow", "POST"),))


class SharedSessions:
    """ASGI middleware before an application without sessions. It issues signed session ids and verifies them.

    So requests of a session may reach any worker, also one that replaced another. A session ends with the server: the
    next one signs with another key. The current protocol has no sessions, so its requests pass unchanged.
    """

    def __init__(self, app: ASGIApp, key: bytes) -> None:
        self._app = app
        self._key = key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _is_previous_protocol(scope):
            await self._app(scope, receive, send)
            return
        session = _header(scope, _SESSION)
        if session is not None:
            refusal = None if self.is_issued(session) else UNKNOWN_SESSION
            if refusal is None and scope["method"] != "POST":
                refusal = ONLY_POST
            await (self._app if refusal is None else rpc_error(refusal))(scope, receive, send)
            return
        body = await _body(receive)
        if scope["method"] == "POST" and _is_initialize(body):
            await self._app(scope, replayed(body, receive), self._with_session(send))
        else:
            await rpc_error(NO_SESSION)(scope, receive, send)

    def new_id(self) -> str:
        random = uuid4().hex
        return random + self._signature(random)

    def is_issued(self, id: str) -> bool:
        """Compares in constant time."""
        return bool(_ID.fullmatch(id)) and hmac.compare_digest(id[_RANDOM:], self._signature(id[:_RANDOM]))

    def _signature(self, random: str) -> str:
        return hmac.new(self._key, random.encode(), "sha256").hexdigest()[:_SIGNATURE]

    def _with_session(self, send: Send) -> Send:
        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < 400:
                message = {**message, "headers": [*message["headers"], (_SESSION, self.new_id().encode())]}
            await send(message)

        return sent


def _is_previous_protocol(scope: Scope) -> bool:
    version = _header(scope, _VERSION)
    return version is None or version in HANDSHAKE_PROTOCOL_VERSIONS


def _header(scope: Scope, name: bytes) -> str | None:
    return next((value.decode("latin-1") for key, value in scope["headers"] if key.lower() == name), None)


async def _body(receive: Receive) -> bytes:
    """The whole body, which the gate has read already."""
    message = await receive()
    return bytes(message.get("body", b""))


def _is_initialize(body: bytes) -> bool:
    try:
        request = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(request, dict) and request.get("method") == "initialize"
