"""What `treering serve` runs: the REST API and MCP over the same memories."""

import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treering import compose
from treering.interfaces.mcp.host_factory import host_for, open_served
from treering.interfaces.mcp.http import PATH
from treering.interfaces.servers.http.address import Address
from treering.interfaces.servers.http.options import Announce, HttpOptions
from treering.interfaces.servers.http.token import AccessToken, project_folder
from treering.location.pauses import pause_folders
from treering.location.repository import repository_around

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from treering.interfaces.mcp.host import MemoryHost
    from treering.interfaces.rest.memories import ProjectMemories
    from treering.interfaces.servers.http.limits import HttpLimits
    from treering.memory import Memory


@dataclass(frozen=True, slots=True)
class ServedApplication:
    """The applications of one database, and the memories that they share."""

    memories: "ProjectMemories"
    host: "MemoryHost"
    db: str | None
    project: str | None
    session_key: bytes | None

    def application(self, hosts: frozenset[str], token: AccessToken, limits: "HttpLimits") -> "ASGIApp":
        from treering.interfaces.mcp.http.server import protocol
        from treering.interfaces.rest.app import application
        from treering.interfaces.rest.sign_in import SignInCodes

        mcp = protocol(self.host, limits, session_key=self.session_key)
        codes = SignInCodes(project_folder(self.project))
        return application(
            self.memories,
            hosts,
            token,
            limits,
            codes=codes,
            mounted={PATH: mcp},
            pause_folders=self._pause_folders,
        )

    def _pause_folders(self, project: str) -> tuple[str, ...]:
        """Folders of the hooks that were given the same options as this server, or the name of another project."""
        given = self.project if project == self.memories.default else project
        return pause_folders(compose.data_directory(), repository_around(None), self.db, given)

    def close(self) -> None:
        self.host.close()
        self.memories.close()


def served_application(
    db: str | None, project: str | None, *, session: str | None = None, session_key: bytes | None = None
) -> ServedApplication:
    """The applications for the database and the default project that the options name."""
    from treering.interfaces.rest.memories import ProjectMemories

    default = project or compose.current_project()
    around = repository_around(None)

    def open_memory(name: str) -> "Memory":
        return open_served(db, name, around if name == default else None)

    memories = ProjectMemories(open_memory, default)
    host = host_for(db, project, session, lambda: memories.take(default))
    return ServedApplication(memories, host, db, project, session_key)


def serve_here(db: str | None, options: HttpOptions, announce: Announce) -> None:
    """Serve with this process until it is asked to end."""
    from treering.interfaces.hooks.beside import hooks_beside
    from treering.interfaces.mcp.http.server import start_beside
    from treering.interfaces.servers.http.server import serve

    served = served_application(db, options.project)
    serve(
        served.application,
        options,
        begin=lambda: start_beside(served.host, hooks_beside(db, options.project)),
        close=served.close,
        announce=announce,
    )


def announcement(
    options: HttpOptions, *, opens: bool, as_json: bool, open_url: Callable[[str], object] | None = None
) -> Announce:
    """Prints the URL, a link that signs in to the panel once, and the file of the token, but never the token."""

    def announce(address: Address, port: int, token: AccessToken) -> None:
        from treering.interfaces.rest.sign_in import SignInCodes

        url = f"http://{address.name}:{port}"
        link = f"{url}/sign-in?code={SignInCodes(project_folder(options.project)).create()}"
        file = None if token.file is None else str(token.file)
        if as_json:
            document = {"url": url, "api": f"{url}/api/v1", "mcp": f"{url}{PATH}", "link": link}
            print(json.dumps({**document, "token_file": file, "pid": os.getpid()}), flush=True)
        lines = [
            f"serving at {url} until Ctrl-C; the token is in {file or options.variable}",
            f"  panel  {link} (works once, for five minutes)",
            f"  API    {url}/api/v1/docs",
            f"  MCP    {url}{PATH}",
        ]
        if not address.is_loopback:
            lines.append("requests, with the token, are not encrypted: put a TLS proxy in front of the server")
        print("\n".join(lines), file=sys.stderr, flush=True)
        if opens:
            _open(link, open_url)

    return announce


def _open(link: str, open_url: Callable[[str], object] | None) -> None:
    """In a thread: a browser may take seconds to start, and the server has to answer it."""
    import threading
    import webbrowser

    def open_link() -> None:
        with suppress(OSError, webbrowser.Error):
            (open_url or webbrowser.open)(link)

    threading.Thread(target=open_link, name="treering-browser", daemon=True).start()
