"""index, impact, deps, related, map: what the code is made of, and what a change will reach."""

from itertools import chain, repeat
from pathlib import Path
from typing import Annotated

import typer

from treering.core.errors import InvalidInput
from treering.interfaces.cli.code.options import LISTED, Depth, Limit, Node, Sure, opened_for
from treering.interfaces.cli.options import AsJson, Db, Project
from treering.interfaces.cli.output import emit


def index(
    path: Annotated[
        Path | None, typer.Argument(metavar="PATH", help="The root of the project. Default: the repository you are in.")
    ] = None,
    *,
    watch: Annotated[
        bool, typer.Option("--watch", help="Go on: read files again whenever they change, until Ctrl-C.")
    ] = False,
    history: Annotated[
        bool,
        typer.Option("--history/--no-history", help="Count which files change together, where there are new commits."),
    ] = True,
    scip: Annotated[
        Path | None,
        typer.Option("--scip", metavar="FILE", help="Add what an index.scip of the same files knows beyond that."),
    ] = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Read the code of a repository into a graph: what is defined where, and what uses what.

    Only what changed since the last time is read. What git ignores, other people's code, generated and very large files
    are left out; the summary counts them.
    """
    from treering.interfaces.cli.code import documents, pictures
    from treering.interfaces.cli.code.progress import indexing_shown, until_signalled

    if watch and scip is not None:
        raise InvalidInput("a SCIP index is of one moment; add it without --watch, then watch")
    with opened_for(db, project, path) as memory:
        if watch:
            shown = chain([pictures.indexed], repeat(pictures.update))
            with until_signalled() as stop, indexing_shown() as tell:
                memory.code.watch(
                    path,
                    stop=stop,
                    on_progress=tell,
                    on_indexed=lambda done: emit(documents.indexed(done), lambda: next(shown)(done), as_json=as_json),
                )
            return
        with indexing_shown() as tell:
            done = memory.code.index(path, history=history, scip=scip, on_progress=tell)
    emit(documents.indexed(done), lambda: pictures.indexed(done), as_json=as_json)


def impact(
    node: Node,
    *,
    depth: Depth = None,
    limit: Limit = None,
    min_confidence: Sure = 0.0,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Show what breaks if something changes: who depends on it, which tests reach it, what is remembered about it."""
    from treering.interfaces.cli.code import documents, pictures

    most = limit or LISTED
    with opened_for(db, project) as memory:
        found = memory.code.impact(node, depth=depth, min_confidence=min_confidence, cap=max(500, most))
    emit(documents.impact(found, most), lambda: pictures.impact(found, most), as_json=as_json)


def deps(
    node: Node,
    *,
    to: Annotated[
        str | None, typer.Option("--to", metavar="NAME", help="How it comes to depend on this, step by step.")
    ] = None,
    flow: Annotated[bool, typer.Option("--flow", help="Where its data comes from and goes to, instead.")] = False,
    depth: Depth = None,
    limit: Limit = None,
    min_confidence: Sure = 0.0,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Show what something rests on, how it comes to depend on another thing, or where its data goes."""
    from treering.interfaces.cli.code import documents, pictures

    if to is not None and flow:
        raise InvalidInput("--to and --flow are different questions; ask one at a time")
    most = limit or LISTED
    with opened_for(db, project) as memory:
        if to is not None:
            way = memory.code.path(node, to)
            emit(documents.route(node, to, way), lambda: pictures.route(node, to, way), as_json=as_json)
        elif flow:
            data = memory.code.data_flow(node, **({} if depth is None else {"depth": depth}))
            emit(documents.data_flow(data), lambda: pictures.data_flow(data, most), as_json=as_json)
        else:
            found = memory.code.dependencies(node, depth=depth, min_confidence=min_confidence, cap=max(500, most))
            emit(documents.dependencies(found, most), lambda: pictures.dependencies(found, most), as_json=as_json)


def related(
    path: Annotated[str, typer.Argument(metavar="FILE", help="A file; it may be one that is yet to be written.")],
    *,
    limit: Limit = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """List the files that belong to a file: changed together in the history, imported, or named alike."""
    from treering.interfaces.cli.code import documents, pictures

    with opened_for(db, project) as memory:
        found = memory.code.related(path, limit=limit or LISTED)
    emit(documents.relations(found), lambda: pictures.relations(found), as_json=as_json)


def map_(
    *,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page that a browser shows, all in one file.")
    ] = None,
    svg: Annotated[Path | None, typer.Option("--svg", metavar="FILE", help="Write a picture.")] = None,
    cycles: Annotated[
        bool, typer.Option("--cycles", help="List the files that depend on each other, instead.")
    ] = False,
    entries: Annotated[
        bool, typer.Option("--entries", help="List where something outside comes in, instead: commands, routes, mains.")
    ] = False,
    limit: Limit = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Show the modules that the files form by what they use, with their sizes and what each is built on."""
    from treering.interfaces.cli.code import documents, pictures
    from treering.interfaces.cli.code.drawing import html_of, svg_of, write_picture

    if cycles and entries:
        raise InvalidInput("--cycles and --entries are different lists; ask for one at a time")
    if (cycles or entries) and (html or svg):
        raise InvalidInput("--html and --svg draw the modules; leave them or the list out")
    with opened_for(db, project) as memory:
        if cycles:
            rounds = memory.code.cycles()
            emit({"cycles": documents.cycles(rounds)}, lambda: pictures.cycles(rounds), as_json=as_json)
            return
        if entries:
            points = memory.code.entry_points()
            emit({"entries": documents.entries(points)}, lambda: pictures.entries(points), as_json=as_json)
            return
        found = memory.code.module_map()
        title = memory.scope.project
    for place, draw in ((html, html_of), (svg, svg_of)):
        if place is not None:
            write_picture(place, draw(found, title))
    emit(documents.module_map(found), lambda: pictures.module_map(found, limit or LISTED), as_json=as_json)
