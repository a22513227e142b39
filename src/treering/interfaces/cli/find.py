"""get, history and stats: what is there."""

from typing import TYPE_CHECKING

from treering.interfaces.cli.options import AsJson, Db, Project, RecordId, opened
from treering.interfaces.cli.output import emit, record_document

if TYPE_CHECKING:
    from rich.console import RenderableType


def get(id: RecordId, db: Db = None, project: Project = None, as_json: AsJson = False) -> None:
    """Show one record, turn or episode, whole."""
    with opened(db, project) as memory:
        record = memory.get(id)
    from treering.core.episodes import Episode
    from treering.interfaces.cli import episode_pictures, show

    def picture() -> "RenderableType":
        return episode_pictures.whole(record) if isinstance(record, Episode) else show.whole(record)

    emit(record_document(record), picture, as_json=as_json)


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
    from treering.interfaces.cli import show

    emit(found, lambda: show.stats(found), as_json=as_json)
