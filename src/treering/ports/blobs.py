"""Where large content is kept: addressed by its hash, apart for each project."""

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
# Enough for a person to recognise a name; what tells names apart is the hash that follows.
_READABLE_LENGTH = 40


@dataclass(frozen=True, slots=True)
class StoredBlob:
    """What a store knows of a blob without reading it. `modified` is when it was last put."""

    digest: str
    size: int
    modified: datetime


class Blobs(Protocol):
    """Content by its hash. A digest known from one project finds nothing in another.

    Each database keeps its blobs within a namespace of its own, so that many may share one root.

    Putting content that is there already makes its `modified` recent again, so whoever sweeps orphans by age leaves
    alone what was just put and is not yet referred to.
    """

    @property
    def location(self) -> str:
        """Where the blobs are, for people: a path, or a URL without credentials."""
        ...

    def within(self, namespace: str) -> Blobs:
        """The part of this store that is `namespace`'s alone."""
        ...

    def put(self, scope: Scope, data: bytes) -> str:
        """Keep `data` and return its digest, once it is durable. The same data twice is one object."""
        ...

    def get(self, scope: Scope, digest: str) -> bytes:
        """The content, whole; `BlobMissing` where there is none or it does not match its digest."""
        ...

    def has(self, scope: Scope, digest: str) -> bool:
        """Whether the blob is there; its content is not read."""
        ...

    def delete(self, scope: Scope, digest: str) -> None:
        """Remove the blob; absent is fine."""
        ...

    def stream(self, scope: Scope) -> Iterator[StoredBlob]:
        """Every blob of the project, by digest."""
        ...

    def sweep_unfinished(self, now: datetime) -> int:
        """Remove what killed processes left half-written, and return how many files that were."""
        ...


def checked_namespace(name: str) -> str:
    """`name`, once it is shown to be one plain path segment."""
    if not _NAMESPACE.fullmatch(name):
        raise InvalidInput(f"not a namespace for blobs: {name[:80]!r}; use lower-case letters, digits and hyphens")
    return name


def digest_of(data: bytes) -> str:
    """The key of `data` in every store."""
    return sha256(data).hexdigest()


def project_path(scope: Scope) -> PurePosixPath:
    """Where a project's blobs are, below the root of a store."""
    return PurePosixPath(_segment(scope.tenant), _segment(scope.project))


def blob_path(scope: Scope, digest: str) -> PurePosixPath:
    """Where a blob is, below the root of a store: the same in every store, so one can be copied into another."""
    if not DIGEST.fullmatch(digest):
        raise InvalidInput(f"not a blob's digest: {digest[:80]!r}; pass the 64 lower-case hex digits that put returned")
    return project_path(scope) / digest[:2] / digest


def whole(data: bytes, digest: str, location: str) -> bytes:
    """`data`, once it is shown to be what `digest` names."""
    actual = digest_of(data)
    if actual != digest:
        raise BlobMissing(
            f"blob {digest} in {location} is damaged: its {len(data):,} bytes hash to {actual}; "
            "restore it from a backup, or store the original again, which replaces it"
        )
    return data


def absent(digest: str, location: str) -> BlobMissing:
    """The error for a blob that is not there."""
    return BlobMissing(
        f"blob {digest} is not in {location}; check that this is the blob store its record was written with, "
        "or restore it from a backup"
    )


def _segment(name: str) -> str:
    """A path segment that is `name`'s alone, on file systems that fold case or normalise Unicode too.

    Never `.` or `..`, never longer than a file name may be, and no device name of Windows.
    """
    fingerprint = b32encode(sha256(name.encode("utf-8", "surrogatepass")).digest()).decode().rstrip("=").lower()
    readable = _UNREADABLE.sub("-", name.lower())[:_READABLE_LENGTH].strip("-")
    return f"{readable}-{fingerprint}" if readable else fingerprint
