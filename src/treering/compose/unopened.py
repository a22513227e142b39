"""The doctor's report about a memory that cannot be opened."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from treering import __version__
from treering.compose.locations import current_project, embedded_path, location_status
from treering.core.errors import TreeringError

if TYPE_CHECKING:
    from treering.maintenance.doctor import DoctorReport


def unopened_report(db: str | None, project: str | None, error: TreeringError) -> DoctorReport:
    """What is known without opening the memory: its place, its size, and the error."""
    from treering.maintenance.doctor import DoctorReport
    from treering.ports.store import Check

    location = location_status(db)
    engine, path = _engine_and_file(db)
    return DoctorReport(
        version=__version__,
        engine=engine,
        location=str(path or "") if engine == "sqlite" else "the named server",
        project=project or _project_if_known(),
        blobs="",
        checks=(Check("open", False, str(error)), *(each for each in location.found if each.detail != str(error))),
        sizes={"database": path.stat().st_size} if path is not None and os.path.isfile(path) else {},
        missing={},
        repository=location.repository,
        place=location.place,
    )


def _engine_and_file(db: str | None) -> tuple[str, Path | None]:
    """The file is None for a server, and if the notes about the location cannot be read."""
    try:
        path = embedded_path(db)
    except TreeringError:
        return "sqlite", None
    return "postgresql" if path is None else "sqlite", path


def _project_if_known() -> str:
    try:
        return current_project()
    except TreeringError:
        return ""
