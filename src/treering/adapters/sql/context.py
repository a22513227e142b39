"""What every collection of one transaction shares."""

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


class Dialect(Protocol):
    """Where the two engines differ."""

    name: str
    location: str
    read_only: StoreError | None
    """Raised by whatever would write; None if writing is possible."""
    registered: set[PrincipalName]
    """Rows of `principals` that this process has stored."""
    raw_files: tuple[str, ...]
    """What follows the location in the names of the files that hold the database; none where a server keeps them."""

    def open(self) -> Engine: ...

    def translated(self) -> AbstractContextManager[None]:
        """Driver errors become ours."""
        ...

    def insert(self, table: Any) -> Any:
        """An INSERT that knows ON CONFLICT."""
        ...

    def writing(self, seconds: float | None) -> AbstractContextManager[None]:
        """Writers of this process take turns where the engine has one writer; None waits as the settings say."""
        ...

    def options(self, *, writing: bool) -> Mapping[str, Any]:
        """Execution options of a connection whose transaction is about to begin."""
        ...

    def limit_waits(self, connection: Connection, seconds: float) -> None:
        """Let a statement of this transaction fail rather than wait longer for a lock."""
        ...

    def has_unstored_vectors(self, scope: Scope) -> bool:
        """Whether vectors of the project are in memory only."""
        ...

    def lock(self, connection: Connection, scope: Scope, name: str) -> None:
        """Be the only one in the project who holds `name`, until the transaction ends."""
        ...

    def enter(self, connection: Connection, scope: Scope) -> None:
        """Tell the database the scope of this transaction."""
        ...

    def views(self, connection: Connection, scope: Scope) -> Sequence[Scope]:
        """Scopes that together see every row of the project: one if nothing hides rows from a statement, else one
        for the personal records of each other principal, and `scope` itself as the last."""
        ...

    def migrating(self, connection: Connection) -> None:
        """Wait until no other process migrates."""
        ...

    def names(
        self, connection: Connection, tenant: str | None = None, project: str | None = None
    ) -> Sequence[PrincipalName]:
        """Principals of a project, of a tenant, or all of them: their names only."""
        ...

    def guard_blobs(self, connection: Connection, scope: Scope, *, sweeping: bool) -> None:
        """Keep a sweep from deleting a blob that an open transaction is about to refer to."""
        ...

    def index_text(self, connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
        """Make texts searchable."""
        ...

    def unindex_text(self, connection: Connection, key: dict[str, Any]) -> None:
        """Leave no word of one text in the index."""
        ...

    def clear_text(self, connection: Connection, where: ColumnElement[bool]) -> None:
        """Empty the documents that `where` picks, and their vectors."""
        ...

    def restore_index(self, connection: Connection, scope: Scope) -> None:
        """Make what is found by number agree with the documents: nothing of those that are gone, all of the others."""
        ...

    def before_bulk(self, connection: Connection) -> None: ...

    def index(self, context: Context) -> SearchIndex:
        """The documents of the context's project."""
        ...

    def among(self, column: ColumnElement[int], numbers: Sequence[int]) -> ColumnElement[bool]:
        """Whether the column holds one of many numbers; the statement stays the same however many."""
        ...

    def after_bulk(self, connection: Connection) -> None:
        """Let the planner learn what a bulk load changed."""
        ...

    def changes(self, connection: Connection) -> int:
        """A number that grows with each row that this connection changes; 0 where nobody needs to know."""
        ...

    def sizes(self, connection: Connection) -> dict[str, int]: ...

    def check(self, connection: Connection, scope: Scope) -> Sequence[Check]: ...

    def damage(self, connection: Connection) -> str:
        """What is wrong with the file itself; empty where it is sound."""
        ...

    def optimise(self, engine: Engine) -> None:
        """Let the planner learn, and empty the log, without making anybody wait."""
        ...

    def erase_traces(self, engine: Engine, seconds: float | None) -> None: ...

    def copy_to(self, engine: Engine, target: Path, identity: str) -> CopyContents | None:
        """Copy the database to a file that is known by another `identity`; None where it is not one."""
        ...

    def kept_aside(self) -> Sequence[Path]:
        """Damaged files that were saved from; what they lost may still be wanted."""
        ...

    def before_close(self, engine: Engine) -> None: ...

    def after_fork(self) -> None:
        """In a child process: let go of what the parent's threads hold."""
        ...


class PrincipalName(NamedTuple):
    """A row of `principals`."""

    tenant: str
    project: str
    principal: str


class RemovedRecord(NamedTuple):
    """A record that is taken away; for a turn also its place, for an episode that is purged what it says."""

    id: str
    session: str | None = None
    seq: int | None = None
    text: str = ""


@dataclass
class Unsaved:
    """What the parts of one transaction share and nobody else sees yet."""

    before: int
    """The connection's changes when the transaction began."""
    index: Any = None
    """What was read of the index last, with this transaction's own changes."""


@dataclass(frozen=True)
class Context:
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
    unsaved: Unsaved
    queued: list[str] = field(default_factory=list)
    """The kinds of the jobs that this transaction queued, or found waiting with the same key."""
    purged: list[str] = field(default_factory=list)
    """Records whose links to entities are removed at the end of the transaction."""
    removed: list[RemovedRecord] = field(default_factory=list)
    """Records whose words leave the sessions that quote them, at the end of the transaction."""
    deferred_jobs: list[tuple[Job, ...]] = field(default_factory=list)
    """Jobs to queue at the end of the transaction: of each group the first whose key does not wait by then."""
    registering: set[PrincipalName] = field(default_factory=set)
    """Rows of `principals` that this transaction stores."""
    after_commit: list[Callable[[], object]] = field(default_factory=list)
    """What to do once the transaction is stored."""

    def is_unchanged(self) -> bool:
        """Whether the transaction has changed nothing so far: what it sees, everybody sees."""
        return self.dialect.changes(self.connection) == self.unsaved.before

    @contextmanager
    def entered(self, scope: Scope) -> Iterator[Context]:
        """The same transaction in another scope."""
        self.dialect.enter(self.connection, scope)
        try:
            yield replace(self, scope=scope)
        finally:
            # After an error of the database nothing more can be said in this transaction.
            with suppress(DBAPIError):
                self.dialect.enter(self.connection, self.scope)

    def for_every_principal(self, work: Callable[[Context], Iterable[T]]) -> list[T]:
        """Do `work` as each principal of the project in turn; what they found, each once."""
        found: dict[T, None] = {}
        for view in self.dialect.views(self.connection, self.scope):
            with self.entered(view) as context:
                found |= dict.fromkeys(work(context))
        return list(found)

    def execute_for_all(self, statement: Executable) -> list[Any]:
        """Execute a statement that names no principal, for all of them; the rows it returns, each once."""

        def execute(context: Context) -> Sequence[Any]:
            result = context.connection.execute(statement)
            return result.all() if result.returns_rows else ()

        return self.for_every_principal(execute)
