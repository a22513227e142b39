"""Upgrades a database to the current schema, once, in the first process that opens it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, inspect

from treering.adapters.sql.migrations import REVISIONS
from treering.core.errors import NotADatabase, StoreReadOnly, StoreTooNew

if TYPE_CHECKING:
    from treering.adapters.sql.context import Dialect

VERSION_TABLE = "treering_version"
HEAD = REVISIONS[-1]
# An earlier migration creates them, a later one drops them.
_DROPPED_TABLES = ("graph_nodes", "graph_edges", "events", "error_fingerprints")
# SQLAlchemy's inspector takes longer than the rest of opening a file.
_HAS_VERSION = {
    "sqlite": f"SELECT count(*) FROM sqlite_master WHERE name = '{VERSION_TABLE}' AND type IN ('table', 'view')",
    "postgresql": f"SELECT to_regclass('{VERSION_TABLE}') IS NOT NULL",
}


def bring_up_to_date(
    engine: Engine, dialect: Dialect, target: str = HEAD, rederive: Callable[[Connection], None] = lambda _: None
) -> None:
    """Migrate where needed. A process that finds another one migrating waits for it.

    What is derived is made anew by `rederive` in the same transaction: either all of it is there or nothing changed.
    """
    with engine.connect() as connection, connection.begin():
        if _is_at(connection, target):
            return
        if dialect.read_only is not None:
            raise StoreReadOnly(
                f"{dialect.location} is at schema {revision_of(connection)}, this Treering needs {target}, and it is "
                "read-only; copy its files to a folder that can be written, and open the copy"
            )
    with engine.connect().execution_options(writing=True) as connection, connection.begin():
        dialect.migrating(connection)
        if not _is_at(connection, target):
            is_new = revision_of(connection) is None
            _upgrade(connection, target)
            if not is_new:
                rederive(connection)


def revision_of(connection: Connection) -> str | None:
    """The schema revision of a database; None where Treering never wrote to it."""
    if not connection.exec_driver_sql(_HAS_VERSION[connection.dialect.name]).scalar():
        return None
    found = connection.exec_driver_sql(f"SELECT version_num FROM {VERSION_TABLE}").scalar()
    return None if found is None else str(found)


def _is_at(connection: Connection, target: str) -> bool:
    revision = revision_of(connection)
    if revision is None:
        _REFUSALS[connection.dialect.name](inspect(connection).get_table_names())
        return False
    if revision not in REVISIONS:
        raise StoreTooNew(
            f"this database has schema {revision}, newer than this Treering supports ({HEAD}); upgrade Treering"
        )
    return REVISIONS.index(revision) >= REVISIONS.index(target)


def refuse_another_programs(tables: Sequence[str]) -> None:
    """Raise `NotADatabase` for a non-empty file without our version table."""
    if tables and VERSION_TABLE not in tables:
        raise NotADatabase(f"this SQLite file belongs to another program (it holds {tables[0]!r}); choose another path")


def _refuse_taken_names(tables: Sequence[str]) -> None:
    """Allow other programs' tables in a server's database, unless a name collides with ours."""
    from treering.adapters.sql.schema import metadata

    taken = sorted({*metadata.tables, *_DROPPED_TABLES, "postings", "posting_blocks", "nearby"} & set(tables))
    if taken and VERSION_TABLE not in tables:
        raise NotADatabase(
            f"this database holds tables of another program ({', '.join(taken)}); use a database of its own, or a "
            "schema: CREATE SCHEMA treering, then add ?options=-csearch_path%3Dtreering to the URL"
        )


_REFUSALS: Mapping[str, Callable[[Sequence[str]], None]] = {
    "sqlite": refuse_another_programs,
    "postgresql": _refuse_taken_names,
}


def _upgrade(connection: Connection, target: str) -> None:
    # Importing Alembic takes longer than opening an up-to-date database.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, target)
