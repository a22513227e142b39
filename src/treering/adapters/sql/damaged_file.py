"""Reads a damaged SQLite file row by row, skipping unreadable pages."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treering.adapters.sql.codec import Row

# Upper limit of row numbers searched after an unreadable page: no table has this many rows.
_FURTHEST = 2**40


class DamagedFile:
    """The readable rows of each table; `unreadable` describes the gaps."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        # Without this, SQLite rejects a file that is shorter than its header says.
        self._connection.execute("PRAGMA writable_schema = ON")
        self._connection.execute("PRAGMA cell_size_check = ON")
        self.unreadable: list[str] = []

    def close(self) -> None:
        self._connection.close()

    def tables(self) -> set[str]:
        """Names of the tables; raises if not even these can be read."""
        return {name for (name,) in self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}

    def revision(self, table: str) -> str | None:
        try:
            found = self._connection.execute(f"SELECT version_num FROM {table}").fetchone()
        except sqlite3.DatabaseError:
            return None
        return None if found is None else str(found[0])

    def identity(self, table: str) -> str | None:
        try:
            found = self._connection.execute(f"SELECT id FROM {table}").fetchone()
        except sqlite3.DatabaseError:
            return None
        return None if found is None or not isinstance(found[0], str) else found[0]

    def has(self, table: str, row: Row) -> bool | None:
        """Whether the row exists, by its complete key; None if that cannot be read."""
        where = " AND ".join(f'"{name}" = ?' for name in row)
        try:
            found = self._connection.execute(f"SELECT 1 FROM {table} WHERE {where}", (*row.values(),)).fetchone()
        except sqlite3.DatabaseError:
            return None
        return found is not None

    def rows(self, table: str, key: tuple[str, ...]) -> Iterator[Row]:
        """Every readable row, mostly in order."""
        columns = [str(row[1]) for row in self._connection.execute(f"PRAGMA table_info({table})")]
        if self._is_clustered(table):
            found = _Clustered(self._connection, table, columns, key).read(self.unreadable)
        else:
            found = _Numbered(self._connection, table, columns).read(self.unreadable)
        return (dict(zip(columns, row, strict=True)) for row in found)

    def _is_clustered(self, table: str) -> bool:
        return bool(self._connection.execute("SELECT wr FROM pragma_table_list WHERE name = ?", (table,)).fetchone()[0])


class _Numbered:
    """A table with row numbers: rows after an unreadable page are found by probing numbers."""

    def __init__(self, connection: sqlite3.Connection, table: str, columns: list[str]) -> None:
        self._connection = connection
        self._table = table
        names = ", ".join(f'"{name}"' for name in columns)
        self._select = f'SELECT rowid, {names} FROM "{table}" WHERE rowid BETWEEN ? AND ? ORDER BY rowid'
        self._missing: list[int] = []

    def read(self, unreadable: list[str]) -> Iterator[tuple[Any, ...]]:
        low = 1
        while True:
            try:
                for row in self._connection.execute(self._select, (low, _FURTHEST)):
                    _refuse_a_circle(low <= row[0])
                    yield row[1:]
                    low = row[0] + 1
                break
            except sqlite3.DatabaseError:
                resumed = self._next_readable(low)
            if resumed is None:
                unreadable.append(f"{self._table}: rows from {low} on")
                break
            yield from self._between(low, resumed - 1)
            low = resumed
        unreadable += (f"{self._table}: rows {first} to {last}" for first, last in _spans(sorted(self._missing)))

    def _next_readable(self, low: int) -> int | None:
        """A number from which reading works again."""
        step = 1
        while low + step <= _FURTHEST:
            try:
                self._connection.execute(f"{self._select} LIMIT 1", (low + step, _FURTHEST)).fetchone()
            except sqlite3.DatabaseError:
                step *= 2
            else:
                return low + step
        return None

    def _between(self, low: int, high: int) -> Iterator[tuple[Any, ...]]:
        """Read from both ends towards the unreadable part, then do the same in each half of the rest."""
        spans = [(low, high)]
        while spans:
            low, high = spans.pop()
            for order in ("ASC", "DESC"):
                try:
                    for row in self._connection.execute(f"{self._select} {order}", (low, high)):
                        _refuse_a_circle(low <= row[0] <= high)
                        yield row[1:]
                        low, high = (row[0] + 1, high) if order == "ASC" else (low, row[0] - 1)
                    break
                except sqlite3.DatabaseError:
                    continue
            else:
                if low >= high:
                    self._missing += range(low, high + 1)
                else:
                    middle = (low + high) // 2
                    spans += [(low, middle), (middle + 1, high)]


class _Clustered:
    """A table clustered by its key: rows after an unreadable page are found by the keys in its indexes."""

    def __init__(self, connection: sqlite3.Connection, table: str, columns: list[str], key: tuple[str, ...]) -> None:
        self._connection = connection
        self._table = table
        self._key = ", ".join(f'"{name}"' for name in key)
        self._places = [columns.index(name) for name in key]
        self._backwards = ", ".join(f'"{name}" DESC' for name in key)
        names = ", ".join(f'"{name}"' for name in columns)
        self._select = f'SELECT {names} FROM "{table}"'
        self._seen: set[tuple[Any, ...]] = set()

    def read(self, unreadable: list[str]) -> Iterator[tuple[Any, ...]]:
        if (yield from self._scan(f"{self._select} ORDER BY {self._key}")):
            return
        yield from self._scan(f"{self._select} ORDER BY {self._backwards}")
        marks = ", ".join("?" for _ in self._places)
        onwards = f"{self._select} WHERE ({self._key}) >= ({marks}) ORDER BY {self._key}"
        lost = 0
        for key in self._known_keys():
            if key not in self._seen:
                yield from self._scan(onwards, key)
                lost += key not in self._seen
        unreadable.append(f"{self._table}: {lost or 'some'} entries")

    def _scan(self, statement: str, *values: tuple[Any, ...]) -> Generator[tuple[Any, ...], None, bool]:
        """Yield rows up to one seen before; return False if reading fails."""
        try:
            for row in self._connection.execute(statement, *values):
                key = tuple(row[place] for place in self._places)
                if key in self._seen:
                    return True
                self._seen.add(key)
                yield row
        except sqlite3.DatabaseError:
            return False
        return True

    def _known_keys(self) -> Iterator[tuple[Any, ...]]:
        """Keys from both ends of every index."""
        indexes = self._connection.execute("SELECT name FROM pragma_index_list(?) WHERE origin = 'c'", (self._table,))
        for (index,) in indexes.fetchall():
            names = self._connection.execute("SELECT name FROM pragma_index_info(?)", (index,)).fetchall()
            for order in ("ASC", "DESC"):
                ordered = ", ".join(f'"{name}" {order}' for (name,) in names)
                with suppress(sqlite3.DatabaseError):
                    yield from self._connection.execute(
                        f'SELECT {self._key} FROM "{self._table}" INDEXED BY "{index}" ORDER BY {ordered}'
                    )


def _refuse_a_circle(onwards: bool) -> None:
    """Detect cycles: after a lost page, pages may link to themselves and rows repeat without end."""
    if not onwards:
        raise sqlite3.DatabaseError("rows come back")


def _spans(numbers: list[int]) -> Iterator[tuple[int, int]]:
    """Runs of consecutive numbers."""
    first = last = None
    for number in numbers:
        if last is not None and number == last + 1:
            last = number
            continue
        if first is not None and last is not None:
            yield first, last
        first = last = number
    if first is not None and last is not None:
        yield first, last
