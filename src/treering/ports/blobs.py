"""Content-addressed storage of large content, separate for each project."""

from __future__ import annotations

import re
from base64 import b32encode
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Protocol

from treering.core.errors import BlobMissing, InvalidInput

if TYPE_CHECKING:
    from treering.core.scope import Scope

DIGEST = re.compile(r"[0-9a-f]{64}")
_NAMESPACE = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_UNREADABLE = re.compile(r"[^a-z0-9]+")
# Enough for a person to recognise the name; the hash that follows makes it unique.
_READABLE_LENGTH = 40


@dataclass(frozen=True, slots=True)
class StoredBlob:
    """Metadata of a blob. `modified` is the time of the last `put`."""

    digest: str
    size: int
    modified: datetime


class Blobs(Protocol):
    """Blobs by the hash of their content. A digest of one project is not found in another.

    Each database has a namespace of its own, so that several can share one root.

    A `put` of content that is already stored renews `modified`: a sweep of orphans by age therefore spares blobs that
    were just put and have no reference yet.
    """

    @property
    def location(self) -> str:
        """Location to show to a person: a path, or a URL without credentials."""
        ...

    def within(self, namespace: str) -> Blobs:
        """The part of this store that belongs to `namespace`."""
        ...

    def put(self, scope: Scope, data: bytes) -> str:
        """Store `data` durably and return its digest. Equal data is stored once."""
        ...

    def get(self, scope: Scope, digest: str) -> bytes:
        """The complete content; `BlobMissing` if the blob is absent or does not match its digest."""
        ...

    def has(self, scope: Scope, digest: str) -> bool:
        """Whether the blob exists; its content is not read."""
        ...

    def delete(self, scope: Scope, digest: str) -> None:
        """Remove the blob, if present."""
        ...

    def stream(self, scope: Scope) -> Iterator[StoredBlob]:
        """Every blob of the project, ordered by digest."""
        ...

    def sweep_unfinished(self, now: datetime) -> int:
        """Remove unfinished files of killed processes and return their number."""
        ...


def checked_namespace(name: str) -> str:
    """Return `name`; `InvalidInput` unless it is one plain path segment."""
    if not _NAMESPACE.fullmatch(name):
        raise InvalidInput(f"not a namespace for blobs: {name[:80]!r}; use lower-case letters, digits and hyphens")
    return name


def digest_of(data: bytes) -> str:
    """Key of `data` in every store."""
    return sha256(data).hexdigest()


def project_path(scope: Scope) -> PurePosixPath:
    """Folder of a project's blobs, relative to the root of a store."""
    return PurePosixPath(_segment(scope.tenant), _segment(scope.project))


def blob_path(scope: Scope, digest: str) -> PurePosixPath:
    """Path of a blob relative to the root of a store: the same in every store, so that blobs can be copied."""
    if not DIGEST.fullmatch(digest):
        raise InvalidInput(f"not a blob's digest: {digest[:80]!r}; pass the 64 lower-case hex digits that put returned")
    return project_path(scope) / digest[:2] / digest


def verified(data: bytes, digest: str, location: str) -> bytes:
    """Return `data`; `BlobMissing` if it does not match `digest`."""
    actual = digest_of(data)
    if actual != digest:
        raise BlobMissing(
            f"blob {digest} in {location} is damaged: its {len(data):,} bytes hash to {actual}; "
            "restore it from a backup, or store the original again, which replaces it"
        )
    return data


def missing_blob(digest: str, location: str) -> BlobMissing:
    """Error for an absent blob."""
    return BlobMissing(
        f"blob {digest} is not in {location}; check that this is the blob store its record was written with, "
        "or restore it from a backup"
    )


def _segment(name: str) -> str:
    """A path segment unique to `name`, also on file systems that fold case or normalise Unicode.

    Never `.` or `..`, never longer than a file name may be, and never a Windows device name.
    """
    fingerprint = b32encode(sha256(name.encode("utf-8", "surrogatepass")).digest()).decode().rstrip("=").lower()
    readable = _UNREADABLE.sub("-", name.lower())[:_READABLE_LENGTH].strip("-")
    return f"{readable}-{fingerprint}" if readable else fingerprint
