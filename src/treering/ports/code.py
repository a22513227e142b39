"""Storage of the code graph within a transaction: files as they were read, their edges, and the write lease.

Byte fields are encoded and decoded by `treering.code`; a store keeps them unchanged. Paths are relative to the root of
the project, with forward slashes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from treering.ports.code_chunks import StoredChunk


@dataclass(frozen=True, slots=True)
class IndexLease:
    """The only writer, and the end of its lease."""

    owner: str
    until: datetime


@dataclass(frozen=True, slots=True)
class CodeState:
    """State of the index of a project."""

    root: str
    """The folder that was indexed last, on the machine that indexed it."""
    version: str
    """Version of the code that read the files; facts of another version are not usable."""
    complete: bool
    """Whether every file that was discovered is stored."""
    generation: int
    """Grows with each change."""
    report: str = "{}"
    """Report of the last run, as JSON."""
    lease: IndexLease | None = None
    """Lease of the current writer."""


@dataclass(frozen=True, slots=True)
class ListedFile:
    """What is needed to decide whether a file must be read again."""

    path: str
    language: str
    digest: str
    stamp: str
    """Size, times of modification and change, and inode; another stamp may mean other content."""
    read_at: int
    """When it was read, in nanoseconds: a stamp from the same moment is not conclusive."""
    resolved: bool
    """Whether its edges are resolved; otherwise they are stored empty."""
    skipped: str
    """Why its content is not stored; empty if it is."""
    generation: int
    defined: int = 0
    used: int = 0
    unknown: int = 0
    problems: int = 0


@dataclass(frozen=True, slots=True)
class FileKeys:
    """Keys that a file defines, and keys that its resolution queried, as little-endian 64-bit hashes."""

    path: str
    given: bytes
    asked: bytes


@dataclass(frozen=True, slots=True)
class FileFacts:
    """Facts of a file, and the keys it defines."""

    given: bytes
    facts: bytes


@dataclass(frozen=True, slots=True)
class FileContents:
    """A file's part of the graph."""

    path: str
    resolved: bool
    definitions: bytes
    edges: bytes
    further: bytes
    """Edges from sources other than its own text."""


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file as it was read, before anything is resolved."""

    path: str
    language: str
    digest: str
    stamp: str
    read_at: int
    skipped: str = ""
    facts: bytes = b""
    definitions: bytes = b""
    given: bytes = b""
    defined: int = 0
    problems: int = 0
    chunks: Sequence[StoredChunk] = ()


@dataclass(frozen=True, slots=True)
class ResolvedFile:
    """Resolved edges of a file."""

    path: str
    edges: bytes
    unresolved: bytes
    asked: bytes
    used: int
    unknown: int
    ties: Mapping[str, float] = field(default_factory=dict)
    """The other files that it uses, each with the weight of the strongest edge."""


@dataclass(frozen=True, slots=True)
class FileDependency:
    """One file uses another."""

    origin: str
    target: str
    weight: float


@dataclass(frozen=True, slots=True)
class CodeTotals:
    files: int = 0
    definitions: int = 0
    edges: int = 0
    unresolved: int = 0
    problems: int = 0
    languages: Mapping[str, int] = field(default_factory=dict)
    waiting: int = 0
    """Files whose edges are not resolved yet."""


class CodeIndex(Protocol):
    """The stored graph of one project. Writing requires the lease, and raises `Conflict` if another writer holds it."""

    def state(self) -> CodeState | None:
        """None if nothing was ever indexed."""
        ...

    def lock_state(self) -> CodeState | None:
        """Like `state`, and locks it until the end of this writing transaction."""
        ...

    def take_lease(self, owner: str, duration: timedelta) -> bool:
        """Take or extend the write lease; returns False if another writer holds it."""
        ...

    def release_lease(self, owner: str) -> None: ...

    def describe(
        self, owner: str, *, seen: int, root: str, version: str, complete: bool, report: str | None = None
    ) -> int:
        """Store the state of the index; returns the new generation, which this transaction's changes get.

        Raises `Conflict` if another writer holds the lease, or if the generation is not `seen`.
        """
        ...

    def clear(self) -> None:
        """Remove every file with its chunks; vectors stay for chunks that are added again."""
        ...

    def drop_unused(self) -> None:
        """Remove the vectors of chunks that were not added again."""
        ...

    def put(self, files: Sequence[ReadFile], generation: int) -> None:
        """Store files as read, with their chunks and without edges; earlier edges, from any source, are dropped."""
        ...

    def resolve(self, files: Sequence[ResolvedFile], generation: int) -> None:
        """Replace the edges of files."""
        ...

    def unresolve(self, paths: Sequence[str], generation: int) -> None:
        """Mark files as not resolved, and drop their edges."""
        ...

    def add_further(self, edges: Mapping[str, bytes], generation: int) -> None:
        """Replace the edges of existing files that come from other sources than their text."""
        ...

    def further(self) -> Iterator[bytes]:
        """The edges from other sources, for each file that has any."""
        ...

    def touch(self, stamps: Sequence[tuple[str, str, int]]) -> None:
        """Update path, stamp and time of reading of files with unchanged content."""
        ...

    def remove(self, paths: Sequence[str]) -> None: ...

    def listed(self) -> Sequence[ListedFile]: ...

    def skipped_languages(self, reason: str) -> Mapping[str, int]:
        """Number of files that were skipped for a reason, by language."""
        ...

    def count(self) -> int:
        """Number of files, skipped ones included."""
        ...

    def generations(self, *, after: int = 0) -> Mapping[str, int]:
        """Generation of the last change of each file that was changed after a generation."""
        ...

    def keys(self) -> Iterator[FileKeys]:
        """Keys of all files in the graph."""
        ...

    def facts(self, paths: Sequence[str]) -> Mapping[str, FileFacts]: ...

    def contents(self, paths: Sequence[str] | None = None) -> Iterator[FileContents]:
        """Contents of these files, or of all in the graph."""
        ...

    def unresolved(self, paths: Sequence[str]) -> Mapping[str, bytes]:
        """Uses of files whose targets are unknown."""
        ...

    def ties(self, files: Sequence[str], *, limit: int) -> Sequence[FileDependency]:
        """Dependencies from and to these files, strongest first."""
        ...

    def totals(self) -> CodeTotals: ...
