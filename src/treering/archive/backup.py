"""A copy that opens by itself: a SQLite file, with its blobs beside it, whatever engine it came from."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from treering.archive.blob_folder import blobs_beside
from treering.archive.export import export_lines
from treering.archive.restore import import_lines
from treering.core.errors import BlobMissing, InvalidInput, StoreReadOnly
from treering.ports.store import Copied, Store

if TYPE_CHECKING:
    from treering.core.scope import Scope
    from treering.ports.blobs import Blobs

OpenEmbedded = Callable[[Path], Store]


def backup(
    scope: Scope, store: Store, blobs: Blobs, now: datetime, *, target: Path, open_embedded: OpenEmbedded
) -> Path:
    """Copy the whole file, or from a server this project with its history. Others may read and write meanwhile.

    From a server the copy holds what this principal sees: the personal records of others are not in it. `BlobMissing`
    where the memory itself lacks a blob: a file is copied all the same, with everything else.
    """
    _refuse_what_is_taken(target)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    copy = partial(_copy, scope, store, blobs, now, target=unfinished, open_embedded=open_embedded)
    try:
        missing = copy()
        if missing:
            # Purged while it was copied, most likely: then a new copy does not refer to it any more.
            _remove(unfinished)
            missing = copy()
        _put_in_place(unfinished, target)
    finally:
        _remove(unfinished)
    if missing:
        raise BlobMissing(
            f"{target} is made, but {len(missing):,} blobs that its records need were missing, the first is "
            f"{missing[0]}; `treering doctor` says more"
        )
    return target


def _refuse_what_is_taken(target: Path) -> None:
    if not target.name or "\0" in str(target):
        raise InvalidInput(f"{str(target)!r} names no file; give the path of the backup to make")
    for path in (target, blobs_beside(target)):
        if path.exists():
            raise InvalidInput(f"{path} exists already; a backup never overwrites, choose another name")
    if not target.parent.is_dir():
        raise StoreReadOnly(f"there is no folder {target.parent}; create it first")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise StoreReadOnly(f"{target.parent} cannot be written; choose another place for the backup")


def _put_in_place(unfinished: Path, target: Path) -> None:
    try:
        if (kept := blobs_beside(unfinished)).exists():
            os.replace(kept, blobs_beside(target))
        os.replace(unfinished, target)
    except OSError as exc:
        raise StoreReadOnly(f"{target} cannot be made ({exc.strerror}); choose another place") from exc


def _remove(unfinished: Path) -> None:
    unfinished.unlink(missing_ok=True)
    shutil.rmtree(blobs_beside(unfinished), ignore_errors=True)


def _copy(
    scope: Scope, store: Store, blobs: Blobs, now: datetime, *, target: Path, open_embedded: OpenEmbedded
) -> list[str]:
    """Make the copy; the digests are returned of those blobs that its records refer to and that are not there."""
    copied = store.copy_to(target)
    copy = open_embedded(target)
    try:
        if copied is None:
            import_lines(scope, copy, copy.blobs, now, export_lines(scope, store, blobs, now, history=True))
            return []
        return _copy_blobs(copied, blobs, copy.blobs)
    finally:
        copy.close()


def _copy_blobs(copied: Copied, source: Blobs, target: Blobs) -> list[str]:
    for owner in copied.owners:
        for blob in source.stream(owner):
            # Swept or damaged meanwhile: what the records need of these is missed below.
            with suppress(BlobMissing):
                target.put(owner, source.get(owner, blob.digest))
    return [digest for owner, digest in copied.blobs if not target.has(owner, digest)]
