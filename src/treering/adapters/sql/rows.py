"""Direct inserts through the driver: encoded rows need no further processing, and dominate a bulk load."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table

# Beyond this, the server reads arrays faster.
_MAX_JSON_ROWS = 100
_MARKS = {"sqlite": "?", "postgresql": "%s"}


def insert_rows(connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    """Insert rows with the same columns."""
    if rows:
        columns = tuple(rows[0])
        insert_tuples(connection, table, columns, list(map(itemgetter(*columns), rows)))


def insert_new(connection: Connection, table: Table, row: dict[str, Any]) -> bool:
    """Insert one row; False, without any change, if its key exists."""
    statement = f"{_statement(connection.dialect.name, table, tuple(row))} ON CONFLICT DO NOTHING"
    return connection.exec_driver_sql(statement, tuple(row.values())).rowcount == 1


def insert_tuples(
    connection: Connection, table: Table, columns: tuple[str, ...], rows: Sequence[tuple[Any, ...]]
) -> None:
    """Insert rows whose values are in the order of `columns`."""
    if not rows:
        return
    if len(rows) > 1 and connection.dialect.name == "postgresql":
        connection.exec_driver_sql(_array_statement(table, columns), tuple(map(sent_column, zip(*rows, strict=True))))
        return
    statement = _statement(connection.dialect.name, table, columns)
    connection.exec_driver_sql(statement, rows[0] if len(rows) == 1 else list(rows))


def insert_later(
    connection: Connection, table: Table, columns: tuple[str, ...], rows: Sequence[tuple[Any, ...]]
) -> None:
    """Insert rows whose keys are new, on a server together with other new rows. Reads of this transaction see them."""
    if connection.dialect.name != "postgresql":
        insert_tuples(connection, table, columns, rows)
    elif rows:
        from treering.adapters.sql.pending_rows import pending_rows

        if len(rows) > _MAX_JSON_ROWS:
            statement, values = _array_statement(table, columns), list[Any](map(sent_column, zip(*rows, strict=True)))
        else:
            statement, values = json_statement(table, columns), [json_rows(columns, rows)]
        pending_rows(connection).add((f"{table.name}_{{0}}", statement), values=values)


def json_rows(columns: tuple[str, ...], rows: Sequence[tuple[Any, ...]]) -> str:
    """One value for all rows: the driver prepares a statement faster the fewer values it has."""
    named = [dict(zip(columns, row, strict=True)) for row in rows]
    return json.dumps(named, ensure_ascii=False, allow_nan=False, default=_hexadecimal)


def sent_column(values: Iterable[Any]) -> str:
    """Values as the text of an array, in a fifth of the time that the driver takes for a list."""
    return f"{{{','.join([_ELEMENTS[type(value)](value) for value in values])}}}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


_ELEMENTS: dict[type, Callable[[Any], str]] = {
    str: _quoted,
    bytes: lambda value: f'"\\\\x{value.hex()}"',
    int: str,
    bool: str,
    float: repr,
    type(None): lambda _: "NULL",
}


def _hexadecimal(value: bytes) -> str:
    """How the server writes bytes."""
    return f"\\x{value.hex()}"


@cache
def _statement(dialect: str, table: Table, columns: tuple[str, ...]) -> str:
    marks = ", ".join(_MARKS[dialect] for _ in columns)
    return f"INSERT INTO {_target(table, columns)} VALUES ({marks})"


@cache
def json_statement(table: Table, columns: tuple[str, ...]) -> str:
    names = ", ".join(f'"{name}"' for name in columns)
    return f'INSERT INTO "{table.name}" ({names}) SELECT {names} FROM json_populate_recordset(NULL::"{table.name}", %s)'


@cache
def _array_statement(table: Table, columns: tuple[str, ...]) -> str:
    """One array per column: one round trip per batch and, unlike COPY, allowed under row-level security."""
    # Imported here, because it loads all drivers and the embedded engine does not need it.
    from sqlalchemy.dialects import postgresql

    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    types = (table.c[name].type.compile(dialect).split(" COLLATE")[0] for name in columns)
    arrays = ", ".join(f"%s::{kind}[]" for kind in types)
    return f"INSERT INTO {_target(table, columns)} SELECT * FROM unnest({arrays})"


def _target(table: Table, columns: tuple[str, ...]) -> str:
    names = ", ".join(f'"{name}"' for name in columns)
    return f'"{table.name}" ({names})'
