"""where: the places in the code that a question is about."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treering.interfaces.cli.code.options import opened_for
from treering.interfaces.cli.options import AsJson, Db, Project
from treering.interfaces.cli.output import emit

if TYPE_CHECKING:
    from rich.console import RenderableType

    from treering.code.locations.search import Whereabouts

_LISTED = 5


def where(
    query: Annotated[str, typer.Argument(metavar="QUESTION", help="What is looked for, in words.")],
    *,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help=f"List so many. Default: {_LISTED}.")
    ] = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Find the places in the code that a question is about: the functions, their files and lines."""
    from treering.interfaces.cli.code.progress import indexing_shown

    with opened_for(db, project) as memory, indexing_shown() as tell:
        found = memory.code.where(query, limit=limit or _LISTED, on_progress=tell)
    emit(_document(found), lambda: _picture(found), as_json=as_json)


def _document(found: "Whereabouts") -> dict[str, Any]:
    return {
        "query": found.query,
        "places": [asdict(place) for place in found],
        "missing": found.missing,
        "embedded": found.embedded,
        "standing": {**asdict(found.standing), "whole": found.standing.whole},
    }


def _picture(found: "Whereabouts") -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    from treering.interfaces.cli.code_locations import places, relied_on
    from treering.interfaces.cli.views import FAINT, without

    shown = places(found) if found else Text("nothing in the code has to do with this")
    first = [Text(f"first made the vectors of {found.embedded:,} pieces of code", FAINT)] if found.embedded else []
    return Group(*relied_on(found.standing), shown, *first, *without(found.missing))
