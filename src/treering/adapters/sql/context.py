"""State shared by the collections of one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from sqlalchemy.exc import DBAPIError

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine, Executable
    from sqlalchemy.sql import ColumnElement

    from treering.core.errors import StoreError
    from treering.core.jobs import Job
    from treering.core.scope import Scope
    from treering.core.settings import Settings
    from treering.ports.blobs import Blobs
    from treering.ports.clock import NewId
    from treering.ports.index import SearchIndex
    from treering.ports.store import Check, CopyContents

T = TypeVar("T")


class ListParameters(Protocol):
    """Lists of numbers or ids as one parameter, so that a statement does not depend on their length."""

    def among(self, column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
        """Whether the column holds one of the values in the list bound to `name`."""
        ...

    def bound(self, values: Sequence[Any]) -> Any:
        """The list as the value of the parameter."""
        ...

    def __hash__(self) -> int: ...


class Dialect(Protocol):
    """Differences between the two engines."""

    name: str
    location: str
    read_only: StoreError | None
    """Raised by every write; None if the database is writable."""
    registered: set[PrincipalName]
    """Rows of `principals` that this process has stored."""
    raw_files: tuple[str, ...]
    """Suffixes of the database files after the location; empty for a server."""
    lists: ListParameters

    def open(self) -> Engine:
        """An engine that survives forks; several memories may share it. `release` must follow."""
        ...

    def translated(self) -> AbstractContextManager[None]:
        """Translate driver errors into ours."""
        ...

    def insert(self, table: Any) -> Any:
        """An INSERT that supports ON CONFLICT."""
        ...

    def writing(self, seconds: float | None) -> AbstractContextManager[None]:
        """Serialise the writers of this process if the engine has a single writer; None waits as the settings say."""
        ...

    def options(self, *, writing: bool) -> Mapping[str, Any]:
        """Execution options of a connection whose transaction is about to start."""
        ...

    def start(
        self,
        connection: Connection,
        scope: Scope,
        *,
        writing: bool,
        for_search: bool,
        seconds: float | None,
        locks: Sequence[str] = (),
    ) -> None:
        """Start a transaction in this scope, whose statements fail instead of waiting longer than `seconds`.

        It holds the project-wide `locks`, taken in their order, until it ends. `for_search` prepares a reading
        transaction for statements of the search index.
        """
        ...

    def has_unstored_vectors(self, scope: Scope) -> bool:
        """Whether vectors of the project are in memory only."""
        ...

    def lock(self, connection: Connection, scope: Scope, name: str) -> None:
        """Hold the project-wide lock `name` until the transaction ends."""
        ...

    def lock_job_keys(
        self, context: TransactionContext, keys: Sequence[tuple[str, str]]
    ) -> Iterable[tuple[str, str, str, int]]:
        """Hold the locks of the given kinds and keys that no waiting job has until the transaction ends.

        Returns kind, key, state and due time of the jobs with these keys, as they are once the locks are held.
        """
        ...

    def enter(self, connection: Connection, scope: Scope) -> None:
        """Set the scope of this transaction in the database."""
        ...

    def views(self, connection: Connection, scope: Scope) -> Sequence[Scope]:
        """Scopes that together see every row of the project: one if nothing hides rows from a statement, else one
        for the personal records of each other principal, and `scope` itself as the last."""
        ...

    def migrating(self, connection: Connection) -> None:
        """Wait until no other process is migrating."""
        ...

    def names(
        self, connection: Connection, tenant: str | None = None, project: str | None = None
    ) -> Sequence[PrincipalName]:
        """Names of the principals of a project, of a tenant, or of all."""
        ...

    def guard_blobs(self, connection: Connection, scope: Scope, *, sweeping: bool) -> None:
        """Prevent a sweep from deleting a blob that an open transaction is about to refer to."""
        ...

    def index_text(self, connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
        """Add texts to the index."""
        ...

    def unindex_text(self, context: TransactionContext, key: dict[str, Any]) -> None:
        """Remove every word of one text from the index."""
        ...

    def clear_text(self, context: TransactionContext, where: ColumnElement[bool]) -> None:
        """Remove the documents that match `where`, and their vectors."""
        ...

    def erase_words(self, context: TransactionContext) -> None:
        """Erase the `cancelled_words` of the transaction."""
        ...

    def restore_index(self, connection: Connection, scope: Scope) -> None:
        """Make the index match the documents: remove entries of missing documents, add missing entries."""
        ...

    def before_bulk(self, connection: Connection) -> None: ...

    def expect_names(self, context: TransactionContext, keys: Callable[[], Sequence[str]], max_links: int) -> None:
        """On a server, look up entities by name, their links and records, together with the next statement."""
        ...

    def index(self, context: TransactionContext) -> SearchIndex:
        """The search index of the context's project."""
        ...

    def after_bulk(self, connection: Connection) -> None:
        """Update the planner's statistics after a bulk load."""
        ...

    def changes(self, connection: Connection) -> int:
        """A counter that grows with each row that this connection changes; 0 on an engine that does not need it."""
        ...

    def sizes(self, connection: Connection) -> dict[str, int]: ...

    def check(self, connection: Connection, scope: Scope) -> Sequence[Check]: ...

    def damage(self, connection: Connection) -> str:
        """Damage of the file itself; empty if it is sound."""
        ...

    def optimise(self, engine: Engine) -> None:
        """Update the planner's statistics and checkpoint the log, without blocking others."""
        ...

    def erase_traces(self, engine: Engine, seconds: float | None) -> None: ...

    def copy_to(self, engine: Engine, target: Path, identity: str) -> CopyContents | None:
        """Copy the database to a file with another `identity`; None if it is not a file."""
        ...

    def kept_aside(self) -> Sequence[Path]:
        """Damaged files kept after a salvage; they may contain records that were not saved."""
        ...

    def before_close(self, engine: Engine) -> None: ...

    def release(self, engine: Engine) -> None:
        """Close the connections that no other memory uses."""
        ...

    def after_fork(self) -> None:
        """In a child process: release locks that the parent's threads hold."""
        ...


class PrincipalName(NamedTuple):
    """A row of `principals`."""

    tenant: str
    project: str
    principal: str


class RemovedRow(NamedTuple):
    """A removed record; for a turn with its position, for a purged episode with its text."""

    id: str
    session: str | None = None
    seq: int | None = None
    text: str = ""


class Companion(NamedTuple):
    """A statement with one value that runs together with the next one of the index, and the receiver of its value."""

    statement: str
    named: dict[str, Any]
    receive: Callable[[Any], None]


@dataclass
class ReadAhead:
    """What a reading transaction has read together with something else, for the look-ups that follow."""

    records: dict[tuple[str, str], Any] = field(default_factory=dict)
    """Rows by kind and id, as JSON."""
    numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    """Numbers of documents by kind and id."""
    empty: frozenset[str] = frozenset()
    """Tables without a row of the project."""
    superseded_sources: dict[str, bool] = field(default_factory=dict)
    """By id of a turn: whether a record that was learned from it is deprecated."""
    related: dict[str, bool] = field(default_factory=dict)
    """By id of a record: whether another one has a relation to it."""
    name_keys: frozenset[str] = frozenset()
    """Keys by which entities were looked up."""
    entities: Sequence[Mapping[Any, Any]] = ()
    """Rows of the entities with one of these keys, newest first."""
    merged: dict[str, bool] = field(default_factory=dict)
    """By id of an entity: whether others were merged into it."""
    links: dict[str, Sequence[Mapping[Any, Any]]] = field(default_factory=dict)
    """By id of an entity: rows of its newest links, and one more than a search follows."""


@dataclass
class Unsaved:
    """State shared by the views of one transaction and invisible to others."""

    before: int
    """The connection's change counter at the start of the transaction."""
    index: Any = None
    """The index state read last, including this transaction's own changes."""


@dataclass(frozen=True)
class TransactionContext:
    """One open transaction."""

    connection: Connection
    scope: Scope
    now: datetime
    dialect: Dialect
    blobs: Blobs
    settings: Settings
    new_id: NewId
    group: str
    writing: bool
    for_search: bool
    """Whether the transaction was started for a search."""
    unsaved: Unsaved
    queued: list[str] = field(default_factory=list)
    """Kinds of the jobs that this transaction queued, or found queued with the same key."""
    purged: list[str] = field(default_factory=list)
    """Records whose links to entities are removed at the end of the transaction."""
    cancelled_words: set[str] = field(default_factory=set)
    """Owners of removed documents whose words a server still holds; erased at the end of a transaction that purges."""
    removed: list[RemovedRow] = field(default_factory=list)
    """Records whose text is removed from sessions that quote them, at the end of the transaction."""
    deferred_jobs: list[tuple[Job, ...]] = field(default_factory=list)
    """Jobs to queue at the end of the transaction: from each group the first whose key is not queued by then."""
    registering: set[PrincipalName] = field(default_factory=set)
    """Rows of `principals` that this transaction stores."""
    ahead: ReadAhead = field(default_factory=ReadAhead)
    companions: list[Companion] = field(default_factory=list)
    """Statements that wait for the next one of the index."""
    after_commit: list[Callable[[], object]] = field(default_factory=list)
    """Callbacks to run after the commit."""

    def is_unchanged(self) -> bool:
        """Whether the transaction has made no changes, so that it sees what everyone sees."""
        return self.dialect.changes(self.connection) == self.unsaved.before

    @contextmanager
    def entered(self, scope: Scope) -> Iterator[TransactionContext]:
        """The same transaction in another scope."""
        self.dialect.enter(self.connection, scope)
        try:
            yield replace(self, scope=scope, ahead=ReadAhead(), companions=[])
        finally:
            # After a database error, this transaction accepts no further statements.
            with suppress(DBAPIError):
                self.dialect.enter(self.connection, self.scope)

    def for_every_principal(self, work: Callable[[TransactionContext], Iterable[T]]) -> list[T]:
        """Run `work` as each principal of the project in turn; return the distinct results."""
        found: dict[T, None] = {}
        for view in self.dialect.views(self.connection, self.scope):
            with self.entered(view) as context:
                found |= dict.fromkeys(work(context))
        return list(found)

    def execute_for_all(self, statement: Executable) -> list[Any]:
        """Execute a statement without a principal condition for all principals; return the distinct rows."""

        def execute(context: TransactionContext) -> Sequence[Any]:
            result = context.connection.execute(statement)
            return result.all() if result.returns_rows else ()

        return self.for_every_principal(execute)
