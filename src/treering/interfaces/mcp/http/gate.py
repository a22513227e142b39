"""What comes in: requests for our name, from our pages, with the token, whole and not too long."""

import hmac
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import anyio
from mcp_types import INVALID_REQUEST
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from treering.interfaces.mcp.http.address import PATH, origins
from treering.interfaces.mcp.http.limits import Limits

_SCHEME = b"bearer "


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request does not come in."""

    status: int
    why: str
    headers: tuple[tuple[str, str], ...] = ()

    def response(self) -> Response:
        told = {"jsonrpc": "2.0", "id": None, "error": {"code": INVALID_REQUEST, "message": self.why}}
        return Response(json.dumps(told), self.status, dict(self.headers), "application/json")


FOREIGN_HOST = Refusal(421, "this server is not known by that Host; --allow-host lets it be")
FOREIGN_ORIGIN = Refusal(403, "requests from that Origin are not served")
NO_SUCH_PATH = Refusal(404, f"nothing is here; the server is at {PATH}")
NO_TOKEN = Refusal(401, "unauthorized", (("WWW-Authenticate", "Bearer"),))
TOO_SLOW = Refusal(408, "the request did not arrive in time; send it again", (("Connection", "close"),))


class Gate:
    """Stands before the whole application. Nothing of a body is read until the head of its request is in order."""

    def __init__(self, app: ASGIApp, *, hosts: Iterable[str], token: str, limits: Limits) -> None:
        self._app = app
        self._hosts = frozenset(host.encode() for host in hosts)
        self._origins = frozenset(origin.encode() for origin in origins(hosts))
        self._token = token.encode()
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            raise ValueError(f"{scope['type']} is not served")
        refusal = self.refusal(scope["path"], scope["headers"])
        if refusal is not None:
            await refusal.response()(scope, receive, send)
            return
        body = await self._body(receive)
        if isinstance(body, Refusal):
            await body.response()(scope, receive, send)
        elif body is not None:
            await self._app(scope, _first(body, receive), send)

    def refusal(self, path: str, headers: Iterable[tuple[bytes, bytes]]) -> Refusal | None:
        """Why a request with this head does not come in; None where it does.

        A path that is not there needs no token: clients look for a sign-in page before they show one.
        """
        given: dict[bytes, list[bytes]] = {}
        for name, value in headers:
            given.setdefault(name.lower(), []).append(value)
        if len(given.get(b"host", ())) != 1 or given[b"host"][0].lower() not in self._hosts:
            return FOREIGN_HOST
        if any(origin.lower() not in self._origins for origin in given.get(b"origin", ())):
            return FOREIGN_ORIGIN
        if path != PATH:
            return NO_SUCH_PATH
        return None if self._shown(given) else NO_TOKEN

    def _shown(self, given: Mapping[bytes, list[bytes]]) -> bool:
        """Compared in a time that tells nothing of how much was right."""
        shown = given.get(b"authorization", [])
        if len(shown) != 1 or shown[0][: len(_SCHEME)].lower() != _SCHEME:
            return False
        return hmac.compare_digest(shown[0][len(_SCHEME) :].strip(), self._token)

    async def _body(self, receive: Receive) -> bytes | Refusal | None:
        """The body, or why not; None where the client has left.

        What is too long is read to its end and not kept: a client that is cut off while it sends hears no reason.
        """
        body, size, longest = bytearray(), 0, self._limits.body_bytes
        with anyio.move_on_after(self._limits.request_seconds):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    return None
                size += len(message.get("body", b""))
                if size <= longest:
                    body += message.get("body", b"")
                if not message.get("more_body", False):
                    break
            return bytes(body) if size <= longest else _too_long(longest)
        return TOO_SLOW


def _too_long(longest: int) -> Refusal:
    return Refusal(413, f"a request has at most {longest:,} bytes; keep the text in a file and remember where it is")


def _first(body: bytes, receive: Receive) -> Receive:
    """The body that was read already, then whatever comes."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def received() -> Message:
        return waiting.pop() if waiting else await receive()

    return received
