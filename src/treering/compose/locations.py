"""Where the memory is: what was named, else the place that belongs to the repository."""

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
from treering.location.choice import Place, file_at, own_file
from treering.location.lock import held
from treering.location.renames import choice_of, settled
from treering.location.repository import Home, repository_around

if TYPE_CHECKING:
    from treering.maintenance.doctor import Standing
    from treering.ports.store import Store


def embedded_path(
    path_or_url: str | os.PathLike[str] | None = None, repository: str | os.PathLike[str] | None = None
) -> Path | None:
    """The file that `open` would use; None where a server is meant."""
    location = named_place(path_or_url)
    if location is None:
        home = home_of(repository)
        return file_at(home, choice_of(home, identity_in).place)
    if "://" in location and not location.startswith(SQLITE):
        return None
    return file_of(location)


def current_project() -> str:
    """The project of the repository around the working directory: it keeps its name when it is renamed."""
    return _project_of(home_of())


def keep_in_project(root: Path) -> Path:
    """Keep the memory of the repository around a folder in its `.treering/` from now on, moved from the data folder.

    Nobody else may have it open. Returns its file.
    """
    return _keep_at(Place.PROJECT, root)


def keep_in_data_folder(root: Path) -> Path:
    """Keep the memory of the repository around a folder in the user's data folder again. Returns its file."""
    return _keep_at(Place.DATA_FOLDER, root)


def standing(
    path_or_url: str | os.PathLike[str] | None = None, repository: str | os.PathLike[str] | None = None
) -> Standing:
    """How the memory that `open` would use stands to the repository around."""
    from treering.location.status import standing_of
    from treering.maintenance.doctor import Standing
    from treering.ports.store import Check

    try:
        home = home_of(repository)
    except TreeringError:
        # A working directory that cannot be read: whoever opens the memory hears of it.
        return Standing()
    try:
        choice = choice_of(home, identity_in)
    except TreeringError as exc:
        return Standing(str(home.root), found=(Check("place", False, str(exc)),))
    return standing_of(home, choice, embedded_path(path_or_url, repository), identity_in, projects_in)


def named_place(path_or_url: str | os.PathLike[str] | None) -> str | None:
    return os.environ.get("TREERING_DB") or None if path_or_url is None else os.fspath(path_or_url)


def repository_in(place: str | None, project: str | None, repository: str | os.PathLike[str] | None) -> Path | None:
    """The repository whose files records are about; None where a place or a project was named, and no repository.

    A worker may stand in any other repository then.
    """
    return repository_around(repository) if repository is not None or (not place and not project) else None


def project_in(path_or_url: str | os.PathLike[str] | None, repository: str | os.PathLike[str] | None) -> str:
    return _project_of(home_of(repository)) if path_or_url is None else "default"


def home_of(folder: str | os.PathLike[str] | None = None) -> Home:
    return Home(repository_around(folder), data_directory().absolute())


def store_of(home: Home, blobs: str | os.PathLike[str] | None, settings: Settings) -> Store:
    """The store of a repository's memory, where it is now: nobody moves it before it is open."""
    with held(home, settings.store.busy_seconds, alone=False):
        _close_to_others(home.data)
        choice = settled(home, identity_in)
        return open_store(str(own_file(home, choice, identity_in)), blobs, settings)


def _close_to_others(data: Path) -> None:
    """Restrict Treering's own data folder, which an earlier version may have created, to this user."""
    if not os.environ.get("TREERING_DATA_DIR"):
        with suppress(OSError):
            if data.stat().st_mode & 0o077:
                data.chmod(0o700)


def identity_in(file: Path) -> str:
    from treering.adapters.sql.file_inspection import identity_in

    return identity_in(file)


def projects_in(file: Path) -> Sequence[str]:
    from treering.adapters.sql.file_inspection import projects_in

    return projects_in(file)


def _project_of(home: Home) -> str:
    return choice_of(home, identity_in).project


def _keep_at(place: Place, root: Path) -> Path:
    from treering.location.move import Opening, keep_at

    load_plug_ins()
    settings = load_settings(repository=root).settings
    blobs = os.environ.get("TREERING_BLOBS")

    def shared(file: Path) -> Store:
        return open_store(str(file), blobs, settings)

    def alone(file: Path) -> Store:
        return open_store(str(file), blobs, settings, alone=True)

    opening = Opening(shared, alone, identity_in, projects_in)
    return keep_at(home_of(root), place, opening, now(), settings.store.busy_seconds)
