"""Location of the memory: as named, else the file that belongs to the repository."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from treering.compose.plug_ins import load_plug_ins
from treering.compose.settings import load_settings
from treering.compose.stores import SQLITE, data_directory, file_of, now, open_store
from treering.core.errors import TreeringError
from treering.core.settings import Settings
from treering.location.choice import MemoryLocation, file_at, own_file
from treering.location.lock import location_lock
from treering.location.renames import choice_of, ensure_choice
from treering.location.repository import MemoryPaths, repository_around

if TYPE_CHECKING:
    from treering.maintenance.doctor import LocationStatus
    from treering.ports.store import Store


def embedded_path(
    path_or_url: str | os.PathLike[str] | None = None, repository: str | os.PathLike[str] | None = None
) -> Path | None:
    """The file that `open` would use; None if it would use a server."""
    location = named_location(path_or_url)
    if location is None:
        paths = memory_paths(repository)
        return file_at(paths, choice_of(paths, identity_in).place)
    if "://" in location and not location.startswith(SQLITE):
        return None
    return file_of(location)


def current_project(folder: str | os.PathLike[str] | None = None) -> str:
    """Project of the repository around a folder (default: the working directory).

    It keeps its name when the repository is renamed.
    """
    return _project_of(memory_paths(folder))


def keep_in_project(root: Path) -> Path:
    """Keep the memory of the repository around a folder in its `.treering/`, moving it from the data folder.

    No other process may have it open. Returns its file.
    """
    return _set_location(MemoryLocation.PROJECT, root)


def keep_in_data_folder(root: Path) -> Path:
    """Keep the memory of the repository around a folder in the user's data folder. Returns its file."""
    return _set_location(MemoryLocation.DATA_FOLDER, root)


def location_status(
    path_or_url: str | os.PathLike[str] | None = None, repository: str | os.PathLike[str] | None = None
) -> LocationStatus:
    """Location of the memory that `open` would use, relative to the repository."""
    from treering.location.status import location_status
    from treering.maintenance.doctor import LocationStatus
    from treering.ports.store import Check

    try:
        paths = memory_paths(repository)
    except TreeringError:
        # The working directory cannot be read: opening the memory reports that.
        return LocationStatus()
    try:
        choice = choice_of(paths, identity_in)
    except TreeringError as exc:
        return LocationStatus(str(paths.root), found=(Check("place", False, str(exc)),))
    return location_status(paths, choice, embedded_path(path_or_url, repository), identity_in, projects_in)


def may_be_renamed(path_or_url: str | os.PathLike[str] | None = None) -> bool:
    """Whether there are memories of repositories that are gone: one may be the earlier one of this repository."""
    from treering.location.status import RENAMED

    return any(check.name == RENAMED for check in location_status(path_or_url).found)


def named_location(path_or_url: str | os.PathLike[str] | None) -> str | None:
    return os.environ.get("TREERING_DB") or None if path_or_url is None else os.fspath(path_or_url)


def repository_for(place: str | None, project: str | None, repository: str | os.PathLike[str] | None) -> Path | None:
    """The repository whose files the records describe; None if a location or project was named without a repository.

    The working directory of a worker may then be in an unrelated repository.
    """
    return repository_around(repository) if repository is not None or (not place and not project) else None


def default_project(path_or_url: str | os.PathLike[str] | None, repository: str | os.PathLike[str] | None) -> str:
    return _project_of(memory_paths(repository)) if path_or_url is None else "default"


def memory_paths(folder: str | os.PathLike[str] | None = None) -> MemoryPaths:
    return MemoryPaths(repository_around(folder), data_directory().absolute())


def open_repository_store(paths: MemoryPaths, blobs: str | os.PathLike[str] | None, settings: Settings) -> Store:
    """Open the store of a repository's memory; the location lock prevents a concurrent move."""
    with location_lock(paths, settings.store.busy_seconds, exclusive=False):
        _restrict_to_user(paths.data_folder)
        choice = ensure_choice(paths, identity_in)
        return open_store(str(own_file(paths, choice, identity_in)), blobs, settings)


def _restrict_to_user(data_folder: Path) -> None:
    """Restrict Treering's own data folder, which an earlier version may have created, to this user."""
    if not os.environ.get("TREERING_DATA_DIR"):
        with suppress(OSError):
            if data_folder.stat().st_mode & 0o077:
                data_folder.chmod(0o700)


def identity_in(file: Path) -> str:
    from treering.adapters.sql.file_inspection import identity_in

    return identity_in(file)


def projects_in(file: Path) -> Sequence[str]:
    from treering.adapters.sql.file_inspection import projects_in

    return projects_in(file)


def _project_of(paths: MemoryPaths) -> str:
    return choice_of(paths, identity_in).project


def _set_location(place: MemoryLocation, root: Path) -> Path:
    from treering.location.move import StoreOpeners, set_location

    load_plug_ins()
    settings = load_settings(repository=root).settings
    blobs = os.environ.get("TREERING_BLOBS")

    def shared(file: Path) -> Store:
        return open_store(str(file), blobs, settings)

    def exclusive(file: Path) -> Store:
        return open_store(str(file), blobs, settings, exclusive=True)

    opening = StoreOpeners(shared, exclusive, identity_in, projects_in)
    return set_location(memory_paths(root), place, opening, now(), settings.store.busy_seconds)
