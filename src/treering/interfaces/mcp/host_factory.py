"""Creates the host of the memory that a command names."""

from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from uuid_utils import uuid7

from treering.interfaces.mcp.host import MemoryHost
from treering.interfaces.servers.shutdown import JOB_SECONDS
from treering.location.repository import repository_around

if TYPE_CHECKING:
    from collections.abc import Callable

    from treering.memory import Memory


def new_session() -> str:
    """The session of a server; over HTTP, part of the sessions of its clients."""
    return f"mcp-{uuid7()}"


def host_for(
    db: str | None,
    project: str | None,
    session: str | None = None,
    open_memory: "Callable[[], Memory] | None" = None,
) -> MemoryHost:
    """A host for the named project, else for the current repository, whichever database its memory is in.

    Servers that share their clients have the same `session`; `open_memory` gives a memory that others use as well.
    """
    around = repository_around(None)
    return MemoryHost(
        open_memory or partial(open_served, db, project, around),
        session=session or new_session(),
        clock=_now,
        repository=around if (around / ".git").exists() else None,
        load=_load,
    )


# The library is imported by the first call, or after the first answer; until then only the SDK is needed.


def open_served(db: str | None, project: str | None, repository: Path | None) -> "Memory":
    """A memory whose background job ends soon enough for the shutdown of a server."""
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
