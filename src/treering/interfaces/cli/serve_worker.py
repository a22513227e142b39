"""One of several processes of `treering serve --workers`."""

from functools import partial

from treering.interfaces.cli.served_applications import served_application
from treering.interfaces.hooks.beside import hooks_beside
from treering.interfaces.mcp.http.server import start_beside
from treering.interfaces.servers.http.limits import HttpLimits
from treering.interfaces.servers.http.token import AccessToken
from treering.interfaces.servers.http.worker import read_config, serve_channel


def serve() -> None:
    """Serve the connections of the supervisor until it ends, or until a signal."""
    config, limits = read_config(), HttpLimits()
    served = served_application(config.db, config.project, session=config.session, session_key=config.session_key)
    app = served.application(frozenset(config.hosts), AccessToken(config.token), limits)
    begin = partial(start_beside, served.host, hooks_beside(config.db, config.project))
    serve_channel(config, app, limits, begin=begin, close=served.close)
