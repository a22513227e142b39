"""get, history, stats, audit and projects: show what is stored."""

from typing import TYPE_CHECKING, Annotated

import typer

from treering.interfaces.cli.options import QUICK_DRAIN, AsJson, Db, Project, RecordId, opened
from treering.interfaces.cli.output import emit, record_document

if TYPE_CHECKING:
    from rich.console import RenderableType

    from treering.core.episodes import Episode
    from treering.core.patterns import Pattern
    from treering.core.records import Knowledge
    from treering.core.turns import Turn
    from treering.maintenance.stats import Stats


def get(
    id: Annotated[
        str,
        typer.Argument(metavar="ID", help="Id, or its beginning or end, as in a citation `[Memory #id: …]`."),
    ],
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Show a record of any kind in full."""
    with opened(db, project) as memory:
        record = memory.get(memory.knowledge.resolve(id))
    emit(record_document(record), lambda: _in_full(record), as_json=as_json)


def _in_full(record: "Knowledge | Turn | Episode | Pattern") -> "RenderableType":
    from treering.core.episodes import Episode

    if isinstance(record, Episode):
        from treering.interfaces.cli import episode_views

        return episode_views.episode_view(record)
    from treering.interfaces.cli import views as show

    return show.whole(record)


def history(id: RecordId, db: Db = None, project: Project = None, as_json: AsJson = False) -> None:
    """Show the history of a record."""
    with opened(db, project) as memory:
        id = memory.knowledge.complete(id)
        entries = memory.history(id)
    from treering.interfaces.cli import views as show

    emit({"id": id, "entries": entries}, lambda: show.history(entries), as_json=as_json)


def stats(db: Db = None, project: Project = None, as_json: AsJson = False) -> None:
    """Count the records of the project."""
    with opened(db, project, drain_seconds=QUICK_DRAIN) as memory:
        found = memory.stats()
    emit(found, lambda: _counts(found), as_json=as_json)


def audit(
    id: Annotated[str | None, typer.Argument(metavar="ID", help="Only entries about this record or project.")] = None,
    *,
    actions: Annotated[
        list[str] | None,
        typer.Option("--action", metavar="ACTION", help="Only this action: inject, export, delete…; repeatable."),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, max=1000, help="Maximum number of entries.")
    ] = 50,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """List the audit log, newest first: writes, injections, removals."""
    with opened(db, project) as memory:
        entries = memory.audit(actions=actions or (), subject=id, limit=limit)
    from treering.interfaces.cli import views as show

    emit({"entries": entries}, lambda: show.audit(entries), as_json=as_json)


def projects(db: Db = None, project: Project = None, as_json: AsJson = False) -> None:
    """List the projects of the database, with their sizes."""
    with opened(db, project) as memory:
        found = memory.projects()
    from treering.interfaces.cli import views as show

    emit({"projects": found}, lambda: show.projects(found), as_json=as_json)


def _counts(found: "Stats") -> "RenderableType":
    from treering.interfaces.cli import views as show

    return show.stats(found)
