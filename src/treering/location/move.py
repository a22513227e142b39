"""Moves the memory of a repository to its other place: nothing is lost, and no copy stays behind.

At every moment the choice names a place that is whole. Until the copy is complete, that is the old one; then the choice
changes in one step, and only then the old files go. Whoever asks again after a crash finishes what was begun.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from treering.core.errors import InvalidInput, StoreReadOnly, StoreUnavailable, TreeringError
from treering.location.choice import PREPARE, Choice, Identify, Place, choose, file_at, own_file
from treering.location.database_files import copy_whole, leave_project, parts, remove
from treering.location.lock import held
from treering.location.private_files import is_gone
from treering.location.renames import settled
from treering.location.transfer_commands import ProjectsIn, carrying

if TYPE_CHECKING:
    from treering.location.repository import Home
    from treering.ports.store import Store

_WHOSE: Mapping[Place, str] = {
    Place.DATA_FOLDER: "another memory, from before this one was kept in the project",
    Place.PROJECT: "nobody on this machine put it there, it may have come with the repository",
}


@dataclass(frozen=True, slots=True)
class Opening:
    """How a file is opened: beside others, or alone, where nobody else has it open or can open it meanwhile.

    And how it is looked into, with nothing in it run or written.
    """

    shared: Callable[[Path], Store]
    alone: Callable[[Path], Store]
    identify: Identify
    projects_in: ProjectsIn


def keep_at(home: Home, wanted: Place, opening: Opening, now: datetime, seconds: float) -> Path:
    """Have the memory at this place from now on; returns its file. Waits so long for those who are opening it."""
    with held(home, seconds, alone=True):
        choice = settled(home, opening.identify)
        try:
            _have_at(home, choice, wanted, opening, now)
        except OSError as exc:
            raise StoreReadOnly(
                f"the memory of {home.root} cannot be kept in the {wanted} ({exc}); change the permissions, ask again"
            ) from exc
    return file_at(home, wanted)


def _have_at(home: Home, choice: Choice, wanted: Place, opening: Opening, now: datetime) -> None:
    if choice.place is Place.PROJECT and is_gone(home.in_project):
        _begin_anew(home, choice, wanted, opening, now)
    elif choice.place is wanted:
        PREPARE[wanted](home)
        opening.shared(own_file(home, choice, opening.identify)).close()
        _tidy(home, choice)
    else:
        _move(home, choice, wanted, opening, now)


def _begin_anew(home: Home, lost: Choice, wanted: Place, opening: Opening, now: datetime) -> None:
    """Deleted from the project: in the data folder, with the copy that a move left or with nothing; then as wanted."""
    fresh = Choice(lost.project)
    with _set_aside(home.in_project, now):
        if wanted is Place.PROJECT:
            _move(home, fresh, wanted, opening, now, otherwise=lost)
        else:
            opening.shared(home.in_data_folder).close()
            choose(home, fresh)


@contextmanager
def _set_aside(file: Path, now: datetime) -> Iterator[None]:
    """Keeps what stands beside a database that is gone, under another name; where the rest fails, it is put back.

    Its log would be taken for that of the next database, and its blobs would go with what a failed copy left.
    """
    stamp = now.strftime("%Y%m%dT%H%M%S")
    left = {path: path.with_name(f"gone-{stamp}-{path.name}") for path in parts(file) if not is_gone(path)}
    for path, aside in left.items():
        path.rename(aside)
    try:
        yield
    except TreeringError:
        for path, aside in left.items():
            if is_gone(file) and is_gone(path):
                aside.rename(path)
        raise


def _move(
    home: Home, choice: Choice, wanted: Place, opening: Opening, now: datetime, *, otherwise: Choice | None = None
) -> None:
    """`otherwise` is what holds again where it fails: without it, the choice as it was."""
    target = file_at(home, wanted)
    if not choice.remains:
        _refuse_what_is_taken(target, wanted, opening.projects_in)
    PREPARE[choice.place](home)
    source = own_file(home, choice, opening.identify)
    # Migrated where that is needed, or made: for that it takes more than one connection.
    opening.shared(source).close()
    with closing(_alone(home, source, opening)) as store:
        PREPARE[wanted](home)
        choose(home, replace(choice, remains=True))
        try:
            remove(target)
            copy_whole(store, source, target, opening.shared, now)
        except (TreeringError, OSError) as exc:
            _give_up(home, target, otherwise or choice)
            if isinstance(exc, OSError):
                raise StoreReadOnly(f"{target} cannot be made ({exc}); the memory stays in {source}") from exc
            raise
        database = store.identity if wanted is Place.PROJECT else ""
        moved = Choice(choice.project, wanted, database, remains=True)
        choose(home, moved)
    _tidy(home, moved)


def _give_up(home: Home, target: Path, choice: Choice) -> None:
    try:
        remove(target)
    except OSError as exc:
        raise StoreReadOnly(
            f"{target} cannot be made, and what there is of it cannot be deleted ({exc}); change its permissions, then "
            "ask again: the memory is where it was"
        ) from exc
    choose(home, replace(choice, remains=False))


def _refuse_what_is_taken(target: Path, wanted: Place, projects_in: ProjectsIn) -> None:
    there = [path for path in parts(target) if not is_gone(path)]
    if not there:
        return
    how = f"{carrying(target, projects_in, 'if it is yours')}. " if target in there else ""
    raise InvalidInput(
        f"{there[0]} is there already: {_WHOSE[wanted]}. {how[:1].upper()}{how[1:]}Then move away what stands there "
        f"({', '.join(path.name for path in there)}), nothing else, and ask again"
    )


def _alone(home: Home, source: Path, opening: Opening) -> Store:
    try:
        return opening.alone(source)
    except StoreUnavailable as exc:
        raise StoreUnavailable(
            f"the memory of {home.root} is open elsewhere and cannot be moved from {source}; end the agents and "
            "commands that use it, then ask again"
        ) from exc


def _tidy(home: Home, choice: Choice) -> None:
    """Remove what a move left at the place that is not chosen."""
    if not choice.remains:
        return
    left = file_at(home, choice.place.other)
    try:
        if choice.place is Place.PROJECT:
            remove(left)
        else:
            leave_project(left)
    except OSError as exc:
        raise StoreReadOnly(
            f"the memory is in {file_at(home, choice.place)} now, but its old copy {left} cannot be deleted ({exc}); "
            "change its permissions, then ask again"
        ) from exc
    choose(home, replace(choice, remains=False))
