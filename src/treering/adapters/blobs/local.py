"""Blobs in a directory of this machine."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import mkstemp
from typing import TYPE_CHECKING

from treering.core.errors import StoreError, StoreFull, StoreReadOnly, StoreUnavailable
from treering.ports.blobs import (
    DIGEST,
    StoredBlob,
    blob_path,
    checked_namespace,
    digest_of,
    missing_blob,
    project_path,
    verified,
)

if TYPE_CHECKING:
    from treering.core.scope import Scope

# No project's path segment starts with a dot, so no scope can reach unfinished files.
_UNFINISHED = ".unfinished"
# A writer touches its file with every write; one untouched for this long was abandoned by a killed process.
_ABANDONED_AFTER = timedelta(hours=1)

_FULL = (StoreFull, "free some space or move the blob store to a larger disk")
_READ_ONLY = (StoreReadOnly, "give this user the right to read and write it, or choose another directory")
_UNAVAILABLE = (StoreUnavailable, "check that the path is a directory on a mounted, healthy disk")
_TRANSLATIONS: dict[int | None, tuple[type[StoreError], str]] = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EFBIG: _FULL,
    errno.EACCES: _READ_ONLY,
    errno.EPERM: _READ_ONLY,
    errno.EROFS: _READ_ONLY,
}


class LocalBlobs:
    """One file per blob: `root/<namespace>/<tenant>/<project>/ab/abcdef…`. Any number of processes may share the root.

    A blob is written to a temporary file, synced and renamed: readers see all of it or nothing. The first put creates
    the root, for this user only.
    """

    def __init__(self, root: Path, namespace: str = "") -> None:
        self._shared = root.absolute()
        self._root = self._shared / namespace

    @property
    def location(self) -> str:
        return str(self._root)

    def within(self, namespace: str) -> LocalBlobs:
        return LocalBlobs(self._root, checked_namespace(namespace))

    def put(self, scope: Scope, data: bytes) -> str:
        digest = digest_of(data)
        path = self._path(scope, digest)
        with self._translated():
            if not _renewed(path, data):
                self._write(path, data)
            self._sync_directories(path.parent)
        return digest

    def get(self, scope: Scope, digest: str) -> bytes:
        path = self._path(scope, digest)
        with self._translated():
            try:
                data = path.read_bytes()
            except FileNotFoundError as exc:
                raise missing_blob(digest, self.location) from exc
        return verified(data, digest, self.location)

    def has(self, scope: Scope, digest: str) -> bool:
        path = self._path(scope, digest)
        with self._translated():
            try:
                path.stat()
            except FileNotFoundError:
                return False
        return True

    def delete(self, scope: Scope, digest: str) -> None:
        path = self._path(scope, digest)
        with self._translated(), suppress(FileNotFoundError):
            path.unlink()
            _sync_directory(path.parent)

    def stream(self, scope: Scope) -> Iterator[StoredBlob]:
        with self._translated():
            for shard in _listed(self._root / project_path(scope)):
                for path in _listed(shard):
                    if DIGEST.fullmatch(path.name):
                        yield from _described(path)

    def sweep_unfinished(self, now: datetime) -> int:
        swept = 0
        with self._translated():
            for path in _listed(self._root / _UNFINISHED):
                with suppress(FileNotFoundError):
                    if now - _modified(path.stat()) > _ABANDONED_AFTER:
                        path.unlink()
                        swept += 1
        return swept

    def _path(self, scope: Scope, digest: str) -> Path:
        return self._root / blob_path(scope, digest)

    def _write(self, path: Path, data: bytes) -> None:
        _make_directory(self._root / _UNFINISHED)
        _make_directory(path.parent)
        handle, name = mkstemp(dir=self._root / _UNFINISHED)
        unfinished = Path(name)
        try:
            with open(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)

    def _sync_directories(self, innermost: Path) -> None:
        # Another process may have created any of them just now without having synced it yet.
        _sync_directory(innermost)
        for directory in innermost.parents:
            if not directory.is_relative_to(self._shared):
                break
            _sync_directory(directory)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except OSError as exc:
            error, advice = _TRANSLATIONS.get(exc.errno, _UNAVAILABLE)
            raise error(f"blob store {self.location}: {exc.strerror or exc}; {advice}") from exc


def _renewed(path: Path, data: bytes) -> bool:
    """Renew the timestamp of an intact blob; False if it has to be written."""
    try:
        if path.read_bytes() != data:
            return False
        os.utime(path)
    except FileNotFoundError:
        return False
    return True


def _make_directory(path: Path) -> None:
    """Create `path` and its missing parents, durably and for this user only."""
    if path.is_dir():
        return
    _make_directory(path.parent)
    with suppress(FileExistsError):
        path.mkdir(mode=0o700)
    _sync_directory(path.parent)


def _sync_directory(path: Path) -> None:
    # Windows cannot open a directory and need not sync it: NTFS journals its entries.
    if sys.platform == "win32":
        return
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _listed(directory: Path) -> list[Path]:
    try:
        return sorted(directory.iterdir())
    except FileNotFoundError:
        return []


def _described(path: Path) -> list[StoredBlob]:
    """The blob at `path`, or an empty list if it has been deleted since it was listed."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return []
    return [StoredBlob(path.name, status.st_size, _modified(status))]


def _modified(status: os.stat_result) -> datetime:
    return datetime.fromtimestamp(status.st_mtime, UTC)
