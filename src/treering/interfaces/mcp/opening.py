"""From what a command names to the desk where its agents are served."""

from functools import partial

from treering import compose
from treering.core.settings import Settings, UpkeepSettings
from treering.interfaces.mcp.desk import Desk
from treering.interfaces.mcp.leaving import JOB_SECONDS


def desk_for(db: str | None, project: str | None) -> Desk:
    """The project is the one named, else the repository around the working directory, wherever its memory is."""
    around = compose.repository_around(None)
    return Desk(
        partial(
            compose.open,
            db,
            project=project or compose.current_project(),
            repository=around,
            settings=Settings(upkeep=UpkeepSettings(close_seconds=JOB_SECONDS)),
        ),
        session=f"mcp-{compose.new_id()}",
        clock=compose.now,
        repository=around if (around / ".git").exists() else None,
        load=compose.load_ahead,
    )
