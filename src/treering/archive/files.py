"""Output files of exports and backups: they replace no other file, and appear only once they are complete."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp

from treering.archive.blob_folder import blobs_beside
from treering.core.errors import InvalidInput, StoreError, StoreFull, StoreReadOnly

_PREFIX = ".treering-unfinished-"
_LOGS = ("-wal", "-shm", "-journal")
_BEGINNING = 4_096
_FULL = (StoreFull, "free some space and try again")
_ERRORS: Mapping[int | None, tuple[type[StoreError], str]] = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EFBIG: _FULL,
}


def checked_target(
    path: Path, *, force: bool, database: Path | None = None, is_ours: Callable[[Path], bool] = lambda _: False
) -> Path:
    """The file to write, with links resolved; `InvalidInput` if writing it would destroy something else.

    An existing file is replaced only if `is_ours` recognises it or with `force`. Devices, folders and the files of the
    open `database` are never replaced.
    """
    if not path.name or "\0" in str(path):
        raise InvalidInput(f"{str(path)!r} is not a file name; pass the path of the file to write")
    try:
        target = path.resolve()
        mode = target.stat().st_mode if target.exists() else None
    except (OSError, RuntimeError) as exc:
        raise InvalidInput(f"{path} cannot be used ({exc}); pass the path of the file to write") from exc
    _refuse_the_database(target, database)
    if mode is not None and stat.S_ISDIR(mode):
        raise InvalidInput(f"{path} is a folder; pass the path of a file in it")
    if mode is not None and not stat.S_ISREG(mode):
        raise InvalidInput(f"{path} is a device or a pipe, which cannot be replaced; pass a file, or `-` for stdout")
    if not target.parent.is_dir():
        raise StoreReadOnly(f"{path} cannot be written: the folder {path.parent} does not exist; create it first")
    if log := next((log for log in _LOGS if os.path.lexists(f"{target}{log}")), None):
        raise InvalidInput(f"{path}{log} exists, so {path} is a database in use; choose another name")
    if mode is not None and not force and not is_ours(target):
        raise InvalidInput(f"{path} exists already; choose another name, or pass force=True to overwrite it")
    return target


def write_text(path: Path, text: str, *, force: bool, mark: str) -> None:
    """Write a text file that appears only once it is complete; replaces a file that has `mark` near its start."""

    def is_ours(existing: Path) -> bool:
        with existing.open("rb") as file:
            return mark.encode() in file.read(_BEGINNING)

    target = checked_target(path, force=force, is_ours=is_ours)
    with unfinished_folder(target) as folder:
        (folder / target.name).write_text(text, encoding="utf-8")
        os.replace(folder / target.name, target)


def _refuse_the_database(target: Path, database: Path | None) -> None:
    if database is None:
        return
    own = database.resolve()
    parts = (own, blobs_beside(own), *(Path(f"{own}{suffix}") for suffix in (*_LOGS, "-index")))
    if any(part == target or part in target.parents for part in parts):
        raise InvalidInput(f"{target} is part of the memory itself; choose another name")


@contextmanager
def unfinished_folder(target: Path) -> Iterator[Path]:
    """A temporary folder beside `target`, removed at the end together with folders that a crash left behind.

    Errors of the file system become `StoreFull` or `StoreReadOnly`.
    """
    try:
        _remove_abandoned(target.parent)
        folder, handle = _create_locked(target.parent)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(handle)
    except OSError as exc:
        error, advice = _ERRORS.get(exc.errno, (StoreReadOnly, "choose another folder"))
        raise error(f"{target} cannot be written ({exc.strerror or exc}); {advice}") from exc


def _create_locked(parent: Path) -> tuple[Path, int]:
    """A new folder and the lock on it, which the end of the process releases."""
    while True:
        folder = Path(mkdtemp(prefix=_PREFIX, dir=parent))
        try:
            handle = os.open(folder, os.O_RDONLY)
        except FileNotFoundError:
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # Another process considers it abandoned, and removes it.
            os.close(handle)
            continue
        except OSError:  # A file system without locks: there, abandoned folders remain.
            pass
        if folder.is_dir():
            return folder, handle
        os.close(handle)


def _remove_abandoned(parent: Path) -> None:
    for folder in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder)
            finally:
                os.close(handle)
