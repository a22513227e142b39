"""One of several processes of `treering serve --workers`."""

from treering.interfaces.cli.served_applications import served_application
from treering.interfaces.servers.http.limits import HttpLimits
from treering.interfaces.servers.http.token import AccessToken
from treering.interfaces.servers.http.worker import read_config, serve_channel


def serve() -> None:
    """Serve the connections of the supervisor until it ends, or until a signal."""
    config, limits = read_config(), HttpLimits()
    served = served_application(config.db, config.project, session=config.session, session_key=config.session_key)
    app = served.application(frozenset(config.hosts), AccessToken(config.token), limits)
    serve_channel(config, app, limits, close=served.close)
