"""Moves the memory of a repository to the other location, without losing data or leaving a copy behind.

At every moment the choice names a complete location: the old one until the copy is complete; then the choice changes
atomically, and the old files are deleted. Repeating the command after a crash finishes the move.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from treering.core.errors import InvalidInput, StoreReadOnly, StoreUnavailable, TreeringError
from treering.location.choice import PREPARE, Choice, Identify, MemoryLocation, file_at, own_file, save_choice
from treering.location.database_files import all_files, copy_database, remove, remove_from_project
from treering.location.lock import location_lock
from treering.location.private_files import is_absent
from treering.location.renames import ensure_choice
from treering.location.transfer_commands import ProjectsIn, transfer_advice

if TYPE_CHECKING:
    from treering.location.repository import MemoryPaths
    from treering.ports.store import Store

_ORIGIN: Mapping[MemoryLocation, str] = {
    MemoryLocation.DATA_FOLDER: "it is another memory, from before this one was kept in the project",
    MemoryLocation.PROJECT: "no user of this machine put it there, so it may have arrived with the repository",
}


@dataclass(frozen=True, slots=True)
class StoreOpeners:
    """Ways to open a file: shared, or exclusively, so that no other process has it open or can open it meanwhile.

    `identify` and `projects_in` only inspect it, without running or writing anything.
    """

    shared: Callable[[Path], Store]
    exclusive: Callable[[Path], Store]
    identify: Identify
    projects_in: ProjectsIn


def set_location(
    paths: MemoryPaths, wanted: MemoryLocation, opening: StoreOpeners, now: datetime, seconds: float
) -> Path:
    """Keep the memory at this location; returns its file. Waits up to `seconds` for processes that are opening it."""
    with location_lock(paths, seconds, exclusive=True):
        choice = ensure_choice(paths, opening.identify)
        try:
            _set_location(paths, choice, wanted, opening, now)
        except OSError as exc:
            raise StoreReadOnly(
                f"the memory of {paths.root} cannot be kept in the {wanted} ({exc}); change its permissions and retry"
            ) from exc
    return file_at(paths, wanted)


def _set_location(
    paths: MemoryPaths, choice: Choice, wanted: MemoryLocation, opening: StoreOpeners, now: datetime
) -> None:
    if choice.place is MemoryLocation.PROJECT and is_absent(paths.in_project):
        _start_over(paths, choice, wanted, opening, now)
    elif choice.place is wanted:
        PREPARE[wanted](paths)
        opening.shared(own_file(paths, choice, opening.identify)).close()
        _remove_leftovers(paths, choice)
    else:
        _move(paths, choice, wanted, opening, now)


def _start_over(paths: MemoryPaths, lost: Choice, wanted: MemoryLocation, opening: StoreOpeners, now: datetime) -> None:
    """The memory was deleted from the project: start with the copy that a move left, or empty."""
    fresh = Choice(lost.project)
    with _moved_aside(paths.in_project, now):
        if wanted is MemoryLocation.PROJECT:
            _move(paths, fresh, wanted, opening, now, otherwise=lost)
        else:
            opening.shared(paths.in_data_folder).close()
            save_choice(paths, fresh)


@contextmanager
def _moved_aside(file: Path, now: datetime) -> Iterator[None]:
    """Rename the remaining files of a missing database; if the block fails, restore them.

    SQLite would take the old log for that of the new database, and cleaning up after a failed copy would delete the
    blobs.
    """
    stamp = now.strftime("%Y%m%dT%H%M%S")
    left = {path: path.with_name(f"gone-{stamp}-{path.name}") for path in all_files(file) if not is_absent(path)}
    for path, aside in left.items():
        path.rename(aside)
    try:
        yield
    except TreeringError:
        for path, aside in left.items():
            if is_absent(file) and is_absent(path):
                aside.rename(path)
        raise


def _move(
    paths: MemoryPaths,
    choice: Choice,
    wanted: MemoryLocation,
    opening: StoreOpeners,
    now: datetime,
    *,
    otherwise: Choice | None = None,
) -> None:
    """`otherwise` is the choice to restore on failure; by default the present one."""
    target = file_at(paths, wanted)
    if not choice.remains:
        _refuse_existing_target(target, wanted, opening.projects_in)
    PREPARE[choice.place](paths)
    source = own_file(paths, choice, opening.identify)
    # Created or migrated first, because that needs more than one connection.
    opening.shared(source).close()
    with closing(_open_exclusively(paths, source, opening)) as store:
        PREPARE[wanted](paths)
        save_choice(paths, replace(choice, remains=True))
        try:
            remove(target)
            copy_database(store, source, target, opening.shared, now)
        except (TreeringError, OSError) as exc:
            _roll_back(paths, target, otherwise or choice)
            if isinstance(exc, OSError):
                raise StoreReadOnly(f"{target} cannot be written ({exc}); the memory stays in {source}") from exc
            raise
        database = store.identity if wanted is MemoryLocation.PROJECT else ""
        moved = Choice(choice.project, wanted, database, remains=True)
        save_choice(paths, moved)
    _remove_leftovers(paths, moved)


def _roll_back(paths: MemoryPaths, target: Path, choice: Choice) -> None:
    try:
        remove(target)
    except OSError as exc:
        raise StoreReadOnly(
            f"{target} cannot be written, and its unfinished files cannot be deleted ({exc}); change its permissions "
            "and try again: the memory has not moved"
        ) from exc
    save_choice(paths, replace(choice, remains=False))


def _refuse_existing_target(target: Path, wanted: MemoryLocation, projects_in: ProjectsIn) -> None:
    there = [path for path in all_files(target) if not is_absent(path)]
    if not there:
        return
    how = f"{transfer_advice(target, projects_in, 'if it is yours')}. " if target in there else ""
    raise InvalidInput(
        f"{there[0]} already exists: {_ORIGIN[wanted]}. {how[:1].upper()}{how[1:]}Then move these files away "
        f"({', '.join(path.name for path in there)}), nothing else, and try again"
    )


def _open_exclusively(paths: MemoryPaths, source: Path, opening: StoreOpeners) -> Store:
    try:
        return opening.exclusive(source)
    except StoreUnavailable as exc:
        raise StoreUnavailable(
            f"the memory of {paths.root} is open in another process and cannot be moved from {source}; stop the agents "
            "and commands that use it and try again"
        ) from exc


def _remove_leftovers(paths: MemoryPaths, choice: Choice) -> None:
    """Delete what a move left at the other location."""
    if not choice.remains:
        return
    left = file_at(paths, choice.place.other)
    try:
        if choice.place is MemoryLocation.PROJECT:
            remove(left)
        else:
            remove_from_project(left)
    except OSError as exc:
        raise StoreReadOnly(
            f"the memory is now in {file_at(paths, choice.place)}, but its old copy {left} cannot be deleted ({exc}); "
            "change its permissions and try again"
        ) from exc
    save_choice(paths, replace(choice, remains=False))
