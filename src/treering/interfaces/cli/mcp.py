"""mcp: serve the memory to coding agents."""

import os
from pathlib import Path
from typing import Annotated

import typer

from treering.core.errors import InvalidInput
from treering.interfaces.cli.exit_codes import report
from treering.interfaces.cli.options import AsJson, Db, Project
from treering.interfaces.hooks.beside import hooks_beside

_HTTP = "Over HTTP"
_HOST = "127.0.0.1"
_PORT = 18_733
"""T-R-E-E on a telephone keypad, outside the ranges of well-known tools and of ephemeral ports."""


def mcp(
    *,
    root: Annotated[
        Path | None,
        typer.Option("--root", metavar="FOLDER", help="Folder of the project. Default: the working directory."),
    ] = None,
    http: Annotated[
        bool, typer.Option("--http", help="Serve several clients over HTTP, authenticated by a token.")
    ] = False,
    host: Annotated[
        str | None,
        typer.Option(
            "--host", metavar="ADDRESS", help=f"Address to listen on. Default: {_HOST}.", rich_help_panel=_HTTP
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port", min=0, max=65_535, help=f"Port; 0 picks a free one. Default: {_PORT}.", rich_help_panel=_HTTP
        ),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file",
            metavar="FILE",
            help="File with the token, instead of TREERING_MCP_TOKEN. Default: a token made on the first start.",
            rich_help_panel=_HTTP,
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            metavar="NAME[:PORT]",
            help="Host name by which other machines reach it; repeatable.",
            rich_help_panel=_HTTP,
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            min=1,
            max=64,
            metavar="NUMBER",
            help="Server processes, on PostgreSQL only. Default: 1.",
            rich_help_panel=_HTTP,
        ),
    ] = None,
    db: Db = None,
    project: Project = None,
    json: AsJson = False,
) -> None:
    """Serve this memory over MCP: to one coding agent on stdin and stdout, or to several over HTTP.

    Clients start it; `treering init` configures them.
    """
    if root is not None:
        try:
            os.chdir(root)
        except OSError as exc:
            raise InvalidInput(f"cannot enter --root {root} ({exc.strerror}); pass the folder of the project") from exc
    http_options = {
        "--host": host,
        "--port": port,
        "--token-file": token_file,
        "--allow-host": allow_host,
        "--workers": workers,
        "--json": json or None,
    }
    if http:
        from treering.interfaces.servers.http.options import HttpOptions

        options = HttpOptions(
            host or _HOST,
            _PORT if port is None else port,
            tuple(allow_host or ()),
            project,
            token_file,
            os.environ.pop("TREERING_MCP_TOKEN", None),
        )
        if workers is not None and workers > 1:
            from functools import partial

            from treering.interfaces.mcp.host_factory import new_session
            from treering.interfaces.mcp.http.announcement import announce
            from treering.interfaces.servers.http.workers import serve_workers

            require_server(db)
            serve_workers(
                db,
                options,
                workers,
                module="treering.interfaces.cli.mcp_worker",
                session=new_session(),
                announce=partial(announce, options, as_json=json),
            )
        else:
            from treering.interfaces.mcp.host_factory import host_for
            from treering.interfaces.mcp.http.server import serve_http

            serve_http(host_for(db, project), options, hooks_beside(db, project), as_json=json)
    elif given := [option for option, value in http_options.items() if value is not None]:
        raise InvalidInput(f"{', '.join(given)} has no effect without --http; add --http")
    else:
        from treering.interfaces.mcp.stdio import serve_stdio

        serve_stdio(db, project, report, hooks_beside(db, project))


def require_server(db: str | None) -> None:
    """`InvalidInput` if the memory is a file, which one process serves faster than several."""
    from treering import compose

    file = compose.embedded_path(db)
    if file is not None:
        raise InvalidInput(
            f"--workers needs PostgreSQL, and this memory is the file {file}, which has one writer at a time; omit "
            "--workers, or move the memory to a server and pass its URL with --db"
        )
