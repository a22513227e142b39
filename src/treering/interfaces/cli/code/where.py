"""Command where: locations in the code that answer a question."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treering.interfaces.cli.code.options import opened_for
from treering.interfaces.cli.options import AsJson, Db, Project
from treering.interfaces.cli.output import emit

if TYPE_CHECKING:
    from rich.console import RenderableType

    from treering.code.locations.search import CodeLocations

_LISTED = 5


def where(
    query: Annotated[str, typer.Argument(metavar="QUESTION", help="What to look for, in words.")],
    *,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help=f"Maximum number of results. Default: {_LISTED}.")
    ] = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Find the locations in the code that answer a question: functions with their files and lines."""
    from treering.interfaces.cli.code.progress import progress_bar

    with opened_for(db, project) as memory, progress_bar() as show:
        found = memory.code.where(query, limit=limit or _LISTED, on_progress=show)
    emit(_document(found), lambda: _view(found), as_json=as_json)


def _document(found: "CodeLocations") -> dict[str, Any]:
    return {
        "query": found.query,
        "places": [asdict(place) for place in found],
        "missing": found.missing,
        "embedded": found.embedded,
        "status": {**asdict(found.status), "up_to_date": found.status.up_to_date},
    }


def _view(found: "CodeLocations") -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    from treering.interfaces.cli.code_locations import index_warnings, places
    from treering.interfaces.cli.views import FAINT, without

    shown = places(found) if found else Text("no matching code found")
    first = [Text(f"embedded {found.embedded:,} chunks of code first", FAINT)] if found.embedded else []
    return Group(*index_warnings(found.status), shown, *first, *without(found.missing))
