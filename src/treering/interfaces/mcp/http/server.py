"""Serves one project's memory to several clients over HTTP."""

import threading
from collections.abc import Callable, Iterable
from functools import partial

from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp

from treering.interfaces.mcp.host import Beside, MemoryHost, nothing_beside
from treering.interfaces.mcp.http import PATH
from treering.interfaces.mcp.http.announcement import announce
from treering.interfaces.mcp.http.gate import McpGate
from treering.interfaces.mcp.http.shared_sessions import SharedSessions
from treering.interfaces.mcp.server import build_server
from treering.interfaces.servers.http.limits import HttpLimits
from treering.interfaces.servers.http.options import HttpOptions
from treering.interfaces.servers.http.server import serve
from treering.interfaces.servers.http.token import AccessToken


def serve_http(host: MemoryHost, options: HttpOptions, beside: Beside = nothing_beside, *, as_json: bool) -> None:
    """Serve until the process is asked to end; `beside` starts what runs beside the server."""
    serve(
        partial(application, host),
        options,
        begin=partial(start_beside, host, beside),
        close=host.close,
        announce=partial(announce, options, as_json=as_json),
    )


def start_beside(host: MemoryHost, beside: Beside) -> Callable[[], None]:
    """Start what runs beside the server, and prepare the host; returns the function that ends the former."""
    end_beside = beside(host)
    threading.Thread(target=host.prepare, name="mcp-preparing", daemon=True).start()
    return end_beside


def application(
    host: MemoryHost, hosts: Iterable[str], token: AccessToken, limits: HttpLimits, *, session_key: bytes | None = None
) -> ASGIApp:
    """The application of the SDK behind our gate, which checks Host and Origin for all paths."""
    inner = protocol(host, limits, session_key=session_key)
    return McpGate(inner, hosts=hosts, token=token.text, limits=limits)


def protocol(host: MemoryHost, limits: HttpLimits, *, session_key: bytes | None = None) -> ASGIApp:
    """The application of the SDK, for requests that were checked already.

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
    return inner if session_key is None else SharedSessions(inner, session_key)
