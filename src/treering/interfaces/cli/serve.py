"""serve: REST API, live events, the panel and MCP in one process."""

import os
from pathlib import Path
from typing import Annotated

import typer

from treering.interfaces.cli.options import AsJson, Db, Project

HOST = "127.0.0.1"
PORT = 18_734
"""Next to that of `treering mcp --http`."""
VARIABLE = "TREERING_TOKEN"


def serve(
    *,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")] = HOST,
    port: Annotated[int, typer.Option("--port", min=0, max=65_535, help="Port; 0 picks a free one.")] = PORT,
    open_browser: Annotated[
        bool, typer.Option("--open", help="Open the panel in the browser, signed in by a link that works once.")
    ] = False,
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file",
            metavar="FILE",
            help=f"File with the token, instead of {VARIABLE}. Default: a token made on the first start.",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host", metavar="NAME[:PORT]", help="Host name by which other machines reach it; repeatable."
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers", min=1, max=64, metavar="NUMBER", help="Server processes, on PostgreSQL only. Default: 1."
        ),
    ] = None,
    db: Db = None,
    project: Project = None,
    json: AsJson = False,
) -> None:
    """Serve this memory over HTTP: REST API, live events, the panel and MCP.

    Clients send the token; the panel signs in by a link that works once.
    """
    from treering.interfaces.cli.served_applications import announcement, serve_here
    from treering.interfaces.mcp.host_factory import new_session
    from treering.interfaces.servers.http.options import HttpOptions

    options = HttpOptions(
        host, port, tuple(allow_host or ()), project, token_file, os.environ.pop(VARIABLE, None), VARIABLE
    )
    announce = announcement(options, opens=open_browser, as_json=json)
    if workers is None or workers == 1:
        serve_here(db, options, announce)
        return
    from treering.interfaces.cli.mcp import require_server
    from treering.interfaces.servers.http.workers import serve_workers

    require_server(db)
    serve_workers(
        db,
        options,
        workers,
        module="treering.interfaces.cli.serve_worker",
        session=new_session(),
        announce=announce,
    )
