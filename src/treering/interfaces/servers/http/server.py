"""Runs an ASGI application on an address until the process is asked to end."""

import gc
from collections.abc import Callable
from functools import partial

from starlette.types import ASGIApp
from uvicorn import Config

from treering.interfaces.servers.http.address import accepted_hosts, check_exposure, listen, resolve
from treering.interfaces.servers.http.allocator import share_arenas
from treering.interfaces.servers.http.limits import HttpLimits
from treering.interfaces.servers.http.options import Announce, HttpOptions
from treering.interfaces.servers.http.stoppable_server import StoppableServer
from treering.interfaces.servers.http.timeouts import with_head_timeout
from treering.interfaces.servers.http.token import AccessToken, token_for
from treering.interfaces.servers.logs import log_to_stderr

Application = Callable[[frozenset[str], AccessToken, HttpLimits], ASGIApp]
"""Makes the application from the accepted values of `Host`, the token and the limits."""

_GC_THRESHOLDS = (700, 10, 10)
"""Defaults of Python; the command line collects less often."""


def serve(
    application: Application,
    options: HttpOptions,
    *,
    begin: Callable[[], Callable[[], None]] = lambda: _nothing,
    close: Callable[[], None],
    announce: Announce,
) -> None:
    """Serve until the process is asked to end; then `close` is called.

    `begin` is called once the address is taken; it returns a function that is called before `close`.
    """
    limits, logs = HttpLimits(), log_to_stderr()
    prepare_process()
    address = resolve(options.host, options.port)
    check_exposure(address, options.allowed, has_token=options.has_token, variable=options.variable)

    def close_all() -> None:
        end()
        close()
        logs.flush()

    with listen(address) as sock:
        end = begin()
        port = sock.getsockname()[1]
        hosts = accepted_hosts(address, port, options.allowed)
        token = token_for(options.project, file=options.token_file, given=options.token, variable=options.variable)
        config = server_config(application(hosts, token, limits), limits)
        server = StoppableServer(config, ready=partial(announce, address, port, token), close=close_all)
        try:
            server.run(sockets=[sock])
        finally:
            close_all()


def _nothing() -> None:
    """Nothing runs beside the server."""


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
