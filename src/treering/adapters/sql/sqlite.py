"""The embedded engine: one SQLite file in WAL mode, every commit synced to disk."""

import os
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import (
    URL,
    Column,
    ColumnElement,
    Connection,
    Engine,
    Label,
    MetaData,
    RowMapping,
    Table,
    and_,
    create_engine,
    delete,
    event,
    literal_column,
    select,
)
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.exc import DBAPIError

from treering.adapters.sql.kinds import Kind
from treering.adapters.sql.migrate import refuse_another_programs
from treering.adapters.sql.rows import insert_rows
from treering.adapters.sql.tables import documents
from treering.core.errors import (
    Conflict,
    NotADatabase,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)
from treering.core.scope import Scope
from treering.core.settings import StoreSettings
from treering.ports.store import Check

_HEADER = 100
_CACHE_KIB = 16_000
_BULK_CACHE_KIB = 200_000
_LEXICON = Table("lexicon", MetaData(), Column("rowid"), Column("lexicon"), Column("terms"))
_DAMAGED = "restore a backup, or run `treering doctor --repair` to save what is readable"

_AFTERMATH = ("no such savepoint", "cannot rollback")

# First match wins. SQLite's own names for what went wrong, and what to do about it.
_ERRORS: tuple[tuple[str, type[StoreError], str], ...] = (
    ("SQLITE_BUSY", StoreUnavailable, "another process kept the database locked; end it, or try again later"),
    ("SQLITE_LOCKED", StoreUnavailable, "another thread kept the database locked; try again"),
    ("SQLITE_FULL", StoreFull, "the disk is full; free some room and try again, nothing stored is harmed"),
    ("SQLITE_IOERR_WRITE", StoreFull, "the disk refused a write; free some room or check it, nothing stored is harmed"),
    ("SQLITE_IOERR_SHMSIZE", StoreFull, "the disk is full; free some room and try again, nothing stored is harmed"),
    ("SQLITE_READONLY", StoreReadOnly, "the file or its folder cannot be written; change its permissions"),
    ("SQLITE_PERM", StoreReadOnly, "the file cannot be opened; change its permissions"),
    ("SQLITE_CANTOPEN", StoreReadOnly, "the file cannot be opened; check that it and its folder can be written"),
    ("SQLITE_NOTADB", NotADatabase, "the file is not a SQLite database; choose another path"),
    ("SQLITE_CORRUPT", NotADatabase, f"the file is damaged; {_DAMAGED}"),
    ("SQLITE_FORMAT", NotADatabase, f"the file is damaged; {_DAMAGED}"),
    ("SQLITE_IOERR", StoreUnavailable, "the disk failed; check it, then open again"),
    ("SQLITE_TOOBIG", StoreError, "a value is larger than SQLite holds; store it in parts"),
)


class SQLite:
    """Differences of the embedded engine."""

    name = "sqlite"

    def __init__(self, path: Path, settings: StoreSettings) -> None:
        self._path = path
        self._settings = settings
        self._writers = threading.Lock()
        self._opened: tuple[int, int] | None = None
        self.location = str(path)

    def open(self) -> Engine:
        self._refuse_what_is_no_database()
        engine = create_engine(
            URL.create("sqlite", database=str(self._path)),
            pool_size=self._settings.pool_size,
            max_overflow=self._settings.pool_size * 4,
            connect_args={"timeout": self._settings.busy_seconds, "check_same_thread": False},
        )
        event.listen(engine, "do_connect", self._refuse_another_file)
        event.listen(engine, "connect", self._prepare)
        event.listen(engine, "begin", self._begin)
        return engine

    @contextmanager
    def translated(self) -> Iterator[None]:
        try:
            yield
        except (DBAPIError, sqlite3.Error) as exc:
            raise self._explain(_reason(exc)) from exc

    def insert(self, table: Any) -> Any:
        return insert(table)

    @contextmanager
    def writing(self) -> Iterator[None]:
        if not self._writers.acquire(timeout=self._settings.busy_seconds):
            raise StoreUnavailable("another thread of this process holds a transaction open; end it first")
        try:
            yield
        finally:
            self._writers.release()

    def options(self, *, writing: bool) -> dict[str, Any]:
        return {"writing": writing}

    def lock(self, connection: Connection, scope: Scope, name: str) -> None:
        """Nothing to lock: there is one writer."""

    def enter(self, connection: Connection, scope: Scope, *, upkeep: bool) -> None:
        """Every statement names its scope. What is written to a file that is no longer there would be lost."""
        self._refuse_another_file()

    def migrating(self, connection: Connection) -> None:
        """Nothing to wait for: the transaction that migrates is the only writer."""

    def guard_blobs(self, connection: Connection, scope: Scope, *, sweeping: bool) -> None:
        """Nothing to lock: a sweep and a write are never open at once."""

    def index_text(self, connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
        """By hand and not by trigger: a trigger makes FTS5 write its buffer out after every single row."""
        first = connection.exec_driver_sql("SELECT coalesce(max(docid), 0) + 1 FROM documents").scalar_one()
        numbered = [{"docid": docid, **row} for docid, row in enumerate(rows, start=first)]
        insert_rows(connection, documents, numbered)
        insert_rows(connection, _LEXICON, [{"rowid": row["docid"], "terms": row["terms"]} for row in numbered])

    def unindex_text(self, connection: Connection, key: dict[str, Any]) -> None:
        where = and_(*(documents.c[name] == stored for name, stored in key.items()))
        docid: ColumnElement[int] = literal_column("docid")
        found = connection.execute(select(docid, documents.c.terms).where(where)).all()
        for number, terms in found:
            # FTS5 must be told the very text that it indexed.
            connection.exec_driver_sql(
                "INSERT INTO lexicon(lexicon, rowid, terms) VALUES ('delete', ?, ?)", (number, terms)
            )
        connection.execute(delete(documents).where(where))

    def clear_text(self, connection: Connection, where: ColumnElement[bool]) -> None:
        connection.execute(delete(documents).where(where))

    def before_bulk(self, connection: Connection) -> None:
        connection.exec_driver_sql(f"PRAGMA cache_size = -{_BULK_CACHE_KIB}")

    def search(
        self,
        connection: Connection,
        kind: Kind[Any],
        words: Sequence[str],
        conditions: Sequence[ColumnElement[bool]],
        limit: int,
    ) -> Sequence[tuple[RowMapping, float]]:
        # A quoted word is never FTS5 syntax.
        query = " OR ".join(f'"{word}"' for word in words)
        score: Label[float] = literal_column("-bm25(lexicon)").label("score")
        columns = kind.table.c
        same = and_(
            columns.tenant == documents.c.tenant, columns.project == documents.c.project, columns.id == documents.c.id
        )
        statement = (
            select(kind.table, score)
            .select_from(_LEXICON)
            .join(documents, literal_column("documents.docid") == _LEXICON.c.rowid)
            .join(kind.table, same)
            .where(_LEXICON.c.lexicon.op("MATCH")(query), documents.c.kind == kind.name, *conditions)
            .order_by(score.desc(), columns.id)
            .limit(limit)
        )
        rows = connection.execute(statement).mappings().all()
        return [(row, float(row["score"])) for row in rows]

    def after_bulk(self, connection: Connection) -> None:
        connection.exec_driver_sql(f"PRAGMA cache_size = -{_CACHE_KIB}")
        connection.exec_driver_sql("PRAGMA analysis_limit = 1000")
        connection.exec_driver_sql("ANALYZE")

    def sizes(self, connection: Connection) -> dict[str, int]:
        names = {"database": "", "write-ahead log": "-wal"}
        files = {name: Path(f"{self._path}{suffix}") for name, suffix in names.items()}
        return {name: file.stat().st_size for name, file in files.items() if file.exists()}

    def check(self, connection: Connection, scope: Scope) -> Sequence[Check]:
        problems = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check(5)")]
        fine = problems == ["ok"]
        return (
            Check("engine", True, f"SQLite {sqlite3.sqlite_version}, embedded"),
            Check("integrity", fine, "ok" if fine else "; ".join(problems), "" if fine else _DAMAGED),
            self._check_search(connection),
        )

    def rebuild_search(self, connection: Connection) -> None:
        connection.exec_driver_sql("INSERT INTO lexicon(lexicon) VALUES ('rebuild')")

    def forget_traces(self, engine: Engine) -> None:
        with engine.connect().execution_options(writing=True) as connection, connection.begin():
            connection.exec_driver_sql("INSERT INTO lexicon(lexicon) VALUES ('optimize')")
        raw = engine.raw_connection()
        try:
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            raw.close()

    def copy_to(self, engine: Engine, target: Path) -> bool:
        """While others go on reading and writing; a failure half-way leaves no file behind."""
        unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
        source = engine.raw_connection()
        try:
            copy = sqlite3.connect(unfinished)
            try:
                source.backup(copy)
                problems = copy.execute("PRAGMA integrity_check(1)").fetchone()[0]
                copy.execute("PRAGMA journal_mode = DELETE")
            finally:
                copy.close()
            if problems != "ok":
                raise NotADatabase(f"{self._path}: the copy is damaged ({problems}); {_DAMAGED}")
            os.replace(unfinished, target)
        finally:
            source.close()
            unfinished.unlink(missing_ok=True)
        return True

    def before_close(self, engine: Engine) -> None:
        """Let the planner keep what it learned; a database that cannot be written now has nothing to keep."""
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

    def after_fork(self) -> None:
        self._writers = threading.Lock()

    def _check_search(self, connection: Connection) -> Check:
        try:
            # Rank 1 also compares the index with the documents it was made from.
            connection.exec_driver_sql("INSERT INTO lexicon(lexicon, rank) VALUES ('integrity-check', 1)")
        except DBAPIError as exc:
            return Check("search index", False, str(exc.orig), "run `treering doctor --repair` to rebuild it")
        return Check("search index", True, "agrees with the records")

    def _prepare(self, connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None
        if self._opened is None:
            self._refuse_another_programs_file(connection)
        _patiently(lambda: connection.execute("PRAGMA journal_mode = WAL"), self._settings.busy_seconds)
        for pragma in (
            "synchronous = FULL",
            "secure_delete = ON",
            "temp_store = MEMORY",
            f"cache_size = -{_CACHE_KIB}",
            "mmap_size = 268435456",
            "journal_size_limit = 67108864",
        ):
            connection.execute(f"PRAGMA {pragma}")
        self._opened = self._opened or self._file()

    def _refuse_another_programs_file(self, connection: sqlite3.Connection) -> None:
        """Looked at before the switch to WAL, which is written into the file."""
        found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        try:
            refuse_another_programs([name for (name,) in found])
        except NotADatabase:
            connection.close()
            raise

    def _begin(self, connection: Connection) -> None:
        if not connection.get_execution_options().get("writing", False):
            connection.exec_driver_sql("BEGIN")
            return
        connection.exec_driver_sql("PRAGMA busy_timeout = 0")
        try:
            _patiently(lambda: connection.exec_driver_sql("BEGIN IMMEDIATE"), self._settings.busy_seconds)
        finally:
            connection.exec_driver_sql(f"PRAGMA busy_timeout = {round(self._settings.busy_seconds * 1000)}")

    def _refuse_what_is_no_database(self) -> None:
        """What SQLite would not notice, or not say well.

        The file itself is not opened for this: closing it would give up every lock that this process has on it.
        """
        try:
            if self._path.is_dir():
                raise NotADatabase(f"{self._path} is a folder; give the path of a file in it")
            if not self._path.parent.is_dir():
                raise StoreReadOnly(f"there is no folder {self._path.parent}; create it first")
            if self._path.exists() and 0 < self._path.stat().st_size < _HEADER:
                raise NotADatabase(f"{self._path}: the file is not a SQLite database; choose another path")
        except OSError as exc:
            raise StoreReadOnly(f"{self._path}: {exc.strerror or exc}; check the path and its permissions") from exc

    def _refuse_another_file(self, *_connecting: object) -> None:
        if self._opened is not None and self._file() != self._opened:
            raise StoreUnavailable(
                f"{self._path}: the file was deleted or replaced while it was open; put it back, or open it again"
            )

    def _file(self) -> tuple[int, int] | None:
        """Which file stands at the path."""
        try:
            status = self._path.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def _explain(self, exc: BaseException | None) -> StoreError | Conflict:
        name = getattr(exc, "sqlite_errorname", "") or ""
        if name.startswith("SQLITE_CONSTRAINT"):
            return Conflict(f"the database refused the change: {exc}")
        for prefix, error, advice in _ERRORS:
            if name.startswith(prefix):
                return error(f"{self._path}: {advice} ({exc})")
        return StoreError(f"{self._path}: {exc}")


def _reason(exc: BaseException) -> BaseException:
    """What went wrong first: on a full disk SQLite ends the transaction by itself, and then undoing it fails too."""
    link: BaseException | None = exc
    while link is not None:
        error = link.orig if isinstance(link, DBAPIError) else link
        if isinstance(error, sqlite3.Error) and not str(error).startswith(_AFTERMATH):
            return error
        link = link.__context__
    return exc


def _patiently(attempt: Callable[[], object], seconds: float) -> None:
    """Try until no other process is in the way.

    SQLite's own waiting sleeps up to a tenth of a second at a time, so that among busy writers the one who has waited
    longest comes last; short and uneven steps let everyone through.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            attempt()
        except (sqlite3.OperationalError, DBAPIError) as exc:
            error = exc.orig if isinstance(exc, DBAPIError) else exc
            if getattr(error, "sqlite_errorname", "") != "SQLITE_BUSY" or time.monotonic() > deadline:
                raise
            time.sleep(random.uniform(0.0005, 0.003))
        else:
            return
