"""Translation of SQLite's errors, with advice."""

import sqlite3
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from treering.core.errors import Conflict, NotADatabase, StoreError, StoreFull, StoreReadOnly, StoreUnavailable

DAMAGED = "restore a backup, or run `treering doctor --repair` to save what is readable"

_AFTERMATH = ("no such savepoint", "cannot rollback")

# First match wins. SQLite's error names, and advice.
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
    ("SQLITE_CORRUPT", NotADatabase, f"the file is damaged; {DAMAGED}"),
    ("SQLITE_FORMAT", NotADatabase, f"the file is damaged; {DAMAGED}"),
    ("SQLITE_IOERR", StoreUnavailable, "the disk failed; check it, then open again"),
    ("SQLITE_TOOBIG", StoreError, "a value is larger than SQLite holds; store it in parts"),
)


def explained(exc: DBAPIError | sqlite3.Error, place: Path) -> StoreError | Conflict:
    """Our error for `exc`; `place` is the affected file."""
    first = _first(exc)
    name = getattr(first, "sqlite_errorname", "") or ""
    if name.startswith("SQLITE_CONSTRAINT"):
        return Conflict(f"the database rejected the change: {first}")
    for prefix, error, advice in _ERRORS:
        if name.startswith(prefix):
            return error(f"{place}: {advice} ({first})")
    return StoreError(f"{place}: {first}")


def _first(exc: BaseException) -> BaseException:
    """The first error: on a full disk SQLite rolls back on its own, and the explicit rollback then fails, too."""
    link: BaseException | None = exc
    while link is not None:
        error = link.orig if isinstance(link, DBAPIError) else link
        if isinstance(error, sqlite3.Error) and not str(error).startswith(_AFTERMATH):
            return error
        link = link.__context__
    return exc
