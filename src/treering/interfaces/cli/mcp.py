"""mcp: the server that coding agents talk to."""

import os
from pathlib import Path
from typing import Annotated

import typer

from treering.core.errors import InvalidInput
from treering.interfaces.cli.exit_codes import reported
from treering.interfaces.cli.options import AsJson, Db, Project

_HTTP = "Over HTTP"
_HOST = "127.0.0.1"
_PORT = 18_733
"""T-R-E-E on the keys of a telephone, in a range that no well-known tool uses and no system gives away."""


def mcp(
    *,
    root: Annotated[
        Path | None,
        typer.Option("--root", metavar="FOLDER", help="The project's folder. Without it: where the server is started."),
    ] = None,
    http: Annotated[bool, typer.Option("--http", help="Serve many clients over HTTP, each with the token.")] = False,
    host: Annotated[
        str | None,
        typer.Option("--host", metavar="ADDRESS", help=f"Without it: {_HOST}.", rich_help_panel=_HTTP),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", min=0, max=65_535, help=f"Without it: {_PORT}. 0: any free one.", rich_help_panel=_HTTP),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file",
            metavar="FILE",
            help="A token of your own; so is TREERING_MCP_TOKEN. Without both: one is made on the first start.",
            rich_help_panel=_HTTP,
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            metavar="NAME[:PORT]",
            help="A name by which clients reach it from elsewhere; again for more.",
            rich_help_panel=_HTTP,
        ),
    ] = None,
    db: Db = None,
    project: Project = None,
    json: AsJson = False,
) -> None:
    """Serve this project's memory to a coding agent, over stdin and stdout, or to many over HTTP.

    Clients start it; `treering init` tells them how.
    """
    if root is not None:
        try:
            os.chdir(root)
        except OSError as exc:
            raise InvalidInput(f"--root {root} cannot be entered ({exc.strerror}); name the project's folder") from exc
    named = {
        "--host": host,
        "--port": port,
        "--token-file": token_file,
        "--allow-host": allow_host,
        "--json": json or None,
    }
    if http:
        from treering.interfaces.mcp.host_factory import desk_for
        from treering.interfaces.mcp.http.server import Door, serve_http

        door = Door(
            host or _HOST,
            _PORT if port is None else port,
            tuple(allow_host or ()),
            project,
            token_file,
            os.environ.pop("TREERING_MCP_TOKEN", None),
        )
        serve_http(desk_for(db, project), door, as_json=json)
    elif given := [option for option, value in named.items() if value is not None]:
        raise InvalidInput(f"{', '.join(given)} belongs to --http; add that, or leave it out")
    else:
        from treering.interfaces.mcp.stdio import serve_stdio

        serve_stdio(db, project, reported)
