"""What every collection of one transaction shares."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy import Connection, Engine, RowMapping
from sqlalchemy.sql import ColumnElement

from treering.adapters.sql.kinds import Kind
from treering.core.scope import Scope
from treering.core.settings import Settings
from treering.ports.blobs import Blobs
from treering.ports.clock import NewId
from treering.ports.store import Check, Copied


class Dialect(Protocol):
    """Where the two engines differ."""

    name: str
    location: str

    def open(self) -> Engine: ...

    def translated(self) -> AbstractContextManager[None]:
        """Driver errors become ours."""
        ...

    def insert(self, table: Any) -> Any:
        """An INSERT that knows ON CONFLICT."""
        ...

    def writing(self) -> AbstractContextManager[None]:
        """Writers of this process take turns where the engine has one writer."""
        ...

    def options(self, *, writing: bool) -> Mapping[str, Any]:
        """What a connection is told before its transaction begins."""
        ...

    def lock(self, connection: Connection, scope: Scope, name: str) -> None:
        """Be the only one in the project who holds `name`, until the transaction ends."""
        ...

    def enter(self, connection: Connection, scope: Scope, *, upkeep: bool) -> None:
        """Tell the database the scope of this transaction; upkeep works for everybody in the project."""
        ...

    def migrating(self, connection: Connection) -> None:
        """Wait until no other process migrates."""
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
        """Empty the documents that `where` picks; the index is rebuilt afterwards."""
        ...

    def before_bulk(self, connection: Connection) -> None: ...

    def search(
        self,
        connection: Connection,
        kind: Kind[Any],
        words: Sequence[str],
        conditions: Sequence[ColumnElement[bool]],
        limit: int,
    ) -> Sequence[tuple[RowMapping, float]]:
        """Rows that hold any of `words`, the best first."""
        ...

    def after_bulk(self, connection: Connection) -> None:
        """Let the planner learn what a bulk load changed."""
        ...

    def sizes(self, connection: Connection) -> dict[str, int]: ...

    def check(self, connection: Connection, scope: Scope) -> Sequence[Check]: ...

    def damage(self, connection: Connection) -> str:
        """What is wrong with the file itself; empty where it is sound."""
        ...

    def rebuild_search(self, connection: Connection) -> None: ...

    def forget_traces(self, engine: Engine) -> None: ...

    def copy_to(self, engine: Engine, target: Path, identity: str) -> Copied | None:
        """Copy the database to a file that is known by another `identity`; None where it is not one."""
        ...

    def kept_aside(self) -> Sequence[Path]:
        """Damaged files that were saved from; what they lost may still be wanted."""
        ...

    def before_close(self, engine: Engine) -> None: ...

    def after_fork(self) -> None:
        """In a child process: let go of what the parent's threads hold."""
        ...


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

    @contextmanager
    def seeing_all(self) -> Iterator[None]:
        """Look past the principal, inside the project: what is purged leaves with all its earlier states."""
        self.dialect.enter(self.connection, self.scope, upkeep=True)
        yield
        self.dialect.enter(self.connection, self.scope, upkeep=False)
