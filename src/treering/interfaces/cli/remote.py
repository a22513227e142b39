"""Commands through `treering serve`: the client takes the place of a memory."""

import ipaddress
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from treering.interfaces.cli.serve import VARIABLE

if TYPE_CHECKING:
    from treering.memory import Memory


@contextmanager
def connected(url: str, project: str | None) -> "Iterator[Memory]":
    """A client of the server; commands that it does not support fail with a clear error."""
    from treering.client import Client

    with Client(url, token=_token(url, project), project=project) as client:
        yield cast("Memory", client)


def _token(url: str, project: str | None) -> str | None:
    """The token in the environment; on this machine, else the one that the server made for the project."""
    given = os.environ.get(VARIABLE)
    if given or not _is_here(url):
        return given
    from treering.interfaces.servers.http.token import existing_token

    return existing_token(project)


def _is_here(url: str) -> bool:
    """Whether the URL names this machine by its address: a token is not sent to a name that may be anything."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
