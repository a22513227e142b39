"""What Treering needs from a transaction for the code graph: files as they were read, what they use, and who writes.

What stands in bytes is packed and read by `treering.code`; a store keeps it as it is. Paths are relative to the
root of the project, with slashes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from treering.ports.code_chunks import StoredChunk


@dataclass(frozen=True, slots=True)
class Lease:
    """Who alone may write, and until when."""

    owner: str
    until: datetime


@dataclass(frozen=True, slots=True)
class CodeState:
    """How the index of a project stands."""

    root: str
    """The folder that was indexed last, on the machine that did it."""
    version: str
    """What read the files: facts of another version mean nothing."""
    complete: bool
    """Whether every file that was found is here."""
    generation: int
    """Grows with each change."""
    told: str = "{}"
    """What the last run came to, as JSON."""
    lease: Lease | None = None
    """Of whoever writes now."""


@dataclass(frozen=True, slots=True)
class ListedFile:
    """What tells whether a file must be read again, without reading anything of it."""

    path: str
    language: str
    digest: str
    stamp: str
    """Size, time of change and number of the file as the system gave them; another stamp may be another content."""
    read_at: int
    """When it was read, in nanoseconds: a stamp of that very moment proves nothing."""
    resolved: bool
    """Whether its edges are known; they are stored empty where they are not."""
    skipped: str
    """Why nothing of its content is here; empty where it is."""
    generation: int
    defined: int = 0
    used: int = 0
    unknown: int = 0
    problems: int = 0


@dataclass(frozen=True, slots=True)
class FileKeys:
    """Which keys a file answers to and which its resolution asked for, as little-endian 64-bit hashes."""

    path: str
    given: bytes
    asked: bytes


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What a file says, and the keys it answers to."""

    given: bytes
    facts: bytes


@dataclass(frozen=True, slots=True)
class FileContents:
    """What the graph holds of a file."""

    path: str
    resolved: bool
    definitions: bytes
    edges: bytes
    further: bytes
    """Edges that were not read from its source."""


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
    """What a file uses."""

    path: str
    edges: bytes
    unresolved: bytes
    asked: bytes
    used: int
    unknown: int
    ties: Mapping[str, float] = field(default_factory=dict)
    """The other files that it uses, with the weight of the firmest edge to each."""


@dataclass(frozen=True, slots=True)
class Tie:
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
    """Files whose edges are not known yet."""


class CodeIndex(Protocol):
    """The stored graph of one project. Writing takes the lease: `Conflict` where somebody else has it."""

    def state(self) -> CodeState | None:
        """None where nothing was ever indexed."""
        ...

    def hold(self) -> CodeState | None:
        """As `state`; nobody changes it before this transaction, which is to write, ends."""
        ...

    def take(self, owner: str, duration: timedelta) -> bool:
        """Be the only one who writes until then, or longer if taken again; False where somebody else is."""
        ...

    def give_back(self, owner: str) -> None: ...

    def describe(
        self, owner: str, *, seen: int, root: str, version: str, complete: bool, told: str | None = None
    ) -> int:
        """Say how the index stands from now on; the new generation, which this transaction's changes have.

        `Conflict` where the lease is somebody else's, or where the generation is not the one that was `seen`.
        """
        ...

    def clear(self) -> None:
        """Remove every file, and its chunks; vectors stay for chunks that come again."""
        ...

    def drop_unused(self) -> None:
        """Remove the vectors of chunks that did not come again."""
        ...

    def put(self, files: Sequence[ReadFile], generation: int) -> None:
        """Files as they are now, with their chunks and nothing resolved; edges from elsewhere are gone with the old."""
        ...

    def resolve(self, files: Sequence[ResolvedFile], generation: int) -> None:
        """What files use, instead of what they used."""
        ...

    def unresolve(self, paths: Sequence[str], generation: int) -> None:
        """What files use is not known any more."""
        ...

    def add_further(self, edges: Mapping[str, bytes], generation: int) -> None:
        """Edges of files that were not read from their source, instead of those before; for files that are here."""
        ...

    def further(self) -> Iterator[bytes]:
        """The edges of each file that were not read from its source; nothing of files that have none."""
        ...

    def touch(self, stamps: Sequence[tuple[str, str, int]]) -> None:
        """Path, stamp and time of reading of files whose content is what it was."""
        ...

    def remove(self, paths: Sequence[str]) -> None: ...

    def listed(self) -> Sequence[ListedFile]: ...

    def count(self) -> int:
        """How many files are here, those that nothing was read of included."""
        ...

    def generations(self, *, after: int = 0) -> Mapping[str, int]:
        """When each file was changed last, of those that were changed after a generation."""
        ...

    def keys(self) -> Iterator[FileKeys]:
        """Of all files that are in the graph."""
        ...

    def facts(self, paths: Sequence[str]) -> Mapping[str, FileFacts]: ...

    def contents(self, paths: Sequence[str] | None = None) -> Iterator[FileContents]:
        """Of these files, or of all that are in the graph."""
        ...

    def unresolved(self, paths: Sequence[str]) -> Mapping[str, bytes]:
        """The uses of files whose targets are not known."""
        ...

    def ties(self, files: Sequence[str], *, limit: int) -> Sequence[Tie]:
        """What these files use and who uses them, the firmest first."""
        ...

    def totals(self) -> CodeTotals: ...
