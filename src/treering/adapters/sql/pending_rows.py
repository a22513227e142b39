"""New rows of a server transaction, inserted by one statement: with the transaction's next statement, or at its end.

Only rows that no caller waits for are pending: an insert whose outcome decides what happens next runs immediately.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import event

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

KEEP_PENDING = {"keeps_pending_rows": True}
"""Execution options of a statement that does not depend on pending rows."""
_KEY = "treering_pending_rows"


class PendingRows:
    """Parts of a statement: `{0}` in a part is replaced by its own number, so that parts added together share names."""

    def __init__(self) -> None:
        self._parts: list[tuple[str, str]] = []
        self._values: list[Any] = []
        self._added = 0

    def add(self, *parts: tuple[str, str], values: Sequence[Any]) -> None:
        """Add inserts as pairs of a name and a statement; a later one may read what an earlier one returns."""
        self._parts += [(name.format(self._added), statement.format(self._added)) for name, statement in parts]
        self._values += values
        self._added += 1

    def insert(self, connection: Connection) -> None:
        """Insert all rows. Raises `IntegrityError` if one of their keys exists."""
        if not self._parts:
            return
        parts, values = self._parts, tuple(self._values)
        self.clear()
        *others, (_, last) = parts
        with_others = ", ".join(f"{name} AS ({statement})" for name, statement in others)
        connection.exec_driver_sql(f"WITH {with_others} {last}" if others else last, values)

    def clear(self) -> None:
        self._parts, self._values, self._added = [], [], 0


def pending_rows(connection: Connection) -> PendingRows:
    """The pending rows of the transaction that is open on this connection."""
    found: PendingRows = connection.info.setdefault(_KEY, PendingRows())
    return found


def insert_before_statements(engine: Engine) -> None:
    """Insert pending rows before every statement that may read them, and before every commit."""

    def before(connection: Connection, _cursor: Any, _statement: str, _values: Any, context: Any, _many: bool) -> None:
        if not context.execution_options.get("keeps_pending_rows"):
            pending_rows(connection).insert(connection)

    def forget(connection: Connection, *_savepoint: Any) -> None:
        # What was pending on a lost connection is lost with it.
        if not connection.invalidated:
            pending_rows(connection).clear()

    event.listen(engine, "before_cursor_execute", before)
    event.listen(engine, "commit", lambda connection: pending_rows(connection).insert(connection))
    event.listen(engine, "begin", forget)
    event.listen(engine, "rollback", forget)
    # A savepoint is a statement: what is pending now came after it.
    event.listen(engine, "rollback_savepoint", forget)
