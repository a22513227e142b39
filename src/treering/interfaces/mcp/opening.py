"""From what a command names to the desk where its agents are served."""

from functools import partial

from treering import compose
from treering.core.settings import Settings, UpkeepSettings
from treering.interfaces.mcp.desk import Desk

_JOB_SECONDS = 1.0
"""How long closing waits for a job in the background: a client that ends its server waits for that, and kills it after
two seconds. The next server takes the job over."""


def desk_for(db: str | None, project: str | None) -> Desk:
    """The project is the one named, else the repository around the working directory, wherever its memory is."""
    around = compose.repository_around(None)
    return Desk(
        partial(
            compose.open,
            db,
            project=project or compose.current_project(),
            repository=around,
            settings=Settings(upkeep=UpkeepSettings(close_seconds=_JOB_SECONDS)),
        ),
        session=f"mcp-{compose.new_id()}",
        clock=compose.now,
        repository=around if (around / ".git").exists() else None,
        load=compose.load_ahead,
    )
