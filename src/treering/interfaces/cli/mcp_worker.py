"""One of several processes of `treering mcp --http --workers`."""

from functools import partial

from treering.interfaces.hooks.beside import hooks_beside
from treering.interfaces.mcp.host_factory import host_for
from treering.interfaces.mcp.http.server import application, start_beside
from treering.interfaces.servers.http.limits import HttpLimits
from treering.interfaces.servers.http.token import AccessToken
from treering.interfaces.servers.http.worker import read_config, serve_channel


def serve() -> None:
    """Serve the connections of the supervisor until it ends, or until a signal."""
    config, limits = read_config(), HttpLimits()
    host = host_for(config.db, config.project, config.session)
    app = application(host, config.hosts, AccessToken(config.token), limits, session_key=config.session_key)
    begin = partial(start_beside, host, hooks_beside(config.db, config.project))
    serve_channel(config, app, limits, begin=begin, close=host.close)
