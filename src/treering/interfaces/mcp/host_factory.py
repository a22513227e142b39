"""From what a command names to the desk where its agents are served."""

from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from uuid_utils import uuid7

from treering.interfaces.mcp.host import Desk
from treering.interfaces.mcp.shutdown import JOB_SECONDS
from treering.location.repository import repository_around

if TYPE_CHECKING:
    from treering.memory import Memory


def desk_for(db: str | None, project: str | None) -> Desk:
    """The project is the one named, else the repository around the working directory, wherever its memory is."""
    around = repository_around(None)
    return Desk(
        partial(_open, db, project, around),
        session=f"mcp-{uuid7()}",
        clock=_now,
        repository=around if (around / ".git").exists() else None,
        load=_load,
    )


# The library is imported by the first call, or once a client has its first answer: until then only the SDK is needed.


def _open(db: str | None, project: str | None, repository: Path) -> "Memory":
    from treering import compose
    from treering.core.settings import MaintenanceSettings, Settings

    settings = Settings.defaults().model_copy(update={"maintenance": MaintenanceSettings(close_seconds=JOB_SECONDS)})
    return compose.open(db, project=project or compose.current_project(), repository=repository, settings=settings)


def _now() -> datetime:
    from treering.compose import now

    return now()


def _load() -> None:
    from treering.compose import preload_modules

    preload_modules()
