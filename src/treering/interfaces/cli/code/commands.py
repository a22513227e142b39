"""index, impact, deps, related, map: what the code is made of, and what a change will reach."""

import sys
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treering.core.errors import InvalidInput
from treering.interfaces.cli.code.options import LISTED, Depth, Limit, MapLimit, Node, Sure, named_here, opened_for
from treering.interfaces.cli.options import AsJson, Db, Force, Project
from treering.interfaces.cli.output import emit

if TYPE_CHECKING:
    from treering.memory import Memory


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
        list[Path] | None,
        typer.Option(
            "--scip", metavar="FILE", help="Add what an index.scip of the same files knows beyond that. Repeatable."
        ),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Let this folder take the place of another that the project holds.")
    ] = False,
    status: Annotated[
        bool, typer.Option("--status", help="Only show what is indexed, and whether something is left to do.")
    ] = False,
    forget: Annotated[bool, typer.Option("--forget", help="Take the index away; memories stay. Asks first.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Read the code of a repository into a graph: what is defined where, and what uses what.

    Only what changed is read. What git ignores, other people's code and generated files are left out, and counted.
    """
    from treering.interfaces.cli.code import documents
    from treering.interfaces.cli.code import views as pictures
    from treering.interfaces.cli.code.progress import indexing_shown

    if sum((watch, status, forget)) > 1 or (scip and (status or forget)):
        raise InvalidInput("--watch, --status and --forget are different things to do; ask for one at a time")
    if watch and scip:
        raise InvalidInput("a SCIP index is of one moment; add it without --watch, then watch")
    with opened_for(db, project, path) as memory:
        if status:
            found = memory.code.status()
            emit(found.told(), lambda: pictures.status(found), as_json=as_json)
            return
        if forget:
            _forget(memory, yes=yes, as_json=as_json)
            return
        if watch:
            _watch(memory, path, history=history, replace=replace, as_json=as_json)
            return
        with indexing_shown() as tell:
            done = memory.code.index(path, history=history, scip=scip or (), replace=replace, on_progress=tell)
    emit(documents.indexed(done), lambda: pictures.indexed(done), as_json=as_json)


def _watch(memory: "Memory", path: Path | None, *, history: bool, replace: bool, as_json: bool) -> None:
    from treering.interfaces.cli.code import documents
    from treering.interfaces.cli.code import views as pictures
    from treering.interfaces.cli.code.progress import indexing_shown, trouble_shown, until_signalled

    shown = chain([pictures.indexed], repeat(pictures.update))
    with until_signalled() as stop, indexing_shown() as tell:
        memory.code.watch(
            path,
            stop=stop,
            history=history,
            replace=replace,
            on_progress=tell,
            on_indexed=lambda done: emit(documents.indexed(done), lambda: next(shown)(done), as_json=as_json),
            on_trouble=trouble_shown,
            on_history=lambda note: emit({"history": note}, lambda: pictures.note(note), as_json=as_json),
        )


def _forget(memory: "Memory", *, yes: bool, as_json: bool) -> None:
    from treering.interfaces.cli.code import views as pictures
    from treering.interfaces.cli.views import safe

    found = memory.code.status()
    if not yes:
        if as_json or not sys.stdin.isatty():
            raise InvalidInput(f"--forget takes the index of {found.root} away and nobody is here to ask; add --yes")
        if not typer.confirm(f"Take the index of {safe(found.root)} away? It can be made again; memories stay."):
            raise InvalidInput("nothing was forgotten")
    gone = memory.code.forget()
    emit({"forgotten": gone.told()}, lambda: pictures.forgotten(gone), as_json=as_json)


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
    """Show what breaks if something changes: who depends on it, which tests reach it, what is remembered about it.

    Each stands under what it depends on; the number is how firm the uses on the way are, multiplied.
    """
    from treering.interfaces.cli.code import documents
    from treering.interfaces.cli.code import views as pictures

    most = limit or LISTED
    with opened_for(db, project) as memory:
        found = memory.code.impact(
            named_here(memory, node), depth=depth, min_confidence=min_confidence, cap=max(500, most)
        )
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
    """Show what something rests on, how it comes to depend on another thing, or where its data goes.

    Each stands under what uses it; the number is how firm the uses on the way are, multiplied.
    """
    from treering.interfaces.cli.code import documents
    from treering.interfaces.cli.code import views as pictures

    if to is not None and flow:
        raise InvalidInput("--to and --flow are different questions; ask one at a time")
    most = limit or LISTED
    with opened_for(db, project) as memory:
        named = named_here(memory, node)
        if to is not None:
            way = memory.code.path(named, named_here(memory, to))
            emit(documents.route(node, to, way), lambda: pictures.route(node, to, way), as_json=as_json)
        elif flow:
            data = memory.code.data_flow(named, **({} if depth is None else {"depth": depth}))
            emit(documents.data_flow(data, most), lambda: pictures.data_flow(data, most), as_json=as_json)
        else:
            found = memory.code.dependencies(named, depth=depth, min_confidence=min_confidence, cap=max(500, most))
            emit(documents.dependencies(found, most), lambda: pictures.dependencies(found, most), as_json=as_json)


def related(
    path: Annotated[str, typer.Argument(metavar="FILE", help="A file; it may be one that is yet to be written.")],
    *,
    limit: Limit = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """List the files that belong to a file: changed together in the history, imported, or named alike.

    The likeliest come first, each with the strongest reasons.
    """
    from treering.interfaces.cli.code import documents
    from treering.interfaces.cli.code import views as pictures

    with opened_for(db, project) as memory:
        found = memory.code.related(named_here(memory, path), limit=limit or LISTED)
    emit(documents.relations(found), lambda: pictures.relations(found), as_json=as_json)


def map_(
    *,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page that a browser shows, all in one file.")
    ] = None,
    svg: Annotated[Path | None, typer.Option("--svg", metavar="FILE", help="Write a picture.")] = None,
    force: Force = False,
    cycles: Annotated[
        bool, typer.Option("--cycles", help="List the files that depend on each other, instead.")
    ] = False,
    entries: Annotated[
        bool, typer.Option("--entries", help="List where something outside comes in, instead: commands, routes, mains.")
    ] = False,
    tests: Annotated[
        bool, typer.Option("--tests", help="With --entries: those in tests as well, which are left out otherwise.")
    ] = False,
    limit: MapLimit = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Show the modules that the files form by what they use, with their sizes and what each is built on."""
    from treering.archive.files import write_text
    from treering.code.map_drawing import drawing, page
    from treering.interfaces.cli.code import documents
    from treering.interfaces.cli.code import views as pictures

    if cycles and entries:
        raise InvalidInput("--cycles and --entries are different lists; ask for one at a time")
    if tests and not entries:
        raise InvalidInput("--tests says which entry points are listed; add --entries, or leave it out")
    if (cycles or entries) and (html or svg):
        raise InvalidInput("--html and --svg draw the modules; leave them or the list out")
    most = limit or LISTED
    with opened_for(db, project) as memory:
        if cycles:
            rounds = memory.code.cycles()
            emit(documents.cycles(rounds, limit), lambda: pictures.cycles(rounds, most), as_json=as_json)
            return
        if entries:
            points = memory.code.entry_points()
            emit(
                documents.entries(points, limit, tests=tests),
                lambda: pictures.entries(points, most, tests=tests),
                as_json=as_json,
            )
            return
        found = memory.code.module_map()
        title = memory.scope.project
    for place, draw, mark in ((html, page, ": modules</title>"), (svg, drawing, 'class="map" role="img"')):
        if place is not None:
            write_text(place, draw(found, title), force=force, mark=mark)
    emit(documents.module_map(found, limit), lambda: pictures.module_map(found, most), as_json=as_json)
