"""Saves the readable part of a damaged SQLite file. The original is kept beside it."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, BinaryIO

from sqlalchemy import insert

from treering.adapters.sql.codec import Codec, Row, codec_of, instant
from treering.adapters.sql.damaged_file import DamagedFile
from treering.adapters.sql.identity import IDENTITY_TABLE
from treering.adapters.sql.kinds import KINDS, KNOWLEDGE, SESSIONS, RecordKind
from treering.adapters.sql.migrate import HEAD, VERSION_TABLE, bring_up_to_date
from treering.adapters.sql.migrations import REVISIONS
from treering.adapters.sql.sqlite import SQLite
from treering.adapters.sql.store import SqlStore
from treering.core.errors import (
    BlobMissing,
    NotADatabase,
    StoreFull,
    StoreReadOnly,
    StoreTooNew,
    StoreUnavailable,
    Unreadable,
)
from treering.core.payloads import knowledge_types
from treering.core.records import text_digest
from treering.core.scope import Scope
from treering.core.turns import Session

if TYPE_CHECKING:
    from treering.core.settings import Settings
    from treering.ports.blobs import Blobs
    from treering.ports.clock import NewId

_HEADER = 100
_MAGIC = b"SQLite format 3\x00"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True, slots=True)
class SalvageReport:
    """Path of the damaged file, saved records by kind, and what was lost."""

    kept_aside: Path
    saved: Mapping[str, int]
    lost: tuple[str, ...]


def salvage(path: Path, blobs: Blobs, settings: Settings, now: datetime, new_id: NewId) -> SalvageReport:
    """Replace a damaged database with a sound one that has every readable record.

    A row of an unknown type, or whose blob is missing, is copied unchanged.

    Until the last step, which is atomic, nothing at `path` changes; the damaged file stays beside it permanently. Blobs
    are not touched, even those that only lost records refer to.
    """
    dialect = SQLite(path, settings.store)
    with _translated(path), dialect.translated():
        _refuse_what_is_no_database(path)
        with TemporaryDirectory(prefix=f".{path.name}.salvage-", dir=path.parent) as folder:
            fresh = Path(folder) / "fresh.db"
            with _alone(path) as file:
                kept_aside = _keep_aside(path, file, now)
                damaged = Path(folder) / "damaged.db"
                _copy(kept_aside, damaged)
                rescue = _Rescue(damaged, fresh, blobs, settings)
                rescue.run(now, new_id)
            _put_in_place(fresh, path)
    return SalvageReport(kept_aside, dict(rescue.saved), tuple(rescue.lost))


class _Rescue:
    """Copies the readable part of one file to another."""

    def __init__(self, damaged: Path, fresh: Path, blobs: Blobs, settings: Settings) -> None:
        self._damaged = damaged
        self._fresh = fresh
        self._blobs = blobs
        self._own = blobs
        self._settings = settings
        self._scopes: set[tuple[str, str]] = set()
        self.saved: Counter[str] = Counter()
        self.lost: list[str] = []

    def run(self, now: datetime, new_id: NewId) -> None:
        with closing(DamagedFile(self._damaged)) as source:
            tables = source.tables()
            self._create(source.revision(VERSION_TABLE) or HEAD)
            with closing(sqlite3.connect(self._fresh)) as target:
                target.execute("PRAGMA synchronous = OFF")
                self._own = self._blobs.within(self._keep_identity(source, target))
                for kind in KINDS:
                    if kind.table.name in tables:
                        self._copy(kind, source, target)
                target.commit()
            self.lost += source.unreadable
        self._finish(now, new_id)

    def _create(self, revision: str) -> None:
        if revision not in REVISIONS:
            raise StoreTooNew(f"the damaged file has schema {revision}, newer than {HEAD}; upgrade Treering")
        dialect = SQLite(self._fresh, self._settings.store)
        engine = dialect.open()
        try:
            bring_up_to_date(engine, dialect, revision)
        finally:
            engine.dispose()

    def _keep_identity(self, source: DamagedFile, target: sqlite3.Connection) -> str:
        """Keep the identity, which is the namespace of the blobs."""
        made = str(target.execute(f"SELECT id FROM {IDENTITY_TABLE}").fetchone()[0])
        found = source.identity(IDENTITY_TABLE)
        if found is None:
            self.lost.append(f"the id of the database: rename its folder in {self._blobs.location} to {made}")
            return made
        target.execute(f"UPDATE {IDENTITY_TABLE} SET id = ?", (found,))
        return found

    def _copy(self, kind: RecordKind[Any], source: DamagedFile, target: sqlite3.Connection) -> None:
        name, codec = kind.table.name, Codec[Any](kind, self._settings.store.text_bytes)
        key = tuple(column.name for column in kind.table.primary_key)
        present = {str(row[1]) for row in target.execute(f"PRAGMA table_info({name})")}
        for found in source.rows(name, key):
            row = {column: stored for column, stored in found.items() if column in present}
            if reason := self._why_not(kind, codec, row, source):
                self.lost.append(f"{kind.name} {row.get('id')!r}: {reason}")
                continue
            names = ", ".join(f'"{column}"' for column in row)
            marks = ", ".join("?" for _ in row)
            # A damaged page can yield the same row twice, or a row without required values.
            written = target.execute(f'INSERT OR IGNORE INTO "{name}" ({names}) VALUES ({marks})', (*row.values(),))
            self.saved[kind.name] += written.rowcount
            self._scopes.add((row["tenant"], row["project"]))

    def _why_not(self, kind: RecordKind[Any], codec: Codec[Any], row: Row, source: DamagedFile) -> str:
        """Reason to reject a row; empty if it is valid, or cannot be checked by this process."""
        try:
            value = codec.decode(Scope(tenant=row["tenant"], project=row["project"]), row, self._own)
        except BlobMissing:
            return ""
        except (Unreadable, ValueError, TypeError, KeyError, AttributeError) as exc:
            return f"its row is invalid ({type(exc).__name__})"
        if kind is KNOWLEDGE and value.type in knowledge_types():
            digest = {"facet": "text", "value": text_digest(value.type, value.content), "at": row["created_at"]}
            whose = {"tenant": row["tenant"], "project": row["project"], "kind": kind.name}
            if source.has("facets", {**whose, **digest, "id": value.id}) is False:
                return "its text does not match its fingerprint"
        return ""

    def _finish(self, now: datetime, new_id: NewId) -> None:
        """Migrate the new file, build derived data, and check the result."""
        store = SqlStore(SQLite(self._fresh, self._settings.store), self._blobs, self._settings, new_id)
        try:
            for tenant, project in sorted(self._scopes):
                scope = Scope(tenant=tenant, project=project)
                self._reopen_sessions(store, scope, now)
                store.rebuild(scope, now)
        finally:
            store.close()
        with closing(sqlite3.connect(self._fresh)) as checked:
            problems = checked.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if problems != "ok":
            raise NotADatabase(f"the salvaged copy is damaged too ({problems}); check the disk, then repair again")

    def _reopen_sessions(self, store: SqlStore, scope: Scope, now: datetime) -> None:
        """Restore the sessions of turns that were saved without one: the next turn needs its position."""
        with store.upkeep(scope, now) as context:
            orphans = context.connection.exec_driver_sql(
                "SELECT session, min(at), max(at), max(seq) + 1, owner, visibility FROM turns WHERE tenant = ? AND "
                "project = ? AND session NOT IN (SELECT id FROM sessions WHERE tenant = ? AND project = ?) "
                "GROUP BY session",
                (scope.tenant, scope.project, scope.tenant, scope.project),
            ).all()
            codec = codec_of(SESSIONS, self._settings.store.text_bytes)
            for id, first, last, turns, owner, visibility in orphans:
                moments = {"started_at": instant(first), "last_at": instant(last)}
                session = Session.make(id=id, turns=turns, owner=owner, visibility=visibility, **moments)
                context.connection.execute(insert(SESSIONS.table), codec.encode(scope, session, self._own).row)


def _refuse_what_is_no_database(path: Path) -> None:
    if path.is_dir():
        raise NotADatabase(f"{path} is a folder; pass the path of the file in it")
    if not path.exists():
        raise NotADatabase(f"{path} does not exist; check the path")
    if path.stat().st_size < _HEADER:
        raise NotADatabase(f"{path}: the file is too short for a SQLite database; nothing in it can be saved")
    # Checked with SQLite first: closing a file handle releases every lock that this process has on the file.
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        try:
            names = {str(name) for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        except sqlite3.DatabaseError as exc:
            if exc.sqlite_errorname != "SQLITE_NOTADB":
                return
        else:
            if names and not names & {VERSION_TABLE, *(kind.table.name for kind in KINDS)}:
                raise NotADatabase(f"{path}: the file belongs to another program; choose another path")
            return
    with path.open("rb") as file:
        if not file.read(len(_MAGIC)).startswith(_MAGIC):
            raise NotADatabase(f"{path}: the file is not a SQLite database; nothing in it can be saved")


@contextmanager
def _alone(path: Path) -> Iterator[BinaryIO]:
    """The file to read, locked against others as far as its state allows.

    Closing any handle on a file releases every lock that this process has on it: the lock is released first.
    """
    connection = sqlite3.connect(path, timeout=0, isolation_level=None)
    try:
        # In this mode SQLite detects every process that has the file open, not only writers.
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.DatabaseError as exc:
            if exc.sqlite_errorname.startswith("SQLITE_BUSY"):
                raise StoreUnavailable(f"{path} is open in another process; end it, then repair again") from exc
        with path.open("rb") as file:
            yield file
            connection.close()
    finally:
        connection.close()


def _keep_aside(path: Path, file: BinaryIO, now: datetime) -> Path:
    aside = path.with_name(f"{path.name}.damaged-{now:%Y%m%dT%H%M%S.%fZ}")
    log = _log(path)
    if log.exists() and log.stat().st_size > 0:
        shutil.copyfile(log, _log(aside))
        _sync(_log(aside))
    with aside.open("xb") as copy:
        shutil.copyfileobj(file, copy)
    shutil.copymode(path, aside)
    _sync(aside)
    return aside


def _copy(source: Path, target: Path) -> None:
    for part, copied in ((source, target), (_log(source), _log(target))):
        if part.exists():
            shutil.copyfile(part, copied)


def _log(path: Path) -> Path:
    return Path(f"{path}-wal")


def _put_in_place(fresh: Path, path: Path) -> None:
    _sync(fresh)
    shutil.copymode(path, fresh)
    # SQLite would apply an old log to the new file.
    for suffix in ("-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    os.replace(fresh, path)
    _sync(path.parent)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        if exc.errno in _FULL:
            raise StoreFull(f"no space for a copy of {path}; free as much as three times its size") from exc
        raise StoreReadOnly(f"{path}: {exc.strerror or exc}; check its folder and its permissions") from exc
