"""Serve one project's memory to many clients."""

import gc
import json
import os
import shlex
import sys
from collections.abc import Iterable
from dataclasses import dataclass

from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp
from uvicorn import Config

from treering.core.settings.agents import HttpSettings
from treering.interfaces.mcp.desk import Desk
from treering.interfaces.mcp.http.address import (
    PATH,
    hosts,
    listening,
    refuse_strangers_without_auth,
    resolved,
)
from treering.interfaces.mcp.http.ending import EndingServer
from treering.interfaces.mcp.http.gate import Gate
from treering.interfaces.mcp.http.patience import impatient
from treering.interfaces.mcp.http.token import Token
from treering.interfaces.mcp.server import NAME, build_server

_COLLECT_AFTER = (700, 10, 10)
"""As Python itself does; our command line looks for garbage less often."""


@dataclass(frozen=True, slots=True)
class Door:
    """Where the server is to listen, and who comes in."""

    host: str
    port: int
    token: Token
    allowed: tuple[str, ...] = ()
    """Names by which it is reached from elsewhere."""


def serve_http(desk: Desk, door: Door, settings: HttpSettings, *, as_json: bool) -> None:
    """Serve until somebody ends it."""
    _collect_garbage_often()
    address = resolved(door.host, door.port)
    refuse_strangers_without_auth(address, door.token, door.allowed)
    with listening(address) as sock:
        port = sock.getsockname()[1]
        app = application(desk, hosts(address, port, door.allowed), door.token, settings)
        config = Config(
            app,
            http=impatient(settings),
            ws="none",
            loop="asyncio",
            lifespan="on",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            limit_concurrency=settings.connections,
            timeout_keep_alive=settings.keep_alive_seconds,
            timeout_graceful_shutdown=settings.ending_seconds,
        )
        url = f"http://{address.name}:{port}{PATH}"
        server = EndingServer(
            config,
            ready=lambda: _announce(url, door.token, to_others=not address.is_loopback, as_json=as_json),
            close=desk.close,
            seconds=settings.ending_seconds + 0.5,
        )
        try:
            server.run(sockets=[sock])
        finally:
            desk.close()


def _collect_garbage_often() -> None:
    """A command ends before its circles of garbage matter; those of a server would add up to hundreds of megabytes."""
    gc.freeze()
    gc.set_threshold(*_COLLECT_AFTER)


def application(desk: Desk, hosts: Iterable[str], token: Token, settings: HttpSettings) -> ASGIApp:
    """The SDK's application behind our gate, which checks Host and Origin for all of it."""
    inner = build_server(desk).streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=settings.body_bytes,
        session_idle_timeout=settings.session_idle_seconds,
        max_sessions=settings.sessions,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return Gate(inner, hosts=hosts, token=token.text, settings=settings)


def _announce(url: str, token: Token, *, to_others: bool, as_json: bool) -> None:
    """Where it is and where its token lies; never the token."""
    if as_json:
        told = {"url": url, "token_file": None if token.file is None else str(token.file), "pid": os.getpid()}
        print(json.dumps(told), flush=True)
    shown = "$TREERING_MCP_TOKEN" if token.file is None else f"$(cat {shlex.quote(str(token.file))})"
    lines = [
        f"serving at {url} until Ctrl-C; the token is in {token.file or 'TREERING_MCP_TOKEN'}",
        f'  claude mcp add --transport http {NAME} {url} --header "Authorization: Bearer {shown}"',
    ]
    if to_others:
        lines.insert(
            1, "nothing is encrypted, and the token goes with every request: put a proxy that speaks TLS in front"
        )
    print("\n".join(lines), file=sys.stderr, flush=True)
