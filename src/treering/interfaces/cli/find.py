"""get, history and stats: what is there."""

from typing import TYPE_CHECKING

from treering.interfaces.cli.options import AsJson, Db, Project, RecordId, opened
from treering.interfaces.cli.output import emit, record_document

if TYPE_CHECKING:
    from rich.console import RenderableType

    from treering.core.episodes import Episode
    from treering.core.patterns import Pattern
    from treering.core.records import Knowledge
    from treering.core.turns import Turn
    from treering.health.stats import Stats


def get(id: RecordId, db: Db = None, project: Project = None, as_json: AsJson = False) -> None:
    """Show one record, turn or episode, whole."""
    with opened(db, project) as memory:
        record = memory.get(id)
    emit(record_document(record), lambda: _whole(record), as_json=as_json)


def _whole(record: "Knowledge | Turn | Episode | Pattern") -> "RenderableType":
    from treering.core.episodes import Episode

    if isinstance(record, Episode):
        from treering.interfaces.cli import episode_pictures

        return episode_pictures.whole(record)
    from treering.interfaces.cli import show

    return show.whole(record)


def history(id: RecordId, db: Db = None, project: Project = None, as_json: AsJson = False) -> None:
    """Show what happened to a record, and what was believed before."""
    with opened(db, project) as memory:
        entries = memory.history(id)
    from treering.interfaces.cli import show

    emit({"id": id, "entries": entries}, lambda: show.history(entries), as_json=as_json)


def stats(db: Db = None, project: Project = None, as_json: AsJson = False) -> None:
    """Count what the project holds."""
    with opened(db, project) as memory:
        found = memory.stats()
    emit(found, lambda: _counts(found), as_json=as_json)


def _counts(found: "Stats") -> "RenderableType":
    from treering.interfaces.cli import show

    return show.stats(found)
