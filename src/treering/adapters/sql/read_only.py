"""Read-only SQLite files: on request, on read-only media, without permissions, on a full disk."""

import os
from pathlib import Path

from sqlalchemy import URL

from treering.core.errors import StoreError, StoreFull, StoreReadOnly


def missing_rights(path: Path) -> StoreError | None:
    """The error that writing to this existing file raises; None if the file and its folder can be written."""
    if not path.exists() or (_is_writable(path) and _is_writable(path.parent)):
        return None
    part = "folder" if _is_writable(path) else "file"
    return StoreReadOnly(
        f"{path}: the {part} cannot be written, so the memory is read-only; change its permissions, or copy the memory "
        "with `treering backup`"
    )


def url_of(path: Path, reason: StoreError) -> URL:
    """URL to open a file that is read-only for this `reason`; SQLite writes nothing beside it if it cannot.

    A database opened as immutable has no log, so no process is writing to it.
    """
    if not path.exists():
        raise StoreReadOnly(f"{path}: the file does not exist, and ?mode=ro does not create it; check the path")
    has_room = not isinstance(reason, StoreFull) and _is_writable(path.parent)
    if has_log(path):
        if not has_room and not os.path.exists(f"{path}-shm"):
            raise StoreReadOnly(
                f"{path}: the latest changes are in {path.name}-wal, which cannot be read without writing beside it; "
                "copy both files to a folder that can be written, and open the copy"
            )
        query = {"mode": "ro"}
    elif has_room and _is_writable(path):
        return URL.create("sqlite", database=str(path))
    else:
        query = {"mode": "ro", "immutable": "1"}
    return URL.create("sqlite", database=path.as_uri(), query={**query, "uri": "true"})


def has_log(path: Path) -> bool:
    """Whether the log holds changes that are not in the file yet."""
    try:
        return os.path.getsize(f"{path}-wal") > 0
    except OSError:
        return False


def _is_writable(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)
