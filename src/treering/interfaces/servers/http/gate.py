"""Request filter: checks Host, Origin, authorization, size and speed before the application sees a request."""

import hmac
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import anyio
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from treering.interfaces.servers.http.address import origins
from treering.interfaces.servers.http.limits import HttpLimits

Headers = Mapping[bytes, list[bytes]]
"""Values of each header, by its name in lower case."""
_SCHEME = b"bearer "


@dataclass(frozen=True, slots=True)
class Refusal:
    """Reason a request was rejected."""

    status: int
    why: str
    headers: tuple[tuple[str, str], ...] = ()


FOREIGN_HOST = Refusal(421, "this Host is not accepted; start the server with --allow-host to accept it")
FOREIGN_ORIGIN = Refusal(403, "this Origin is not accepted")
NO_TOKEN = Refusal(401, "unauthorized", (("WWW-Authenticate", "Bearer"),))
TOO_SLOW = Refusal(408, "the request did not arrive in time; send it again", (("Connection", "close"),))


class RequestGate(ABC):
    """ASGI middleware before a whole application. No body is read before the head of its request is accepted."""

    def __init__(self, app: ASGIApp, *, hosts: Iterable[str], token: str, limits: HttpLimits) -> None:
        self._app = app
        self._hosts = frozenset(host.encode() for host in hosts)
        self._origins = frozenset(origin.encode() for origin in origins(hosts))
        self._token = token.encode()
        self._limits = limits

    @abstractmethod
    def authorization(self, method: str, path: str, headers: Headers) -> Refusal | None:
        """Reason to reject a request of an accepted Host and Origin; None if it is accepted."""

    @abstractmethod
    def response(self, refusal: Refusal) -> Response:
        """The answer to a rejected request."""

    def streams(self, method: str, path: str) -> bool:
        """Whether the application reads the body of this request itself, and limits it."""
        return False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            raise ValueError(f"{scope['type']} is not served")
        refusal = self.refusal(scope["method"], scope["path"], scope["headers"])
        if refusal is not None:
            await self.response(refusal)(scope, receive, send)
            return
        if self.streams(scope["method"], scope["path"]):
            await self._app(scope, receive, send)
            return
        body = await self._body(receive)
        if isinstance(body, Refusal):
            await self.response(body)(scope, receive, send)
        elif body is not None:
            await self._app(scope, replayed(body, receive), send)

    def refusal(self, method: str, path: str, headers: Iterable[tuple[bytes, bytes]]) -> Refusal | None:
        """Reason to reject a request with this head; None if it is accepted."""
        given: dict[bytes, list[bytes]] = {}
        for name, value in headers:
            given.setdefault(name.lower(), []).append(value)
        if len(given.get(b"host", ())) != 1 or given[b"host"][0].lower() not in self._hosts:
            return FOREIGN_HOST
        if any(origin.lower() not in self._origins for origin in given.get(b"origin", ())):
            return FOREIGN_ORIGIN
        return self.authorization(method, path, given)

    def has_token(self, headers: Headers) -> bool:
        """Whether the request carries the bearer token; compares in constant time."""
        tokens = headers.get(b"authorization", [])
        if len(tokens) != 1 or tokens[0][: len(_SCHEME)].lower() != _SCHEME:
            return False
        return hmac.compare_digest(tokens[0][len(_SCHEME) :].strip(), self._token)

    async def _body(self, receive: Receive) -> bytes | Refusal | None:
        """The body, or the reason to reject it; None if the client has disconnected.

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


def _too_long(limit: int) -> Refusal:
    return Refusal(413, f"the request has more than {limit:,} bytes; store the text in a file and remember its path")


def replayed(body: bytes, receive: Receive) -> Receive:
    """A `receive` that returns the body that was already read, then further messages."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def received() -> Message:
        return waiting.pop() if waiting else await receive()

    return received
