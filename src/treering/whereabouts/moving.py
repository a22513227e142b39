"""Moves the memory of a repository to its other place: nothing is lost, and no copy stays behind.

At every moment the choice names a place that is whole. Until the copy is complete, that is the old one; then the choice
changes in one step, and only then the old files go. Whoever asks again after a crash finishes what was begun.
"""

import shutil
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from treering.core.errors import InvalidInput, StoreError, StoreReadOnly, StoreUnavailable, TreeringError
from treering.core.scope import Scope
from treering.health.stats import stats
from treering.ports.store import Store
from treering.whereabouts.choosing import (
    PREPARE,
    UNFINISHED,
    UNSEEN,
    Choice,
    Place,
    choose,
    chosen,
    file_at,
    refuse_a_strangers,
    sync,
)
from treering.whereabouts.finding import Home

Open = Callable[[Path], Store]
_LOGS = ("-wal", "-shm", "-journal")
_WHOSE: Mapping[Place, str] = {
    Place.DATA_FOLDER: "another memory, from before this one was kept in the project",
    Place.PROJECT: "nobody on this machine put it there, it may have come with the repository",
}


@dataclass(frozen=True, slots=True)
class Opening:
    """How a file is opened: beside others, or alone, where nobody else has it open or can open it meanwhile."""

    shared: Open
    alone: Open


def keep_at(home: Home, wanted: Place, opening: Opening, now: datetime) -> Path:
    """Have the memory at this place from now on; returns its file."""
    choice = chosen(home)
    if choice.place is Place.PROJECT and not home.in_project.exists():
        # Deleted from the project: it begins anew, or with the copy that a move left.
        choice = Choice()
        choose(home, choice)
    if choice.place is wanted:
        PREPARE[wanted](home)
        with closing(opening.shared(file_at(home, wanted))) as store:
            refuse_a_strangers(home, choice, store.identity)
        _tidy(home, choice)
    else:
        _move(home, choice, wanted, opening, now)
    return file_at(home, wanted)


def _move(home: Home, choice: Choice, wanted: Place, opening: Opening, now: datetime) -> None:
    source, target = file_at(home, choice.place), file_at(home, wanted)
    if not choice.remains:
        _refuse_what_is_taken(home, wanted)
    PREPARE[choice.place](home)
    # Migrated where that is needed, or made: for that it takes more than one connection.
    opening.shared(source).close()
    with closing(_held(home, choice, opening.alone)) as store:
        _refuse_what_was_moved(home, choice)
        refuse_a_strangers(home, choice, store.identity)
        PREPARE[wanted](home)
        choose(home, replace(choice, remains=True))
        try:
            _remove(target)
            _copy(store, source, target, opening.shared, now)
        except (TreeringError, OSError) as exc:
            _remove(target)
            choose(home, replace(choice, remains=False))
            if isinstance(exc, OSError):
                raise StoreReadOnly(f"{target} cannot be made ({exc}); the memory stays in {source}") from exc
            raise
        moved = Choice(wanted, store.identity if wanted is Place.PROJECT else "", remains=True)
        choose(home, moved)
    _tidy(home, moved)


def _refuse_what_is_taken(home: Home, wanted: Place) -> None:
    target = file_at(home, wanted)
    if any(path.exists() or path.is_symlink() for path in _parts(target)):
        raise InvalidInput(
            f"{target} is there already: {_WHOSE[wanted]}. To have what is in it, name it with --db or TREERING_DB, or "
            "carry its records over with `treering export` and `treering import`; else delete it with what stands "
            "beside it. Then ask again"
        )


def _refuse_what_was_moved(home: Home, choice: Choice) -> None:
    if chosen(home) != choice:
        raise StoreUnavailable(f"somebody else has just moved the memory of {home.root}; look where it is, ask again")


def _held(home: Home, choice: Choice, alone: Open) -> Store:
    # Where nothing is any more, an empty database would be made.
    _refuse_what_was_moved(home, choice)
    source = file_at(home, choice.place)
    try:
        return alone(source)
    except StoreUnavailable as exc:
        raise StoreUnavailable(
            f"the memory of {home.root} is open elsewhere and cannot be moved from {source}; end the agents and "
            "commands that use it, then ask again"
        ) from exc


def _copy(store: Store, source: Path, target: Path, opened: Open, now: datetime) -> None:
    copied = store.copy_to(target, moved=True)
    for path in _beside(source):
        aim = target.with_name(path.name)
        if path.is_dir():
            shutil.copytree(path, aim, symlinks=True)
        else:
            shutil.copy2(path, aim, follow_symlinks=False)
    _sync_all(target)
    with closing(opened(target)) as copy:
        same = copy.identity == store.identity and _listed(source) == _listed(target)
        owners = copied.owners if copied else ()
        if not same or any(_counts(owner, store, now) != _counts(owner, copy, now) for owner in owners):
            raise StoreError(f"the copy in {target} is not like {source}, which stays in use; check the disk")


def _counts(owner: Scope, store: Store, now: datetime) -> dict[str, int]:
    counted = stats(owner, store, now)
    return {**counted.records, **counted.knowledge, **counted.states, **counted.jobs}


def _tidy(home: Home, choice: Choice) -> None:
    """Remove what a move left at the place that is not chosen."""
    if not choice.remains:
        return
    left = file_at(home, choice.place.other)
    try:
        if choice.place is Place.PROJECT:
            _remove(left)
        else:
            _leave_project(left)
    except OSError as exc:
        raise StoreReadOnly(
            f"the memory is in {file_at(home, choice.place)} now, but its old copy {left} cannot be deleted ({exc}); "
            "change its permissions, then ask again"
        ) from exc
    choose(home, replace(choice, remains=False))


def _leave_project(file: Path) -> None:
    """Without the folder either, where nobody put anything into it. Where a link leads is nothing of ours."""
    folder = file.parent
    if folder.is_symlink() or not folder.is_dir():
        return
    _remove(file)
    if {path.name for path in folder.iterdir()} <= {UNSEEN, f"{UNSEEN}{UNFINISHED}"}:
        shutil.rmtree(folder)


def _beside(file: Path) -> list[Path]:
    """Its blobs, and what was kept of it when it was damaged."""
    folder = file.parent
    return [path for path in folder.iterdir() if path.name.startswith(f"{file.name}.")] if folder.is_dir() else []


def _parts(file: Path) -> list[Path]:
    """Everything that belongs to a database, there or not."""
    return [file, *(Path(f"{file}{log}") for log in _LOGS), *_beside(file)]


def _remove(file: Path) -> None:
    unfinished = file.parent.glob(f".*{file.name}.*") if file.parent.is_dir() else ()
    for path in (*_parts(file), *unfinished):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _listed(file: Path) -> list[tuple[str, int]]:
    """The files beside a database, and their sizes."""
    found = (inner for path in _beside(file) for inner in (path, *path.rglob("*")) if inner.is_file())
    return sorted((inner.relative_to(file.parent).as_posix(), inner.stat().st_size) for inner in found)


def _sync_all(file: Path) -> None:
    for path in (file, *_beside(file)):
        for inner in (*path.rglob("*"), path):
            if not inner.is_symlink():
                sync(inner)
    sync(file.parent)
