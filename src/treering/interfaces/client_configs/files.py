"""Files are read and replaced as a whole, so that a crash leaves the old one or the new one."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from treering.core.errors import ClientFileUnusable


@contextmanager
def told_about(path: Path, doing: str) -> Iterator[None]:
    """What the system refuses is told as what to do about it."""
    try:
        yield
    except OSError as exc:
        reason = exc.strerror or exc
        raise ClientFileUnusable(f"{path} cannot be {doing} ({reason}); put that right, then run this again") from exc


def target_of(path: Path) -> Path:
    """The file that a path leads to through all links, there or not."""
    with told_about(path, "followed"):
        try:
            return path.resolve()
        except RuntimeError as exc:
            raise OSError(0, "its links lead in a circle") from exc


def read_text(path: Path) -> str | None:
    """All of a file; None where there is none."""
    with told_about(path, "read"):
        try:
            return path.read_bytes().decode()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except UnicodeDecodeError as exc:
            raise ClientFileUnusable(f"{path} is not UTF-8 text; save it as such, then run this again") from exc


def refuse_read_only(path: Path) -> None:
    """A file that nobody may write is left alone, though it could be replaced."""
    with told_about(path, "written"):
        if path.exists() and not (path.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)):
            raise PermissionError(0, "it is read-only")
        if path.exists() and not os.access(path, os.W_OK):
            raise PermissionError(0, "it belongs to somebody else")


def replace_file(path: Path, data: bytes, mode: int | None = None, allow: Callable[[], None] = lambda: None) -> None:
    """Put a whole file in the place of another, with its owner, and its permissions unless others are named.

    `allow` is asked when all is written and only the exchange is left; it raises what is against it.
    """
    there = path.stat() if path.exists() else None
    if mode is None and there is not None:
        mode = stat.S_IMODE(there.st_mode)
    beside = path.with_name(f".treering-{token_hex(8)}")
    at_first = 0o666 if mode is None else 0o600
    try:
        with open(beside, "xb", opener=lambda name, flags: os.open(name, flags, at_first)) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if there is not None:
            # Matters to root, who may; for everybody else it is theirs already.
            with suppress(PermissionError):
                os.chown(beside, there.st_uid, there.st_gid)
        if mode is not None:
            beside.chmod(mode)
        allow()
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def missing_folders(file: Path) -> int:
    """How many folders must be made for a file."""
    return sum(not os.path.exists(folder) for folder in file.parents)


def remove_empty(file: Path, folders: int) -> None:
    """Remove so many folders around a file that is gone, as far as nothing else is in them."""
    for folder in file.parents[:folders]:
        with suppress(OSError):
            folder.rmdir()
