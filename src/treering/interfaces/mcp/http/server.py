"""Serves one project's memory to several clients over HTTP."""

import gc
from collections.abc import Iterable
from functools import partial

from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp
from uvicorn import Config

from treering.interfaces.mcp.host import MemoryHost
from treering.interfaces.mcp.http.address import (
    PATH,
    accepted_hosts,
    check_exposure,
    listen,
    resolve,
)
from treering.interfaces.mcp.http.allocator import share_arenas
from treering.interfaces.mcp.http.announcement import HttpOptions, announce
from treering.interfaces.mcp.http.gate import Gate
from treering.interfaces.mcp.http.limits import HttpLimits
from treering.interfaces.mcp.http.shared_sessions import SharedSessions
from treering.interfaces.mcp.http.shutdown import StoppableServer
from treering.interfaces.mcp.http.timeouts import with_head_timeout
from treering.interfaces.mcp.http.token import AccessToken, token_for
from treering.interfaces.mcp.logs import log_to_stderr
from treering.interfaces.mcp.server import build_server

_GC_THRESHOLDS = (700, 10, 10)
"""Defaults of Python; the command line collects less often."""


def serve_http(host: MemoryHost, options: HttpOptions, *, as_json: bool) -> None:
    """Serve until the process is asked to end."""
    limits, logs = HttpLimits(), log_to_stderr()
    prepare_process()
    address = resolve(options.host, options.port)
    check_exposure(address, options.allowed, has_token=options.has_token)

    def close() -> None:
        host.close()
        logs.flush()

    with listen(address) as sock:
        port = sock.getsockname()[1]
        hosts = accepted_hosts(address, port, options.allowed)
        token = token_for(options.project, file=options.token_file, given=options.token)
        config = server_config(application(host, hosts, token, limits), limits)
        ready = partial(announce, address, port, options, token, as_json=as_json)
        server = StoppableServer(config, ready=ready, close=close)
        try:
            server.run(sockets=[sock])
        finally:
            close()


def prepare_process() -> None:
    """Collect as often as Python does by default: the reference cycles of a server add up to hundreds of megabytes."""
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)
    share_arenas()


def server_config(app: ASGIApp, limits: HttpLimits) -> Config:
    return Config(
        app,
        http=with_head_timeout(limits),
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=limits.connections,
        timeout_keep_alive=limits.keep_alive_seconds,
        timeout_graceful_shutdown=limits.shutdown_seconds,
    )


def application(
    host: MemoryHost, hosts: Iterable[str], token: AccessToken, limits: HttpLimits, *, session_key: bytes | None = None
) -> ASGIApp:
    """The application of the SDK behind our gate, which checks Host and Origin for all paths.

    With a `session_key`, sessions of the previous protocol are valid in every process that has the key.
    """
    inner: ASGIApp = build_server(host).streamable_http_app(
        streamable_http_path=PATH,
        # No call reports progress, and an event stream for one answer costs both sides twice the processor time.
        json_response=True,
        max_request_body_size=limits.body_bytes,
        session_idle_timeout=limits.session_idle_seconds,
        max_sessions=limits.sessions,
        stateless_http=session_key is not None,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    if session_key is not None:
        inner = SharedSessions(inner, session_key)
    return Gate(inner, hosts=hosts, token=token.text, limits=limits)
