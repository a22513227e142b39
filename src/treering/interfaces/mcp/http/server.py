"""Serve one project's memory to many clients."""

import gc
import json
import os
import shlex
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp
from uvicorn import Config

from treering.interfaces.mcp.host import Desk
from treering.interfaces.mcp.http.address import (
    PATH,
    hosts,
    listening,
    refuse_strangers_without_auth,
    resolved,
)
from treering.interfaces.mcp.http.allocator import share_arenas
from treering.interfaces.mcp.http.gate import Gate
from treering.interfaces.mcp.http.limits import Limits
from treering.interfaces.mcp.http.shutdown import EndingServer
from treering.interfaces.mcp.http.timeouts import impatient
from treering.interfaces.mcp.http.token import Token, token_for
from treering.interfaces.mcp.logs import log_to_stderr
from treering.interfaces.mcp.server import NAME, build_server

_COLLECT_AFTER = (700, 10, 10)
"""As Python itself does; our command line looks for garbage less often."""


@dataclass(frozen=True, slots=True)
class Door:
    """Where the server is to listen, and who comes in."""

    host: str
    port: int
    allowed: tuple[str, ...] = ()
    """Names by which it is reached from elsewhere."""
    project: str | None = None
    """Whose token is shown, where the user brings none."""
    token_file: Path | None = None
    token: str | None = field(default=None, repr=False)

    @property
    def brings_token(self) -> bool:
        """Somebody meant others to come in."""
        return self.token_file is not None or self.token is not None


def serve_http(desk: Desk, door: Door, *, as_json: bool) -> None:
    """Serve until somebody ends it. A token is made only where there is a place to show it."""
    limits, logs = Limits(), log_to_stderr()
    _collect_garbage_often()
    share_arenas()
    address = resolved(door.host, door.port)
    refuse_strangers_without_auth(address, door.allowed, brings_token=door.brings_token)

    def close() -> None:
        desk.close()
        logs.flush()

    with listening(address) as sock:
        port = sock.getsockname()[1]
        known = hosts(address, port, door.allowed)
        token = token_for(door.project, file=door.token_file, given=door.token)
        config = Config(
            application(desk, known, token, limits),
            http=impatient(limits),
            ws="none",
            loop="asyncio",
            lifespan="on",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            limit_concurrency=limits.connections,
            timeout_keep_alive=limits.keep_alive_seconds,
            timeout_graceful_shutdown=limits.ending_seconds,
        )
        url = f"http://{address.name}:{port}{PATH}"
        elsewhere = None if address.is_loopback else f"https://{door.allowed[0]}{PATH}"
        server = EndingServer(config, ready=lambda: _announce(url, elsewhere, token, as_json=as_json), close=close)
        try:
            server.run(sockets=[sock])
        finally:
            close()


def _collect_garbage_often() -> None:
    """A command ends before its circles of garbage matter; those of a server would add up to hundreds of megabytes."""
    gc.freeze()
    gc.set_threshold(*_COLLECT_AFTER)


def application(desk: Desk, hosts: Iterable[str], token: Token, limits: Limits) -> ASGIApp:
    """The SDK's application behind our gate, which checks Host and Origin for all of it."""
    inner = build_server(desk).streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=limits.body_bytes,
        session_idle_timeout=limits.session_idle_seconds,
        max_sessions=limits.sessions,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return Gate(inner, hosts=hosts, token=token.text, limits=limits)


def _announce(url: str, elsewhere: str | None, token: Token, *, as_json: bool) -> None:
    """Where it is, by which name others reach it, and where its token lies; never the token."""
    if as_json:
        told = {"url": url, "token_file": None if token.file is None else str(token.file), "pid": os.getpid()}
        print(json.dumps(told), flush=True)
    shown = "$TREERING_MCP_TOKEN" if token.file is None else f"$(cat {shlex.quote(str(token.file))})"
    lines = [
        f"serving at {url} until Ctrl-C; the token is in {token.file or 'TREERING_MCP_TOKEN'}",
        f'  claude mcp add --transport http {NAME} {elsewhere or url} --header "Authorization: Bearer {shown}"',
    ]
    if elsewhere:
        lines.insert(
            1, "nothing is encrypted, and the token goes with every request: put a proxy that speaks TLS in front"
        )
    print("\n".join(lines), file=sys.stderr, flush=True)
