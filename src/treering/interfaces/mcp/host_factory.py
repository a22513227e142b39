"""Creates the host of the memory that a command names."""

from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from uuid_utils import uuid7

from treering.interfaces.mcp.host import MemoryHost
from treering.interfaces.mcp.shutdown import JOB_SECONDS
from treering.location.repository import repository_around

if TYPE_CHECKING:
    from treering.memory import Memory


def new_session() -> str:
    """The session of a server; over HTTP, part of the sessions of its clients."""
    return f"mcp-{uuid7()}"


def host_for(db: str | None, project: str | None, session: str | None = None) -> MemoryHost:
    """A host for the named project, else for the current repository, whichever database its memory is in.

    Servers that share their clients have the same `session`.
    """
    around = repository_around(None)
    return MemoryHost(
        partial(_open, db, project, around),
        session=session or new_session(),
        clock=_now,
        repository=around if (around / ".git").exists() else None,
        load=_load,
    )


# The library is imported by the first call, or after the first answer; until then only the SDK is needed.


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
