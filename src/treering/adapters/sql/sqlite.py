"""The embedded engine: one SQLite file in WAL mode, every commit synced to disk."""

import os
import sqlite3
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Label,
    RowMapping,
    and_,
    column,
    create_engine,
    event,
    literal_column,
    select,
    table,
)
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.exc import DBAPIError

from treering.adapters.sql.kinds import Kind
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
_LEXICON = table("lexicon", column("rowid"), column("lexicon"))
_DAMAGED = "restore a backup, or run `treering doctor --repair` to save what is readable"

# First match wins. SQLite's own names for what went wrong, and what to do about it.
_ERRORS: tuple[tuple[str, type[StoreError], str], ...] = (
    ("SQLITE_BUSY", StoreUnavailable, "another process kept the database locked; end it, or try again later"),
    ("SQLITE_LOCKED", StoreUnavailable, "another thread kept the database locked; try again"),
    ("SQLITE_FULL", StoreFull, "the disk is full; free some room and try again, nothing stored is harmed"),
    ("SQLITE_IOERR_WRITE", StoreFull, "the disk refused a write; free some room or check it, nothing stored is harmed"),
    ("SQLITE_READONLY", StoreReadOnly, "the file or its folder cannot be written; change its permissions"),
    ("SQLITE_PERM", StoreReadOnly, "the file cannot be opened; change its permissions"),
    ("SQLITE_CANTOPEN", StoreReadOnly, "the file cannot be opened; check that its folder exists and is writable"),
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
        self.location = str(path)

    def open(self) -> Engine:
        self._refuse_what_is_no_database()
        engine = create_engine(
            f"sqlite:///{self._path}",
            pool_size=self._settings.pool_size,
            max_overflow=self._settings.pool_size * 4,
            connect_args={"timeout": self._settings.busy_seconds, "check_same_thread": False},
        )
        event.listen(engine, "connect", self._prepare)
        event.listen(engine, "begin", _begin)
        return engine

    @contextmanager
    def translated(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as exc:
            raise self._explain(exc.orig) from exc
        except sqlite3.Error as exc:
            raise self._explain(exc) from exc

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

    def enter(self, connection: Connection, scope: Scope, *, upkeep: bool) -> None:
        """Nothing to tell: every statement names its scope."""

    def migrating(self, connection: Connection) -> None:
        """Nothing to wait for: the transaction that migrates is the only writer."""

    def guard_blobs(self, connection: Connection, scope: Scope, *, sweeping: bool) -> None:
        """Nothing to lock: a sweep and a write are never open at once."""

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
        """Let the planner keep what it learned; a database that cannot be written has nothing to keep."""
        try:
            with engine.connect().execution_options(writing=True) as connection, connection.begin():
                connection.exec_driver_sql("PRAGMA analysis_limit = 400")
                connection.exec_driver_sql("PRAGMA optimize")
        except DBAPIError:
            return

    def _check_search(self, connection: Connection) -> Check:
        try:
            # Rank 1 also compares the index with the documents it was made from.
            connection.exec_driver_sql("INSERT INTO lexicon(lexicon, rank) VALUES ('integrity-check', 1)")
        except DBAPIError as exc:
            return Check("search index", False, str(exc.orig), "run `treering doctor --repair` to rebuild it")
        return Check("search index", True, "agrees with the records")

    def _prepare(self, connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None
        self._enter_wal(connection)
        for pragma in (
            "synchronous = FULL",
            "secure_delete = ON",
            "temp_store = MEMORY",
            "cache_size = -16000",
            "mmap_size = 268435456",
            "journal_size_limit = 67108864",
        ):
            connection.execute(f"PRAGMA {pragma}")

    def _enter_wal(self, connection: sqlite3.Connection) -> None:
        """Switching to WAL does not wait for other processes by itself."""
        deadline = time.monotonic() + self._settings.busy_seconds
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as exc:
                if exc.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
            else:
                return

    def _refuse_what_is_no_database(self) -> None:
        """SQLite would notice on the first read; this says it before anything is touched."""
        if self._path.is_dir():
            raise NotADatabase(f"{self._path} is a folder; give the path of a file in it")
        if not self._path.parent.is_dir():
            raise StoreReadOnly(f"there is no folder {self._path.parent}; create it first")
        if not self._path.exists() or self._path.stat().st_size == 0:
            return
        try:
            with self._path.open("rb") as file:
                header = file.read(_HEADER)
        except PermissionError as exc:
            raise StoreReadOnly(f"{self._path}: may not be read; change its permissions") from exc
        if not header.startswith(b"SQLite format 3\x00"):
            raise NotADatabase(f"{self._path}: the file is not a SQLite database; choose another path")
        if len(header) < _HEADER or self._is_truncated(header):
            raise NotADatabase(f"{self._path}: the file is shorter than it says; {_DAMAGED}")

    def _is_truncated(self, header: bytes) -> bool:
        log = Path(f"{self._path}-wal")
        if log.exists() and log.stat().st_size > 0:
            return False  # the missing pages may stand in the log
        page_size = struct.unpack(">H", header[16:18])[0]
        pages = struct.unpack(">I", header[28:32])[0]
        expected = int(pages) * (65_536 if page_size == 1 else int(page_size))
        return self._path.stat().st_size < expected

    def _explain(self, exc: BaseException | None) -> StoreError | Conflict:
        name = getattr(exc, "sqlite_errorname", "") or ""
        if name.startswith("SQLITE_CONSTRAINT"):
            return Conflict(f"the database refused the change: {exc}")
        for prefix, error, advice in _ERRORS:
            if name.startswith(prefix):
                return error(f"{self._path}: {advice} ({exc})")
        return StoreError(f"{self._path}: {exc}")


def _begin(connection: Connection) -> None:
    writing = connection.get_execution_options().get("writing", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")
