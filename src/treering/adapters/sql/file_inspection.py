"""Inspects an untrusted SQLite file: nothing in it is run, and nothing is written, not even beside it."""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from treering.adapters.sql.identity import IDENTITY_TABLE
from treering.adapters.sql.sqlite_errors import explained
from treering.core.values import KEY_BYTES

# A view with the name of a table would be executed.
_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'"


def identity_in(file: Path) -> str:
    """Identity of the database; empty if Treering did not create it."""
    with _opened(file) as connection:
        if IDENTITY_TABLE not in _tables(connection):
            return ""
        found = connection.execute(f"SELECT id FROM {IDENTITY_TABLE}").fetchone()
    return str(found[0]) if found else ""


def projects_in(file: Path) -> Sequence[str]:
    """Projects with records in the file, including files of older versions."""
    from treering.adapters.sql.kinds import KINDS

    with _opened(file) as connection:
        named = {kind.table.name for kind in KINDS} & _tables(connection)
        asked = " UNION ".join(f'SELECT project FROM "{name}"' for name in sorted(named))
        found = [project for (project,) in connection.execute(asked)] if asked else []
    return sorted(project for project in found if isinstance(project, str) and _is_name(project))


def _is_name(project: str) -> bool:
    """Reject names that Treering did not write: a terminal might interpret them."""
    return project.isprintable() and len(project.encode()) <= KEY_BYTES


def _tables(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute(_TABLES)}


@contextmanager
def _opened(file: Path) -> Iterator[sqlite3.Connection]:
    """If no process has the file open there is no log; `immutable` keeps SQLite from creating one."""
    manner = "mode=ro" if os.path.exists(f"{file}-wal") else "immutable=1"
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?{manner}", uri=True)) as connection:
            connection.execute("PRAGMA trusted_schema = OFF")
            yield connection
    except sqlite3.Error as exc:
        raise explained(exc, file) from exc
