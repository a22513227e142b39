"""Folders and files for this user only, written wholly or not at all, and lasting."""

import os
from pathlib import Path

from treering.core.errors import StoreReadOnly

UNFINISHED = ".new"
"""How the name of a file ends until it is wholly written."""


def create_private(folder: Path) -> None:
    """Create a folder and those missing above it for this user only: `mkdir(parents=True)` ignores the mode there."""
    if not folder.parent.exists():
        create_private(folder.parent)
    folder.mkdir(exist_ok=True, mode=0o700)


def made(folder: Path) -> Path:
    """The folder, for this user only where it is new."""
    try:
        create_private(folder)
    except OSError as exc:
        raise StoreReadOnly(f"{folder} cannot be made ({exc}); set TREERING_DB or TREERING_DATA_DIR") from exc
    return folder


def write_for_this_user(file: Path, text: str) -> None:
    """Written aside and put in place: readers see the old text or the new one, and a link is replaced, not followed."""
    aside = file.with_name(f"{file.name}.{os.urandom(4).hex()}{UNFINISHED}")
    try:
        try:
            with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as writing:
                writing.write(text)
                writing.flush()
                os.fsync(writing.fileno())
            os.replace(aside, file)
        finally:
            aside.unlink(missing_ok=True)
        sync(file.parent)
    except OSError as exc:
        raise StoreReadOnly(f"{file} cannot be written ({exc}); check its folder and the room on the disk") from exc


def sync(path: Path) -> None:
    """What the path names stays through a power cut."""
    # Windows can neither open a directory nor needs to: NTFS journals its entries.
    if os.name == "nt" and path.is_dir():
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def is_gone(path: Path) -> bool:
    """Whether surely nothing stands there; what cannot be looked at is not gone."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False
