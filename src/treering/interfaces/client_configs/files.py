"""Reads and replaces whole files: a crash leaves the old file or the new one."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from treering.core.errors import ClientFileUnusable


@contextmanager
def translated_errors(path: Path, action: str) -> Iterator[None]:
    """Turn an `OSError` into `ClientFileUnusable`, which says what failed and what to do."""
    try:
        yield
    except OSError as exc:
        reason = exc.strerror or exc
        raise ClientFileUnusable(f"{path} cannot be {action} ({reason}); correct that, then run this again") from exc


def target_of(path: Path) -> Path:
    """The file that a path leads to through all links, whether it exists or not."""
    with translated_errors(path, "followed"):
        try:
            return path.resolve()
        except RuntimeError as exc:
            raise OSError(0, "its links form a loop") from exc


def read_text(path: Path) -> str | None:
    """The text of a file; None if it does not exist."""
    with translated_errors(path, "read"):
        try:
            return path.read_bytes().decode()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except UnicodeDecodeError as exc:
            raise ClientFileUnusable(f"{path} is not UTF-8 text; save it as UTF-8, then run this again") from exc


def refuse_read_only(path: Path) -> None:
    """Refuse a read-only file, although it could be replaced."""
    with translated_errors(path, "written"):
        if path.exists() and not (path.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)):
            raise PermissionError(0, "it is read-only")
        if path.exists() and not os.access(path, os.W_OK):
            raise PermissionError(0, "it belongs to another user")


def replace_file(path: Path, data: bytes, mode: int | None = None, check: Callable[[], None] = lambda: None) -> None:
    """Replace a file atomically, keeping its owner and, unless `mode` is given, its permissions.

    `check` is called after everything is written and before the exchange; it raises to cancel it.
    """
    existing = path.stat() if path.exists() else None
    if mode is None and existing is not None:
        mode = stat.S_IMODE(existing.st_mode)
    temporary = path.with_name(f".treering-{token_hex(8)}")
    initial_mode = 0o666 if mode is None else 0o600
    try:
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, initial_mode)) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if existing is not None:
            # Only root may and needs to: a file of any other user has the right owner already.
            with suppress(PermissionError):
                os.chown(temporary, existing.st_uid, existing.st_gid)
        if mode is not None:
            temporary.chmod(mode)
        check()
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def missing_folders(file: Path) -> int:
    """Number of folders that must be created for a file."""
    return sum(not os.path.exists(folder) for folder in file.parents)


def remove_empty(file: Path, folders: int) -> None:
    """Remove up to this many folders above a deleted file, as long as they are empty."""
    for folder in file.parents[:folders]:
        with suppress(OSError):
            folder.rmdir()
