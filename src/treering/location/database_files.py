"""The files of a memory: database, log, blobs, and copies of a damaged database."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from treering.core.errors import StoreError
from treering.location.choice import GITIGNORE
from treering.location.private_files import sync
from treering.maintenance.stats import stats

if TYPE_CHECKING:
    from treering.core.scope import Scope
    from treering.ports.store import Store

_DERIVED = ("-wal", "-shm", "-journal", "-index")  # files that SQLite or the first search make again


def copy_database(store: Store, source: Path, target: Path, opened: Callable[[Path], Store], now: datetime) -> None:
    """Copy the database with the files beside it; the copy is synced and compared before it is used."""
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
            raise StoreError(f"the copy in {target} differs from {source}, which stays in use; check the disk")


def all_files(file: Path) -> list[Path]:
    """All files that may belong to a database, existing or not."""
    return [file, *(Path(f"{file}{suffix}") for suffix in _DERIVED), *_beside(file)]


def remove(file: Path) -> None:
    """Delete the database with all of its files, including unfinished ones."""
    unfinished = file.parent.glob(f".*{file.name}.*") if file.parent.is_dir() else ()
    for path in (*all_files(file), *unfinished):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def remove_from_project(file: Path) -> None:
    """Delete the database, and its folder if nothing else is in it. A linked folder is left alone."""
    folder = file.parent
    if folder.is_symlink() or not folder.is_dir():
        return
    remove(file)
    if all(path.name.startswith(GITIGNORE) for path in folder.iterdir()):
        shutil.rmtree(folder)


def _beside(file: Path) -> list[Path]:
    folder = file.parent
    return [path for path in folder.iterdir() if path.name.startswith(f"{file.name}.")] if folder.is_dir() else []


def _counts(owner: Scope, store: Store, now: datetime) -> dict[str, int]:
    counted = stats(owner, store, now)
    return {**counted.records, **counted.knowledge, **counted.states, **counted.jobs}


def _listed(file: Path) -> list[tuple[str, int]]:
    """Files beside a database, with their sizes."""
    found = (inner for path in _beside(file) for inner in (path, *path.rglob("*")) if inner.is_file())
    return sorted((inner.relative_to(file.parent).as_posix(), inner.stat().st_size) for inner in found)


def _sync_all(file: Path) -> None:
    for path in (file, *_beside(file)):
        for inner in (*path.rglob("*"), path):
            if not inner.is_symlink():
                sync(inner)
    sync(file.parent)
