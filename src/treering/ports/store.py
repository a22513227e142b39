"""The database: transactions in one scope at one moment, and the collections inside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from treering.core.co_access import CoAccessEdge
    from treering.core.entities import EntityLink
    from treering.core.history import AuditEntry, Revision
    from treering.core.injections import InjectedItem
    from treering.core.observations import SavedScratchpad, SignalEvidence
    from treering.core.project_settings import ProjectSetting
    from treering.core.queries import (
        AuditFilter,
        CoAccessFilter,
        EntityLinkFilter,
        InjectedItemFilter,
        ProjectSettingFilter,
        RevisionFilter,
        RunFilter,
        SavedScratchpadFilter,
        SignalEvidenceFilter,
    )
    from treering.core.runs import Run
    from treering.core.scope import Scope
    from treering.ports.blobs import Blobs
    from treering.ports.code import CodeIndex
    from treering.ports.code_chunks import CodeChunks
    from treering.ports.code_history import CodeHistory
    from treering.ports.collections import (
        Derived,
        EntityCollection,
        EpisodeCollection,
        JobQueue,
        KnowledgeCollection,
        Log,
        ObservedSessionCollection,
        SessionCollection,
        TurnCollection,
    )
    from treering.ports.index import DocumentNumbers, SearchIndex
    from treering.ports.patterns import ApplicationCollection, PatternCollection

T = TypeVar("T")


class Transaction(Protocol):
    """All changes are made in one scope, at one moment, and atomically."""

    scope: Scope
    now: datetime
    blobs: Blobs
    """Where to put blobs that records of this transaction will refer to: a sweep spares them until it ends."""

    def claim(self, name: str) -> None:
        """Hold the project-wide lock `name` until the transaction ends."""
        ...

    def undo_unit(self) -> Transaction:
        """The same transaction, whose changes through the returned view form a separate unit for `undo`."""
        ...

    def owners_of_personal(self) -> Sequence[str]:
        """Names of all principals with personal records in the project, sorted; reads none of the records."""
        ...

    @property
    def knowledge(self) -> KnowledgeCollection: ...
    @property
    def sessions(self) -> SessionCollection: ...
    @property
    def turns(self) -> TurnCollection: ...
    @property
    def episodes(self) -> EpisodeCollection: ...
    @property
    def patterns(self) -> PatternCollection: ...
    @property
    def applications(self) -> ApplicationCollection: ...
    @property
    def entities(self) -> EntityCollection: ...
    @property
    def entity_links(self) -> Derived[EntityLink, EntityLinkFilter]: ...
    @property
    def co_access(self) -> Derived[CoAccessEdge, CoAccessFilter]: ...
    @property
    def observed_sessions(self) -> ObservedSessionCollection: ...
    @property
    def scratchpads(self) -> Derived[SavedScratchpad, SavedScratchpadFilter]: ...
    @property
    def evidence(self) -> Derived[SignalEvidence, SignalEvidenceFilter]: ...
    @property
    def injected_items(self) -> Derived[InjectedItem, InjectedItemFilter]: ...
    @property
    def project_settings(self) -> Derived[ProjectSetting, ProjectSettingFilter]: ...
    @property
    def audit(self) -> Log[AuditEntry, AuditFilter]: ...
    @property
    def revisions(self) -> Log[Revision, RevisionFilter]: ...
    @property
    def runs(self) -> Derived[Run, RunFilter]: ...
    @property
    def jobs(self) -> JobQueue: ...
    @property
    def code(self) -> CodeIndex: ...
    @property
    def chunks(self) -> CodeChunks: ...
    @property
    def code_history(self) -> CodeHistory: ...
    @property
    def documents(self) -> DocumentNumbers: ...
    @property
    def index(self) -> SearchIndex: ...


@dataclass(frozen=True, slots=True)
class Check:
    """One result of a health check; `advice` says what to do if it is not fine."""

    name: str
    fine: bool
    detail: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class ProjectSize:
    """Size of a project: numbers of records, characters of text and bytes of blobs."""

    project: str
    knowledge: int
    turns: int
    episodes: int
    characters: int
    blob_bytes: int


@dataclass(frozen=True, slots=True)
class CopyContents:
    """The scopes with records in a copy, and the blobs that they need."""

    owners: Sequence[Scope]
    blobs: Sequence[tuple[Scope, str]]


@dataclass(frozen=True, slots=True)
class Trace:
    """An occurrence of a searched text: in a file, or in a column of a table and a record."""

    needle: str
    place: str
    record: str = ""


@dataclass(frozen=True, slots=True)
class Traces:
    """Result of a search of all stored bytes. `files` counts tables on an engine without files."""

    files: int
    size: int
    found: tuple[Trace, ...]


class Store(Protocol):
    """One database on one of the two engines. Every call fails after `close`."""

    engine: str
    location: str
    identity: str
    """Unique id of this database; unchanged by a move."""
    blobs: Blobs

    @property
    def read_only(self) -> bool:
        """Whether every write is rejected, with the reason."""
        ...

    on_queued: Callable[[], object]
    """Called after the commit of a transaction that queued jobs."""

    def transaction(self, scope: Scope, now: datetime) -> AbstractContextManager[Transaction]:
        """Write. Commits durably at the end of the block, rolls back on any exception."""
        ...

    def write(self, scope: Scope, now: datetime, work: Callable[[Transaction], T], *, claims: Sequence[str] = ()) -> T:
        """Run `work` in a write transaction; its result is returned after a durable commit.

        The transaction holds `claims`, taken in this order, before `work` begins.

        If a server aborts the transaction in favour of another one (a deadlock, a serialisation failure), none of it is
        stored, and `work` runs again in a new transaction, a bounded number of times. It must therefore have no effect
        outside the transaction. `TransactionAborted` after the last attempt.
        """
        ...

    def write_if_free(
        self, scope: Scope, now: datetime, work: Callable[[Transaction], object], *, seconds: float = 0.0
    ) -> bool:
        """Run `work` in a write transaction that waits at most `seconds` for other writers.

        False if it was not stored because another writer is active, or the database is read-only or unreachable. Every
        other failure, such as a full disk, raises `StoreError`.
        """
        ...

    def has_unstored_vectors(self, scope: Scope) -> bool:
        """Whether the project has vectors in memory that are not stored yet."""
        ...

    def reading(self, scope: Scope, now: datetime, *, for_search: bool = False) -> AbstractContextManager[Transaction]:
        """Read from one consistent snapshot. Never waits for a writer.

        `for_search` saves a server a round trip if the transaction uses the search index.
        """
        ...

    def sizes(self, scope: Scope) -> Mapping[str, int]:
        """Bytes on disk, by part."""
        ...

    def projects(self, scope: Scope, now: datetime) -> Sequence[ProjectSize]:
        """Every project of the tenant that has records, sorted by name. A server locks its tables briefly."""
        ...

    def check(self, scope: Scope, now: datetime) -> Sequence[Check]: ...

    def repair(self, scope: Scope, now: datetime) -> Sequence[str]:
        """Rebuild derived data, then, if all is sound, remove leftovers of a crash. Returns a line for each action.

        A record that cannot be read is reported and left unchanged.
        """
        ...

    def sweep_blobs(self, scope: Scope, digests: Sequence[str], now: datetime) -> int:
        """Delete those of the blobs that no record refers to any more."""
        ...

    def optimise(self) -> None:
        """Update the planner's statistics, and checkpoint the log as far as no reader needs it.

        Safe under load: no other transaction waits for it.
        """
        ...

    def erase_traces(self, seconds: float | None = None) -> None:
        """Remove all traces of purged records from free pages, logs and full-text segments.

        `StoreUnavailable` if a reader still uses them after `seconds`; writers do not wait meanwhile. A server only
        marks the space as free: it overwrites its pages and its log later.
        """
        ...

    def find_traces(self, scope: Scope, now: datetime, needles: Sequence[str]) -> Traces:
        """Search all stored bytes for texts: files with their free pages and logs, blobs, tables.

        On a server, the tables' rows of this project.
        """
        ...

    def copy_to(self, target: Path, *, moved: bool = False) -> CopyContents | None:
        """Copy the database to a new file, exact except for its identity; None if this store is not a file.

        With `moved`, the new file takes over the identity, and this database gives it up.
        """
        ...

    def close(self) -> None: ...
