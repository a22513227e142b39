"""The projects of a database, and what each holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Connection, func, select

from treering.adapters.sql.tables import episodes, knowledge, turns
from treering.core.scope import Scope
from treering.ports.store import ProjectSize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from treering.adapters.sql.context import Dialect
    from treering.ports.blobs import Blobs

_LOCK_SECONDS = 0.3
"""Shorter than a server waits before it looks for deadlocks (1 s): a writer is never aborted because of this."""


def projects_of(connection: Connection, dialect: Dialect, blobs: Blobs, scope: Scope) -> Sequence[ProjectSize]:
    """Those of the tenant, by name. Nothing is changed: the transaction is rolled back."""
    with connection.begin() as transaction:
        dialect.enter(connection, scope, upkeep=False)
        dialect.limit_waits(connection, _LOCK_SECONDS)
        names = sorted(each.project for each in dialect.everyone(connection) if each.tenant == scope.tenant)
        transaction.rollback()
    sizes = []
    with connection.begin():
        for name in names:
            own = Scope(tenant=scope.tenant, project=name, principal=scope.principal)
            # For all principals: it counts, and shows no record.
            dialect.enter(connection, own, upkeep=True)
            sizes.append(_size(connection, own, sum(blob.size for blob in blobs.stream(own))))
    return sizes


def _size(connection: Connection, scope: Scope, blob_bytes: int) -> ProjectSize:
    counts, characters = list[int](), 0
    for table, text in ((knowledge, "content"), (turns, "text"), (episodes, "rest")):
        columns = table.c
        live = (columns.tenant == scope.tenant, columns.project == scope.project, columns.deleted_at.is_(None))
        total = func.coalesce(func.sum(func.length(columns[text])), 0)
        count, length = connection.execute(select(func.count(), total).where(*live)).one()
        counts.append(int(count))
        characters += int(length)
    known, said, done = counts
    return ProjectSize(scope.project, known, said, done, characters, blob_bytes)
