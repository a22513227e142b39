"""The embedded engine: one SQLite file in WAL mode, every commit synced to disk."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    URL,
    ColumnElement,
    Connection,
    Engine,
    and_,
    bindparam,
    create_engine,
    delete,
    event,
    func,
    select,
)
from sqlalchemy import text as sql
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from treering.adapters.sql.context import ListParameters, PrincipalName
from treering.adapters.sql.forks import survive_forks
from treering.adapters.sql.identity import IDENTITY_TABLE
from treering.adapters.sql.kinds import EVERYONE
from treering.adapters.sql.loaded_indexes import LoadedIndexes
from treering.adapters.sql.migrate import refuse_another_programs
from treering.adapters.sql.read_only import has_log, missing_rights, url_of
from treering.adapters.sql.rows import insert_rows
from treering.adapters.sql.sqlite_errors import DAMAGED, explained
from treering.adapters.sql.tables import documents, vectors
from treering.core.errors import (
    NotADatabase,
    StoreError,
    StoreReadOnly,
    StoreUnavailable,
)
from treering.core.scope import Scope
from treering.ports.store import Check, CopyContents

if TYPE_CHECKING:
    from treering.adapters.sql.context import ListParameters, TransactionContext
    from treering.core.settings import StoreSettings
    from treering.ports.index import SearchIndex

_HEADER = 100
_JOB_STATES = (
    "SELECT kind, key, state, run_at FROM jobs WHERE tenant = ? AND project = ? AND key IN ({marks}) "
    "AND state IN ('queued', 'leased', 'dead')"
)
_WITHOUT_DOCUMENT = (
    "DELETE FROM vectors WHERE tenant = :tenant AND project = :project AND number NOT IN (SELECT number FROM documents)"
)
_SPACES = "SELECT DISTINCT model FROM vectors WHERE tenant = :tenant AND project = :project"
_RENUMBERED = (
    "UPDATE documents SET number = number + (SELECT max(seq) FROM sqlite_sequence WHERE name = 'documents') "
    "WHERE tenant = :tenant AND project = :project AND (kind = 'episode' OR :whole) AND number < "
    "(SELECT max(number) FROM vectors WHERE tenant = :tenant AND project = :project AND model = :model) "
    "AND number NOT IN (SELECT number FROM vectors WHERE model = :model)"
)
_NAMES = (
    "SELECT tenant, project, principal FROM principals WHERE (:tenant IS NULL OR tenant = :tenant) "
    "AND (:project IS NULL OR project = :project) ORDER BY 1, 2, 3"
)
# Pages of one connection. The operating system caches the file once for all of them; a larger cache in each only makes
# the memory of a server grow with the database, and no figure of ours improves.
_CACHE_KIB = 2_000
_BULK_CACHE_KIB = 200_000
_ANALYSED = 1_000
# Errors of the target file when one file is copied into another.
_TARGET_ERRORS = ("SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_READONLY", "SQLITE_PERM", "SQLITE_CANTOPEN")


class JsonLists:
    """Lists as JSON, which a table-valued function reads."""

    def among(self, column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
        return column.in_(select(func.json_each(bindparam(name)).table_valued("value").c.value))

    def bound(self, values: Sequence[Any]) -> str:
        return json.dumps(values)


class SQLite:
    """Differences of the embedded engine."""

    name = "sqlite"
    raw_files: tuple[str, ...] = ("", "-wal", "-shm", "-journal")
    lists: ListParameters = JsonLists()

    def __init__(
        self, path: Path, settings: StoreSettings, *, exclusive: bool = False, read_only: StoreError | None = None
    ) -> None:
        """`exclusive` requires that no other process has the file open, does not wait, and locks others out.

        `read_only` is raised by whatever would write; a file that cannot be written is read-only anyway.
        """
        self._path = path
        self.read_only = read_only
        self._immutable = False
        self._settings = settings
        self._exclusive = exclusive
        self._writers = threading.Lock()
        self._writer: int | None = None
        self._deadline = 0.0
        """Deadline of this process's writer, including its wait for other threads."""
        self._locked_out_since: float | None = None
        """Start of the wait for another process's write lock."""
        self.registered = set[PrincipalName]()
        self._indexes = LoadedIndexes(path)
        self._opened: tuple[int, int] | None = None
        self.location = str(path)

    def open(self) -> Engine:
        self._refuse_what_is_no_database()
        self.read_only = self.read_only or missing_rights(self._path)
        if self.read_only is None:
            _create_for_this_user_only(self._path)
            url = URL.create("sqlite", database=str(self._path))
        else:
            url = url_of(self._path, self.read_only)
            self._immutable = "immutable" in url.query
        engine = create_engine(
            url,
            pool_size=1 if self._exclusive else self._settings.pool_size,
            max_overflow=0 if self._exclusive else self._settings.pool_size * 4,
            pool_timeout=self._settings.busy_seconds,
            connect_args={
                "timeout": 0 if self._exclusive else self._settings.busy_seconds,
                "check_same_thread": False,
            },
        )
        event.listen(engine, "do_connect", self._refuse_another_file)
        event.listen(engine, "connect", self._prepare)
        event.listen(engine, "begin", self._begin)
        survive_forks(engine, self.after_fork, wait=self._indexes.wait)
        return engine

    @contextmanager
    def translated(self) -> Iterator[None]:
        try:
            yield
        except (DBAPIError, sqlite3.Error) as exc:
            raise explained(exc, self._path) from exc
        except PoolTimeout as exc:
            raise StoreUnavailable(f"{self._path}: every connection is busy; close transactions sooner") from exc

    def insert(self, table: Any) -> Any:
        return insert(table)

    @contextmanager
    def writing(self, seconds: float | None) -> Iterator[None]:
        if self._writer == threading.get_ident():
            raise StoreUnavailable("this thread already holds a transaction; end it first, or use that one")
        patience = self._settings.busy_seconds if seconds is None else seconds
        deadline = time.monotonic() + patience
        if not self._writers.acquire(timeout=patience):
            raise self._busy()
        self._writer, self._deadline = threading.get_ident(), deadline
        try:
            yield
        finally:
            self._writer = None
            self._writers.release()

    def _busy(self) -> StoreUnavailable:
        """Error that names the blocker: another process, else another thread of this one."""
        if self._locked_out_since is None:
            return StoreUnavailable(
                f"{self._path}: another thread of this process has a transaction open; end it first, or try again later"
            )
        seconds = time.monotonic() - self._locked_out_since
        return StoreUnavailable(
            f"{self._path}: another process kept the database locked for {seconds:,.1f} seconds; end it, or try again "
            "later"
        )

    def options(self, *, writing: bool) -> dict[str, Any]:
        return {"writing": writing}

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
        """Only the start of a transaction waits, within the limit of `writing`."""
        self.enter(connection, scope)

    def has_unstored_vectors(self, scope: Scope) -> bool:
        return self._indexes.has_unstored_vectors(scope)

    def lock(self, connection: Connection, scope: Scope, name: str) -> None:
        """No lock needed: there is a single writer."""

    def lock_job_keys(
        self, context: TransactionContext, keys: Sequence[tuple[str, str]]
    ) -> Iterable[tuple[str, str, str, int]]:
        """No lock needed: there is a single writer."""
        named = tuple(dict.fromkeys(key for _, key in keys))
        statement = _JOB_STATES.format(marks=", ".join("?" * len(named)))
        found = context.connection.exec_driver_sql(statement, (context.scope.tenant, context.scope.project, *named))
        return [(kind, key, state, run_at) for kind, key, state, run_at in found]

    def enter(self, connection: Connection, scope: Scope) -> None:
        """Every statement names its scope. Fails if the file was deleted, because writes would be lost."""
        self._refuse_another_file()

    def expect_names(self, context: TransactionContext, keys: Callable[[], Sequence[str]], max_links: int) -> None:
        """A look-up in the file costs no more on its own."""

    def migrating(self, connection: Connection) -> None:
        """No wait needed: the migrating transaction is the only writer."""

    def views(self, connection: Connection, scope: Scope) -> Sequence[Scope]:
        return (scope,)

    def names(
        self, connection: Connection, tenant: str | None = None, project: str | None = None
    ) -> Sequence[PrincipalName]:
        found = connection.exec_driver_sql(_NAMES, {"tenant": tenant, "project": project})
        return [PrincipalName(*row) for row in found]

    def guard_blobs(self, connection: Connection, scope: Scope, *, sweeping: bool) -> None:
        """No lock needed: a sweep and a write never overlap."""

    def index_text(self, connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
        insert_rows(connection, documents, rows)

    def unindex_text(self, context: TransactionContext, key: dict[str, Any]) -> None:
        self.clear_text(context, and_(*(documents.c[name] == stored for name, stored in key.items())))

    def clear_text(self, context: TransactionContext, where: ColumnElement[bool]) -> None:
        key = (documents.c.tenant, documents.c.project, documents.c.number)
        connection = context.connection
        emptied = connection.execute(delete(documents).where(where).returning(*key)).all()
        for tenant, project in {(tenant, project) for tenant, project, _ in emptied}:
            here = (vectors.c.tenant == tenant, vectors.c.project == project)
            numbers = [number for *_, number in emptied]
            removal = delete(vectors).where(*here, self.lists.among(vectors.c.number, "numbers"))
            connection.execute(removal, {"numbers": self.lists.bound(numbers)})

    def erase_words(self, context: TransactionContext) -> None:
        """Nothing to do: a removed document leaves no words."""

    def restore_index(self, connection: Connection, scope: Scope) -> None:
        from treering.core.embedded_text import part_of

        here = {"tenant": scope.tenant, "project": scope.project}
        connection.execute(sql(_WITHOUT_DOCUMENT), here)
        # Vectors are created only for documents newer than the newest vector: those in between get new numbers.
        for model in connection.execute(sql(_SPACES), here).scalars().all():
            connection.execute(sql(_RENUMBERED), {**here, "model": model, "whole": not part_of(model)})
        connection.execute(sql(_WITHOUT_DOCUMENT), here)

    def before_bulk(self, connection: Connection) -> None:
        connection.exec_driver_sql(f"PRAGMA cache_size = -{_BULK_CACHE_KIB}")

    def index(self, context: TransactionContext) -> SearchIndex:
        return self._indexes.index(context)

    def after_bulk(self, connection: Connection) -> None:
        connection.exec_driver_sql(f"PRAGMA cache_size = -{_CACHE_KIB}")
        connection.exec_driver_sql("PRAGMA analysis_limit = 1000")
        connection.exec_driver_sql("ANALYZE")

    def changes(self, connection: Connection) -> int:
        driven: Any = connection.connection.dbapi_connection
        return int(driven.total_changes)

    def sizes(self, connection: Connection) -> dict[str, int]:
        names = {"database": "", "write-ahead log": "-wal"}
        files = {name: Path(f"{self._path}{suffix}") for name, suffix in names.items()}
        sizes = {name: file.stat().st_size for name, file in files.items() if file.exists()}
        saved = self._indexes.size()
        return {**sizes, "search index": saved} if saved else sizes

    def check(self, connection: Connection, scope: Scope) -> Sequence[Check]:
        damage = self.damage(connection)
        unsynced = "" if self._settings.synchronous == "full" else "; commits are not synced to disk"
        return (
            Check("engine", True, f"SQLite {sqlite3.sqlite_version}, embedded{unsynced}"),
            Check("integrity", not damage, damage or "ok", DAMAGED if damage else ""),
            self._indexes.check(scope),
        )

    def damage(self, connection: Connection) -> str:
        problems = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check(5)")]
        return "" if problems == ["ok"] else "; ".join(problems)

    def optimise(self, engine: Engine) -> None:
        """Brief: samples each index, and checkpoints the log as far as no reader needs it."""
        with closing(engine.raw_connection()) as raw:
            raw.execute(f"PRAGMA analysis_limit = {_ANALYSED}")
            raw.execute("ANALYZE")
            raw.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def erase_traces(self, engine: Engine, seconds: float | None) -> None:
        patience = self._settings.busy_seconds if seconds is None else seconds
        deadline = time.monotonic() + patience
        self._indexes.remove_files(patience)
        while not self._empty_log(engine):
            if time.monotonic() > deadline:
                raise StoreUnavailable(
                    f"{self._path}: the record is forgotten, but another process still reads its old pages; "
                    "end it, then run `treering doctor --repair` to remove the last copy from the log"
                )
            time.sleep(0.05)

    def _empty_log(self, engine: Engine) -> bool:
        """One attempt without waiting: writers of this process continue between attempts."""
        with self.writing(None):
            return _emptied_log(engine)

    def copy_to(self, engine: Engine, target: Path, identity: str) -> CopyContents:
        """Others may read and write meanwhile; a failure leaves no file behind."""
        unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
        _create_for_this_user_only(unfinished)
        try:
            with closing(engine.raw_connection()) as source, closing(sqlite3.connect(unfinished)) as copy:
                copied = self._copy(source, copy, identity)
            os.replace(unfinished, target)
        except sqlite3.Error as exc:
            if not exc.sqlite_errorname.startswith(_TARGET_ERRORS):
                raise
            raise explained(exc, target.parent) from exc
        finally:
            unfinished.unlink(missing_ok=True)
        return copied

    def _copy(self, source: Any, copy: sqlite3.Connection, identity: str) -> CopyContents:
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
        problems = copy.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if problems != "ok":
            raise NotADatabase(f"{self._path}: the copy is damaged ({problems}); {DAMAGED}")
        copy.execute(f"UPDATE {IDENTITY_TABLE} SET id = ?", (identity,))
        copy.commit()
        owners = [Scope(tenant=tenant, project=project) for tenant, project in copy.execute(EVERYONE)]
        referred = copy.execute("SELECT DISTINCT tenant, project, value FROM facets WHERE facet = 'blob'")
        return CopyContents(
            owners, [(Scope(tenant=tenant, project=project), digest) for tenant, project, digest in referred]
        )

    def kept_aside(self) -> Sequence[Path]:
        return sorted(
            path for path in self._path.parent.iterdir() if path.name.startswith(f"{self._path.name}.damaged-")
        )

    def before_close(self, engine: Engine) -> None:
        """Finish saving the index, and store the planner's statistics if the database is writable."""
        self._indexes.wait()
        if self.read_only is not None:
            return
        try:
            raw = engine.raw_connection()
        except (DBAPIError, StoreError):
            return
        try:
            for pragma in ("busy_timeout = 0", "analysis_limit = 400", "optimize"):
                raw.execute(f"PRAGMA {pragma}")
        except sqlite3.Error:
            return
        finally:
            raw.close()

    def release(self, engine: Engine) -> None:
        engine.dispose()

    def after_fork(self) -> None:
        self._writers = threading.Lock()
        self._writer = self._locked_out_since = None
        self._indexes.after_fork()

    def _prepare(self, connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None
        if self._exclusive:
            # In this mode SQLite detects every process that has the file open, not only writers.
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        if self._opened is None:
            self._refuse_another_programs_file(connection)
            self._refuse_a_truncated_file(connection)
        if self.read_only is None:
            deadline = time.monotonic() + self._settings.busy_seconds
            _patiently(lambda: connection.execute("PRAGMA journal_mode = WAL"), deadline)
        for pragma in (
            f"query_only = {'OFF' if self.read_only is None else 'ON'}",
            f"synchronous = {self._settings.synchronous}",
            "secure_delete = ON",
            "temp_store = MEMORY",
            f"cache_size = -{_CACHE_KIB}",
            # Truncating a memory-mapped file would crash the process.
            "mmap_size = 0",
            # Needed on macOS to reach the disk; without effect elsewhere.
            "fullfsync = 1",
            "journal_size_limit = 67108864",
        ):
            connection.execute(f"PRAGMA {pragma}")
        self._opened = self._opened or self._file()

    def _refuse_another_programs_file(self, connection: sqlite3.Connection) -> None:
        """Checked before the switch to WAL, which writes to the file."""
        found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        try:
            refuse_another_programs([name for (name,) in found])
        except NotADatabase:
            connection.close()
            raise

    def _refuse_a_truncated_file(self, connection: sqlite3.Connection) -> None:
        """Detect missing pages at the end of the file, which SQLite notices only when it reads them.

        A log that is not empty may contain them.
        """
        pages, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
        log = Path(f"{self._path}-wal")
        if pages * size > self._path.stat().st_size and not (log.exists() and log.stat().st_size):
            connection.close()
            raise NotADatabase(f"{self._path}: the end of the file is missing; {DAMAGED}")

    def _begin(self, connection: Connection) -> None:
        if not connection.get_execution_options().get("writing", False):
            connection.exec_driver_sql("BEGIN")
            return
        connection.exec_driver_sql("PRAGMA busy_timeout = 0")
        now = self._locked_out_since = time.monotonic()
        # A migration writes before any other writer of this process exists.
        deadline = self._deadline if self._writer == threading.get_ident() else now + self._settings.busy_seconds
        try:
            _patiently(lambda: connection.exec_driver_sql("BEGIN IMMEDIATE"), deadline)
        except DBAPIError as exc:
            if not _is_busy(exc):
                raise
            # Not reset: threads that time out at the same moment have the same reason.
            raise self._busy() from exc
        else:
            self._locked_out_since = None
        finally:
            connection.exec_driver_sql(f"PRAGMA busy_timeout = {round(self._settings.busy_seconds * 1000)}")

    def _refuse_what_is_no_database(self) -> None:
        """Checks that SQLite would not make, or would report poorly.

        The file itself is not opened for this: closing it would release every lock that this process has on it.
        """
        try:
            if self._path.is_dir():
                raise NotADatabase(f"{self._path} is a folder; pass the path of a file in it")
            if not self._path.parent.is_dir():
                raise StoreReadOnly(f"the folder {self._path.parent} does not exist; create it first")
            if self._path.exists() and 0 < self._path.stat().st_size < _HEADER:
                raise NotADatabase(f"{self._path}: the file is not a SQLite database; choose another path")
        except OSError as exc:
            raise StoreReadOnly(f"{self._path}: {exc.strerror or exc}; check the path and its permissions") from exc

    def _refuse_another_file(self, *_connecting: object) -> None:
        if self._opened is not None and self._file() != self._opened:
            raise StoreUnavailable(
                f"{self._path}: the file was deleted or replaced while it was open; put it back, or open it again"
            )
        if self._immutable and has_log(self._path):
            raise StoreUnavailable(f"{self._path}: another process has begun to write to it; open it again")

    def _file(self) -> tuple[int, int] | None:
        """Identity of the file at the path."""
        try:
            status = self._path.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino


def _create_for_this_user_only(path: Path) -> None:
    """Create an empty file, whose permissions SQLite copies to the log; an existing one stays unchanged.

    Created under another name and linked: closing a handle on the file would release every lock that this process has
    on it. If that fails, SQLite creates the file, or reports why it cannot.
    """
    if path.exists():
        return
    with suppress(OSError):
        handle, aside = mkstemp(prefix=f".{path.name}.", dir=path.parent)
        os.close(handle)
        try:
            os.link(aside, path)
        finally:
            os.unlink(aside)


def _emptied_log(engine: Engine) -> bool:
    """Checkpoint the log; True if it is empty now."""
    with closing(engine.raw_connection()) as raw:
        (patience,) = raw.execute("PRAGMA busy_timeout").fetchone()
        raw.execute("PRAGMA busy_timeout = 0")
        try:
            busy, _in_log, _moved = raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            raw.execute(f"PRAGMA busy_timeout = {patience}")
    return not busy


def _is_busy(exc: sqlite3.OperationalError | DBAPIError) -> bool:
    error = exc.orig if isinstance(exc, DBAPIError) else exc
    return getattr(error, "sqlite_errorname", "") == "SQLITE_BUSY"


def _patiently(attempt: Callable[[], object], deadline: float) -> None:
    """Retry until no other process blocks.

    SQLite itself sleeps up to a tenth of a second at a time, so that among busy writers the one that has waited longest
    comes last; short random sleeps are fair.
    """
    while True:
        try:
            attempt()
        except (sqlite3.OperationalError, DBAPIError) as exc:
            if not _is_busy(exc) or time.monotonic() > deadline:
                raise
            time.sleep(random.uniform(0.0005, 0.003))
        else:
            return
