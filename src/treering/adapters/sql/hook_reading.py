"""Reads records for the hook process straight from a SQLite file, without SQLAlchemy, whose import costs too much.

Read-only: nothing is created beside the file, a busy database gives an error at once, and a long query is interrupted.
Records that no injection may contain are left out here: those that are deleted, outdated, doubtful or not visible.
"""

import os
import time

from treering.adapters.sql.migrations import REVISIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_FIELDS = (
    *("id", "type", "content", "confidence", "level", "source", "created_at", "last_accessed_at", "half_life_days"),
    *("user_verified", "pinned", "rest"),
)
_COLUMNS = ", ".join(f"k.{name}" for name in _FIELDS)
_GATE = (
    "(k.visibility <> 'personal' OR k.owner = :principal) AND k.deleted_at IS NULL AND k.deprecated_at IS NULL "
    "AND NOT k.flagged AND NOT k.tainted AND NOT k.needs_review "
    "AND (k.stale_at IS NULL OR k.stale_at > :now) AND (k.valid_until IS NULL OR k.valid_until > :now) "
    "AND (k.valid_from IS NULL OR k.valid_from <= :now) AND (k.session IS NULL OR k.session <> :session)"
)
_OURS = "tenant = :tenant AND project = :project"
_NEWEST = "ORDER BY created_at DESC, id DESC LIMIT"
_OF_TYPE = (
    f"SELECT {_COLUMNS} FROM (SELECT * FROM knowledge WHERE {_OURS} AND type = :type {_NEWEST} 200) k "
    f"WHERE {_GATE} LIMIT :limit"
)
# There is no index of pinned records, so only the newest records are considered.
_PINNED = (
    f"SELECT {_COLUMNS} FROM (SELECT * FROM knowledge WHERE {_OURS} {_NEWEST} 500) k "
    f"WHERE k.pinned AND {_GATE} LIMIT :limit"
)
_OF_FILE = (
    f"SELECT {_COLUMNS} FROM (SELECT id FROM facets WHERE {_OURS} AND kind = 'knowledge' AND facet = 'file' "
    "AND value = :file AND owner IN ('', :principal) ORDER BY at DESC, id DESC LIMIT 200) f "
    "JOIN knowledge k ON k.tenant = :tenant AND k.project = :project AND k.id = f.id "
    f"WHERE k.type IN (SELECT value FROM json_each(:types)) AND {_GATE} LIMIT :limit"
)
_TRUST = f"SELECT rest FROM project_settings WHERE {_OURS} AND id = 'trust'"
_VISIBLE_ITEM = f"{_OURS} AND (visibility <> 'personal' OR owner = :principal) AND kind = 'knowledge'"
_GIVEN = (
    f"SELECT item, injected_at, rest FROM injected_items WHERE {_VISIBLE_ITEM} AND session = :session "
    "ORDER BY injected_at, id LIMIT 2000"
)
_IGNORED = (
    "SELECT item FROM (SELECT item, injected_at, "
    "max(CASE WHEN outcome = 'used' THEN injected_at ELSE 0 END) OVER (PARTITION BY item) AS used_at "
    f"FROM injected_items WHERE {_VISIBLE_ITEM} AND item IN (SELECT value FROM json_each(:items)) "
    "AND point = :point AND outcome IS NOT NULL) "
    "WHERE injected_at > used_at GROUP BY item HAVING count(*) >= :ignored"
)


class MemoryReader:
    """An open memory, seen by one principal in one project. Errors of SQLite are raised as they are."""

    def __init__(self, file: str, scope: "dict[str, str]", session: str, now: float, deadline: float) -> None:
        self._values: dict[str, Any] = {**scope, "session": session, "now": int(now * 1e6)}
        self._connection = _connect(file, deadline)

    def is_current(self) -> bool:
        """Whether the database has exactly the schema that these queries were written for."""
        rows = self._rows("SELECT version_num FROM treering_version")
        return rows == [(REVISIONS[-1],)]

    def trust(self) -> str | None:
        """The stored setting of the project's trust level, as JSON; None without one."""
        rows = self._rows(_TRUST)
        return str(rows[0][0]) if rows else None

    def of_type(self, type: str, limit: int) -> "list[dict[str, Any]]":
        """The newest records of a type."""
        return self._records(_OF_TYPE, type=type, limit=limit)

    def pinned(self, limit: int) -> "list[dict[str, Any]]":
        return self._records(_PINNED, limit=limit)

    def of_file(self, file: str, types: str, limit: int) -> "list[dict[str, Any]]":
        """The newest records about a file; `types` is a JSON list."""
        return self._records(_OF_FILE, file=file, types=types, limit=limit)

    def given(self) -> "Sequence[tuple[str, int, str]]":
        """Id, time in microseconds and other fields, as JSON, of every record that the session was given."""
        return self._rows(_GIVEN)

    def ignored(self, items: str, point: str, times: int) -> set[str]:
        """Those of the records (ids as a JSON list) that were given here this often since a session last used them."""
        return {row[0] for row in self._rows(_IGNORED, items=items, point=point, ignored=times)}

    def close(self) -> None:
        self._connection.close()

    def _records(self, query: str, **values: "Any") -> "list[dict[str, Any]]":
        return [dict(zip(_FIELDS, row, strict=True)) for row in self._rows(query, **values)]

    def _rows(self, query: str, **values: "Any") -> "list[Any]":
        return list(self._connection.execute(query, {**self._values, **values}).fetchall())


def _connect(file: str, deadline: float) -> "Any":
    # The package `sqlite3` also imports `datetime` and `collections`.
    from _sqlite3 import connect  # type: ignore[import-not-found,unused-ignore]

    connection = connect(_address(file), uri=True, timeout=0, isolation_level=None)
    connection.set_progress_handler(lambda: time.monotonic() > deadline, 1000)
    return connection


def _address(file: str) -> str:
    """URI that opens the file without creating anything beside it; OSError if that is impossible.

    Without a log, no process is writing to the file, and it is complete without one.
    """
    if os.stat(file).st_mode & 0o170000 != 0o100000:
        raise OSError(f"{file} is not a regular file")
    mode = "mode=ro&immutable=1"
    if os.path.exists(f"{file}-wal"):
        if not os.path.exists(f"{file}-shm"):
            raise OSError("the memory was not closed, and reading it would create files; open it once with treering")
        mode = "mode=ro"
    path = os.path.abspath(file).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return f"file:{path}?{mode}"


def read_memory(file: str, scope: "dict[str, str]", session: str, now: float, deadline: float) -> MemoryReader:
    """Open a memory for the hook process. Raises an error of SQLite or of the operating system if it cannot be read."""
    return MemoryReader(file, scope, session, now, deadline)
