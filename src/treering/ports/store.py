"""What Treering needs from a database: transactions in one scope at one moment, and collections inside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from treering.core.entities import EntityLink
    from treering.core.events import Event
    from treering.core.fingerprints import ErrorFingerprint
    from treering.core.graph import CoAccessEdge, GraphEdge, GraphNode
    from treering.core.history import AuditEntry, Revision
    from treering.core.queries import (
        AuditFilter,
        CoAccessFilter,
        EdgeFilter,
        EntityLinkFilter,
        EventFilter,
        FingerprintFilter,
        NodeFilter,
        RevisionFilter,
        RunFilter,
    )
    from treering.core.runs import Run
    from treering.core.scope import Scope
    from treering.ports.blobs import Blobs
    from treering.ports.code import CodeIndex
    from treering.ports.code_chunks import CodeChunks
    from treering.ports.code_history import CodeHistory
    from treering.ports.collections import Derived, Entities, Episodes, Jobs, KnowledgeRecords, Log, Sessions, Turns
    from treering.ports.index import Documents, SearchIndex
    from treering.ports.patterns import Applications, Patterns

T = TypeVar("T")


class Transaction(Protocol):
    """Everything inside happens in one scope, at one moment, wholly or not at all."""

    scope: Scope
    now: datetime
    blobs: Blobs
    """Where to put what a record of this transaction will refer to: no sweep takes it away meanwhile."""

    def claim(self, name: str) -> None:
        """Be the only one in the project who works on `name`, until the transaction ends."""
        ...

    def part(self) -> Transaction:
        """The same transaction; what is changed through it is undone by itself."""
        ...

    def owners_of_personal(self) -> Sequence[str]:
        """Everybody in the project who has personal records, in the order of their names; the records stay unseen."""
        ...

    @property
    def knowledge(self) -> KnowledgeRecords: ...
    @property
    def sessions(self) -> Sessions: ...
    @property
    def turns(self) -> Turns: ...
    @property
    def episodes(self) -> Episodes: ...
    @property
    def patterns(self) -> Patterns: ...
    @property
    def applications(self) -> Applications: ...
    @property
    def entities(self) -> Entities: ...
    @property
    def entity_links(self) -> Derived[EntityLink, EntityLinkFilter]: ...
    @property
    def nodes(self) -> Derived[GraphNode, NodeFilter]: ...
    @property
    def edges(self) -> Derived[GraphEdge, EdgeFilter]: ...
    @property
    def co_access(self) -> Derived[CoAccessEdge, CoAccessFilter]: ...
    @property
    def fingerprints(self) -> Derived[ErrorFingerprint, FingerprintFilter]: ...
    @property
    def events(self) -> Log[Event, EventFilter]: ...
    @property
    def audit(self) -> Log[AuditEntry, AuditFilter]: ...
    @property
    def revisions(self) -> Log[Revision, RevisionFilter]: ...
    @property
    def runs(self) -> Derived[Run, RunFilter]: ...
    @property
    def jobs(self) -> Jobs: ...
    @property
    def code(self) -> CodeIndex: ...
    @property
    def chunks(self) -> CodeChunks: ...
    @property
    def code_history(self) -> CodeHistory: ...
    @property
    def documents(self) -> Documents: ...
    @property
    def index(self) -> SearchIndex: ...


@dataclass(frozen=True, slots=True)
class Check:
    """One finding of a health check; `advice` says what to do where it is not fine."""

    name: str
    fine: bool
    detail: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class ProjectSize:
    """A project: how many records it has, and how many characters of text and bytes of blobs they take."""

    project: str
    knowledge: int
    turns: int
    episodes: int
    characters: int
    blob_bytes: int


@dataclass(frozen=True, slots=True)
class Copied:
    """Who has records in a copy, and which blobs they need."""

    owners: Sequence[Scope]
    blobs: Sequence[tuple[Scope, str]]


@dataclass(frozen=True, slots=True)
class Trace:
    """A text that was looked for and found: in a file, or in a column of a table and there in a record."""

    needle: str
    place: str
    record: str = ""


@dataclass(frozen=True, slots=True)
class Traces:
    """What a search of everything that is stored came to. Where there are no files, `files` counts tables."""

    files: int
    size: int
    found: tuple[Trace, ...]


class Store(Protocol):
    """One database on one of the two engines. Once closed it refuses whatever it is asked."""

    engine: str
    location: str
    identity: str
    """What tells this database from every other; it stays when the database is moved."""
    blobs: Blobs

    @property
    def read_only(self) -> bool:
        """Whether everything that writes is refused, with the reason."""
        ...

    on_queued: Callable[[], object]
    """Called when a transaction that queued jobs is stored."""

    def transaction(self, scope: Scope, now: datetime) -> AbstractContextManager[Transaction]:
        """Write. Commits at the end of the block, rolls back on any exception; durable when the block is left."""
        ...

    def write(self, scope: Scope, now: datetime, work: Callable[[Transaction], T]) -> T:
        """Run `work` in a write transaction; its result is returned once everything is durable.

        When a server aborts the transaction in favour of another one (a deadlock, a serialisation failure), nothing
        of it is stored, and `work` runs again in a new one, a bounded number of times. It must therefore have no
        effect outside of the transaction. `TransactionAborted` after the last attempt.
        """
        ...

    def write_if_free(
        self, scope: Scope, now: datetime, work: Callable[[Transaction], object], *, seconds: float = 0.0
    ) -> bool:
        """Run `work` in a write transaction that waits at most this long for others.

        False if it was not stored because another one is writing, or the database is read-only or cannot be reached.
        Every other failure, such as a full disk, raises `StoreError`.
        """
        ...

    def has_unstored_vectors(self, scope: Scope) -> bool:
        """Whether vectors of the project are in memory that are not stored yet."""
        ...

    def reading(self, scope: Scope, now: datetime) -> AbstractContextManager[Transaction]:
        """Read from one consistent snapshot. Never waits for a writer."""
        ...

    def sizes(self, scope: Scope) -> Mapping[str, int]:
        """Bytes on disk, by part."""
        ...

    def projects(self, scope: Scope, now: datetime) -> Sequence[ProjectSize]:
        """Every project of the tenant that has a record, by name. A server locks its tables for a moment."""
        ...

    def check(self, scope: Scope, now: datetime) -> Sequence[Check]: ...

    def repair(self, scope: Scope, now: datetime) -> Sequence[str]:
        """Rebuild what is derived, then collect what a crash left, where all is sound. Says what it did.

        A record that cannot be read is named, and stays as it is.
        """
        ...

    def sweep_blobs(self, scope: Scope, digests: Sequence[str], now: datetime) -> int:
        """Delete those blobs that no record refers to any more."""
        ...

    def optimise(self) -> None:
        """Let the planner learn what the tables hold, and empty the log into the file as far as nobody needs it.

        Safe beside traffic: nobody waits for it.
        """
        ...

    def forget_traces(self, seconds: float | None = None) -> None:
        """Leave nothing of purged records in free pages, logs or full-text segments.

        `StoreUnavailable` where somebody still reads them after so many seconds; nobody who writes waits meanwhile. A
        server only marks their room as free: its pages and its log are overwritten in its own time.
        """
        ...

    def raw_traces(self, scope: Scope, now: datetime, needles: Sequence[str]) -> Traces:
        """Look for texts in all bytes that are stored: files with their free pages and logs, blobs, tables.

        Of a server, what its tables hold of this project.
        """
        ...

    def copy_to(self, target: Path, *, moved: bool = False) -> Copied | None:
        """A copy of the whole database in a new file, exact but for its identity; None where this is not a file.

        `moved`, the new file is to be this database, with its identity, and this one no longer.
        """
        ...

    def close(self) -> None: ...
