"""A copy that opens by itself: a SQLite file, with its blobs beside it, whatever engine it came from."""

import os
import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from treering.archive.export import export_lines
from treering.archive.restore import import_lines
from treering.core.errors import InvalidInput, StoreReadOnly
from treering.core.scope import Scope
from treering.ports.blobs import Blobs
from treering.ports.store import Store

OpenEmbedded = Callable[[Path], tuple[Store, Blobs]]


def backup(
    scope: Scope, store: Store, blobs: Blobs, now: datetime, *, target: Path, open_embedded: OpenEmbedded
) -> Path:
    """Copy the whole file, or from a server this project with its history. Others may read and write meanwhile."""
    if target.exists():
        raise InvalidInput(f"{target} exists already; a backup never overwrites, choose another name")
    if not target.parent.is_dir():
        raise StoreReadOnly(f"there is no folder {target.parent}; create it first")
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    try:
        _copy(scope, store, blobs, now, target=unfinished, open_embedded=open_embedded)
        if (kept := blobs_beside(unfinished)).exists():
            os.replace(kept, blobs_beside(target))
        os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)
        shutil.rmtree(blobs_beside(unfinished), ignore_errors=True)
    return target


def blobs_beside(database: Path) -> Path:
    """Where the blobs of an embedded database are."""
    return database.with_name(f"{database.name}.blobs")


def _copy(
    scope: Scope, store: Store, blobs: Blobs, now: datetime, *, target: Path, open_embedded: OpenEmbedded
) -> None:
    owners = store.copy_to(target)
    copy, copied_blobs = open_embedded(target)
    try:
        if owners is None:
            lines = export_lines(scope, store, blobs, now, history=True)
            import_lines(scope, copy, copied_blobs, now, lines)
        for owner in owners or ():
            for blob in blobs.stream(owner):
                copied_blobs.put(owner, blobs.get(owner, blob.digest))
    finally:
        copy.close()
