"""Commands index, impact, annotate, deps, related and map."""

import sys
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treering.core.errors import InvalidInput
from treering.interfaces.cli.code.options import (
    LISTED,
    Depth,
    Limit,
    MapLimit,
    MinConfidence,
    Node,
    Unresolved,
    opened_for,
    resolve_from_cwd,
)
from treering.interfaces.cli.options import AsJson, Db, Force, Project
from treering.interfaces.cli.output import emit

if TYPE_CHECKING:
    from treering.memory import Memory


def index(
    path: Annotated[
        Path | None,
        typer.Argument(metavar="PATH", help="Root of the project. Default: the repository around the current folder."),
    ] = None,
    *,
    watch: Annotated[
        bool, typer.Option("--watch", help="Keep running: read files again whenever they change, until Ctrl-C.")
    ] = False,
    history: Annotated[
        bool,
        typer.Option("--history/--no-history", help="Count which files change together, if there are new commits."),
    ] = True,
    scip: Annotated[
        list[Path] | None,
        typer.Option(
            "--scip", metavar="FILE", help="Add the edges of a SCIP index (index.scip) of the same files. Repeatable."
        ),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace another folder that the project holds by this one.")
    ] = False,
    status: Annotated[
        bool, typer.Option("--status", help="Only show what is indexed and whether work is left to do.")
    ] = False,
    forget: Annotated[bool, typer.Option("--forget", help="Remove the index; memories stay. Asks first.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Index the code of a repository as a graph: what is defined where, and what uses what.

    Only changes are read. Files that git ignores, vendored code and generated files are skipped, and counted.
    """
    from treering.interfaces.cli.code import documents, views
    from treering.interfaces.cli.code.progress import progress_bar

    if sum((watch, status, forget)) > 1 or (scip and (status or forget)):
        raise InvalidInput(
            "--watch, --status and --forget exclude each other, and --scip only adds to an index; pass one"
        )
    if watch and scip:
        raise InvalidInput("--scip adds an index of one moment, so it cannot be combined with --watch; run it first")
    with opened_for(db, project, path) as memory:
        if status:
            found = memory.code.status()
            emit(found.to_document(), lambda: views.status(found), as_json=as_json)
            return
        if forget:
            _forget(memory, yes=yes, as_json=as_json)
            return
        if watch:
            _watch(memory, path, history=history, replace=replace, as_json=as_json)
            return
        with progress_bar() as show:
            done = memory.code.index(path, history=history, scip=scip or (), replace=replace, on_progress=show)
    emit(documents.indexed(done), lambda: views.indexed(done), as_json=as_json)


def _watch(memory: "Memory", path: Path | None, *, history: bool, replace: bool, as_json: bool) -> None:
    from treering.interfaces.cli.code import documents, views
    from treering.interfaces.cli.code.progress import progress_bar, report_trouble, stop_on_signal

    shown = chain([views.indexed], repeat(views.update))
    with stop_on_signal() as stop, progress_bar() as show:
        memory.code.watch(
            path,
            stop=stop,
            history=history,
            replace=replace,
            on_progress=show,
            on_indexed=lambda done: emit(documents.indexed(done), lambda: next(shown)(done), as_json=as_json),
            on_trouble=report_trouble,
            on_history=lambda note: emit({"history": note}, lambda: views.note(note), as_json=as_json),
        )


def _forget(memory: "Memory", *, yes: bool, as_json: bool) -> None:
    from treering.interfaces.cli.code import views
    from treering.interfaces.cli.views import safe

    found = memory.code.status()
    if not yes:
        if as_json or not sys.stdin.isatty():
            raise InvalidInput(
                f"--forget removes the index of {found.root}, but stdin is not a terminal to confirm it; pass --yes"
            )
        if not typer.confirm(f"Remove the index of {safe(found.root)}? It can be built again; memories stay."):
            raise InvalidInput("nothing was removed: the confirmation was declined")
    gone = memory.code.forget()
    emit({"forgotten": gone.to_document()}, lambda: views.forgotten(gone), as_json=as_json)


def impact(
    node: Node,
    *,
    unresolved: Unresolved = False,
    depth: Depth = None,
    limit: Limit = None,
    min_confidence: MinConfidence = 0.0,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Show what breaks if something changes: its dependents, the tests that reach it, and memories about it.

    Each entry is listed under what it depends on; the number is the product of the weights on the path. Uses of the
    same name that could not be resolved are counted.
    """
    from treering.interfaces.cli.code import documents, views

    listed = limit or LISTED
    with opened_for(db, project) as memory:
        named = resolve_from_cwd(memory, node)
        if unresolved:
            _show_unresolved(memory, named, listed, inside=False, as_json=as_json)
            return
        found = memory.code.impact(named, depth=depth, min_confidence=min_confidence, cap=max(500, listed))
    emit(documents.impact(found, listed), lambda: views.impact(found, listed), as_json=as_json)


def annotate(
    node: Node,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What holds for it, in a sentence.")],
    *,
    kind: Annotated[
        str, typer.Option("--kind", metavar="KIND", help="invariant, decision or pattern. Default: invariant.")
    ] = "invariant",
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Attach an invariant, a decision or a pattern to a part of the code; `treering impact` shows it."""
    from treering.core.records import Source
    from treering.interfaces.cli import views as show
    from treering.interfaces.cli.output import record_document

    with opened_for(db, project) as memory:
        record = memory.code.annotate(resolve_from_cwd(memory, node), text, kind=kind, source=Source.USER_TAUGHT)
    emit(record_document(record), lambda: show.remembered("annotated", record, text), as_json=as_json)


def _show_unresolved(memory: "Memory", node: str, limit: int, *, inside: bool, as_json: bool) -> None:
    """List the uses that may be of a node or, with `inside`, those in it."""
    from treering.interfaces.cli.code import documents, views

    uses = memory.code.unresolved(node, inside=inside)
    emit(documents.unresolved(uses, limit), lambda: views.unresolved(uses, limit), as_json=as_json)


def deps(
    node: Node,
    *,
    to: Annotated[
        str | None, typer.Option("--to", metavar="NAME", help="Show the dependency path to this node, step by step.")
    ] = None,
    flow: Annotated[bool, typer.Option("--flow", help="Show where its data comes from and goes to instead.")] = False,
    unresolved: Unresolved = False,
    depth: Depth = None,
    limit: Limit = None,
    min_confidence: MinConfidence = 0.0,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Show what something depends on, the path by which it depends on another node, or where its data goes.

    Each entry is listed under what uses it; the number is the product of the weights on the path.
    """
    from treering.interfaces.cli.code import documents, views

    if (to is not None) + flow + unresolved > 1:
        raise InvalidInput("--to, --flow and --unresolved exclude each other; pass one")
    listed = limit or LISTED
    with opened_for(db, project) as memory:
        named = resolve_from_cwd(memory, node)
        if unresolved:
            _show_unresolved(memory, named, listed, inside=True, as_json=as_json)
        elif to is not None:
            way = memory.code.path(named, resolve_from_cwd(memory, to))
            emit(documents.route(node, to, way), lambda: views.route(node, to, way), as_json=as_json)
        elif flow:
            data = memory.code.data_flow(named, **({} if depth is None else {"depth": depth}))
            emit(documents.data_flow(data, listed), lambda: views.data_flow(data, listed), as_json=as_json)
        else:
            found = memory.code.dependencies(named, depth=depth, min_confidence=min_confidence, cap=max(500, listed))
            emit(documents.dependencies(found, listed), lambda: views.dependencies(found, listed), as_json=as_json)


def related(
    path: Annotated[str, typer.Argument(metavar="FILE", help="A file; with a git history it need not exist yet.")],
    *,
    limit: Limit = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """List the files related to a file: changed or used together, imported, or named alike.

    The most related come first, each with the strongest reasons.
    """
    from treering.interfaces.cli.code import documents, views

    with opened_for(db, project) as memory:
        found = memory.code.related(resolve_from_cwd(memory, path), limit=limit or LISTED)
    emit(documents.relations(found), lambda: views.relations(found), as_json=as_json)


def map_(
    *,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a self-contained HTML page.")
    ] = None,
    svg: Annotated[Path | None, typer.Option("--svg", metavar="FILE", help="Write an SVG drawing.")] = None,
    force: Force = False,
    cycles: Annotated[bool, typer.Option("--cycles", help="List the files that depend on each other instead.")] = False,
    entries: Annotated[
        bool, typer.Option("--entries", help="List the entry points instead: commands, routes, main functions.")
    ] = False,
    tests: Annotated[bool, typer.Option("--tests", help="With --entries: include those in tests.")] = False,
    limit: MapLimit = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Show the modules that the files form by their uses, with their sizes and what each depends on."""
    from treering.archive.files import write_text
    from treering.interfaces.cli.code import documents, views

    if cycles and entries:
        raise InvalidInput("--cycles and --entries exclude each other; pass one")
    if tests and not entries:
        raise InvalidInput("--tests applies to entry points only; add --entries, or leave it out")
    if (cycles or entries) and (html or svg):
        raise InvalidInput("--html and --svg draw the modules, not a list; leave out --cycles and --entries")
    listed = limit or LISTED
    with opened_for(db, project) as memory:
        if cycles:
            rounds = memory.code.cycles()
            emit(documents.cycles(rounds, limit), lambda: views.cycles(rounds, listed), as_json=as_json)
            return
        if entries:
            points = memory.code.entry_points()
            emit(
                documents.entries(points, limit, tests=tests),
                lambda: views.entries(points, listed, tests=tests),
                as_json=as_json,
            )
            return
        found = memory.code.module_map()
        title = memory.scope.project
        drawings = (
            (html, memory.code.map_html, ": modules</title>"),
            (svg, memory.code.map_svg, 'class="map" role="img"'),
        )
        for path, draw, mark in drawings:
            if path is not None:
                write_text(path, draw(found, title), force=force, mark=mark)
    emit(documents.module_map(found, limit), lambda: views.module_map(found, listed), as_json=as_json)
