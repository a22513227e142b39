"""Private folders and files, written atomically and durably."""

import os
from pathlib import Path

from treering.core.errors import StoreReadOnly

UNFINISHED = ".new"
"""Suffix of a file that is still being written."""


def create_private(folder: Path) -> None:
    """Create a folder and its missing parents for this user only: `mkdir(parents=True)` ignores the mode of parents."""
    if not folder.parent.exists():
        create_private(folder.parent)
    folder.mkdir(exist_ok=True, mode=0o700)


def ensure_private_folder(folder: Path) -> Path:
    """Create the folder for this user only, unless it exists; return it."""
    try:
        create_private(folder)
    except OSError as exc:
        raise StoreReadOnly(f"{folder} cannot be created ({exc}); set TREERING_DB or TREERING_DATA_DIR") from exc
    return folder


def write_private(file: Path, text: str) -> None:
    """Write a temporary file and rename it: readers see the old or the new text; a link is replaced, not followed."""
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
        raise StoreReadOnly(f"{file} cannot be written ({exc}); check its folder and the free disk space") from exc


def sync(path: Path) -> None:
    """Make a file or folder survive a power failure."""
    # Windows can neither open a directory nor needs to: NTFS journals its entries.
    if os.name == "nt" and path.is_dir():
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def is_absent(path: Path) -> bool:
    """Whether nothing exists at `path`; a path that cannot be inspected is not absent."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False
