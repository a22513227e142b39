"""Backup: a SQLite file that opens like any other memory, with its blobs beside it, from either engine."""

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
from treering.archive.files import checked_target, unfinished_folder
from treering.archive.restore import import_lines
from treering.core.errors import BlobMissing, InvalidInput, StoreReadOnly
from treering.ports.store import CopyContents, Store

if TYPE_CHECKING:
    from treering.core.scope import Scope
    from treering.ports.blobs import Blobs

OpenEmbedded = Callable[[Path], Store]


def backup(
    scope: Scope,
    store: Store,
    blobs: Blobs,
    now: datetime,
    *,
    target: Path,
    open_embedded: OpenEmbedded,
    force: bool = False,
    database: Path | None = None,
    begun: Callable[[], None] = lambda: None,
) -> Path:
    """Copy the whole file or, from a server, this project with its history. Others may read and write meanwhile.

    A copy from a server contains what this principal can see, not the personal records of others. `BlobMissing` if the
    memory itself lacks a blob; the file is then written with everything else. An existing file, with the blobs beside
    it, is replaced only with `force`; see `checked_target`. `begun` is called before anything is copied, unless the
    target is rejected.
    """
    # No `is_ours`: an earlier backup that has been opened since is a memory in its own right.
    final = checked_target(target, force=force, database=database)
    beside = blobs_beside(final)
    if os.path.lexists(beside) and not (force and final.exists() and beside.is_dir() and not beside.is_symlink()):
        raise InvalidInput(f"{blobs_beside(target)} exists already; choose another name for the backup")
    if not os.access(final.parent, os.W_OK | os.X_OK):
        raise StoreReadOnly(f"{target.parent} cannot be written; choose another folder for the backup")
    with unfinished_folder(final) as folder:
        begun()
        unfinished = folder / final.name
        copy = partial(_copy, scope, store, blobs, now, target=unfinished, open_embedded=open_embedded)
        missing = copy()
        if missing:
            # Probably purged during the copy: then a new copy does not refer to it any more.
            unfinished.unlink()
            shutil.rmtree(blobs_beside(unfinished), ignore_errors=True)
            missing = copy()
        _put_in_place(unfinished, final)
    if missing:
        raise BlobMissing(
            f"{target} was written, but {len(missing):,} blobs that its records need are missing, the first is "
            f"{missing[0]}; run `treering doctor` for details"
        )
    return target


def _put_in_place(unfinished: Path, target: Path) -> None:
    """Replace an earlier backup so that after any failure the file at `target` still has all of its blobs.

    Blobs are named by their content: the new ones are added before the file is replaced, and those that only the
    earlier backup needed are removed afterwards.
    """
    new, beside = blobs_beside(unfinished), blobs_beside(target)
    needed = [blob.relative_to(new) for blob in new.rglob("*") if blob.is_file()]
    for blob in needed:
        (beside / blob).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.replace(new / blob, beside / blob)
    os.replace(unfinished, target)
    if beside.is_dir():
        former = {blob.relative_to(beside) for blob in beside.rglob("*") if not blob.is_dir()}
        for blob in former.difference(needed):
            (beside / blob).unlink()
        _remove_empty_folders(beside)


def _remove_empty_folders(folder: Path) -> None:
    for below in sorted((each for each in folder.rglob("*") if each.is_dir()), reverse=True):
        with suppress(OSError):
            below.rmdir()
    with suppress(OSError):
        folder.rmdir()


def _copy(
    scope: Scope, store: Store, blobs: Blobs, now: datetime, *, target: Path, open_embedded: OpenEmbedded
) -> list[str]:
    """Make the copy; return the digests of blobs that its records refer to and that are missing."""
    copied = store.copy_to(target)
    copy = open_embedded(target)
    try:
        if copied is None:
            import_lines(scope, copy, copy.blobs, now, export_lines(scope, store, blobs, now, history=True))
            return []
        return _copy_blobs(copied, blobs, copy.blobs)
    finally:
        copy.close()


def _copy_blobs(copied: CopyContents, source: Blobs, target: Blobs) -> list[str]:
    for owner in copied.owners:
        for blob in source.stream(owner):
            # Swept or damaged meanwhile: the check below reports the blobs that records need.
            with suppress(BlobMissing):
                target.put(owner, source.get(owner, blob.digest))
    return [digest for owner, digest in copied.blobs if not target.has(owner, digest)]
