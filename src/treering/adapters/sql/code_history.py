"""Stored statistics of the commits of one project's repository."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sqlalchemy import Column, LargeBinary, delete, select

from treering.adapters.sql.tables import table, text
from treering.ports.code_history import HistoryState

if TYPE_CHECKING:
    from sqlalchemy.sql import ColumnElement

    from treering.adapters.sql.context import TransactionContext

code_history = table(
    "code_history",
    text("root"),
    text("inside"),
    text("version"),
    text("seen"),
    text("seeded"),
    Column("counts", LargeBinary, nullable=False),
    key=(),
)
_STATE = ("root", "inside", "version", "seen", "seeded")


class StoredHistory:
    """See `treering.ports.code_history.CodeHistory`."""

    def __init__(self, context: TransactionContext) -> None:
        self._context = context
        self._connection = context.connection
        self._project = {"tenant": context.scope.tenant, "project": context.scope.project}

    def state(self) -> HistoryState | None:
        columns = (code_history.c[name] for name in _STATE)
        row = self._connection.execute(select(*columns).where(self._here())).first()
        return (
            None if row is None else HistoryState(row.root, row.inside, row.version, json.loads(row.seen), row.seeded)
        )

    def counts(self) -> bytes:
        found = self._connection.execute(select(code_history.c.counts).where(self._here())).scalar()
        return bytes(found or b"")

    def put(self, state: HistoryState, counts: bytes | None = None) -> None:
        row = {name: getattr(state, name) for name in _STATE} | {"seen": json.dumps(dict(state.seen))}
        changed = row if counts is None else {**row, "counts": counts}
        statement = self._context.dialect.insert(code_history).values(**self._project, **{"counts": b"", **changed})
        self._connection.execute(
            statement.on_conflict_do_update(
                index_elements=["tenant", "project"], set_={name: statement.excluded[name] for name in changed}
            )
        )

    def clear(self) -> None:
        self._connection.execute(delete(code_history).where(self._here()))

    def _here(self) -> ColumnElement[bool]:
        columns = code_history.c
        condition: ColumnElement[bool] = (columns.tenant == self._project["tenant"]) & (
            columns.project == self._project["project"]
        )
        return condition
