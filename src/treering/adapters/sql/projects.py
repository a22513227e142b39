"""The projects of a database, with their sizes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sqlalchemy import Connection, func, select

from treering.adapters.sql.tables import episodes, knowledge, turns
from treering.core.scope import EVERY_VISIBILITY, Scope, Visibility
from treering.ports.store import ProjectSize

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from treering.adapters.sql.context import Dialect
    from treering.ports.blobs import Blobs


def projects_of(connection: Connection, dialect: Dialect, blobs: Blobs, scope: Scope) -> Sequence[ProjectSize]:
    """Projects of the tenant, by name, counted over all principals without reading a record."""
    sizes = []
    with connection.begin():
        for name in sorted({each.project for each in dialect.names(connection, scope.tenant)}):
            own = Scope(tenant=scope.tenant, project=name, principal=scope.principal)
            counted = Counter[str]()
            for view in dialect.views(connection, own):
                dialect.enter(connection, view)
                counted.update(_counted(connection, view))
            sizes.append(ProjectSize(name, **counted, blob_bytes=sum(blob.size for blob in blobs.stream(own))))
    return sizes


def _counted(connection: Connection, scope: Scope) -> Mapping[str, int]:
    counts = Counter[str]()
    for table, text in ((knowledge, "content"), (turns, "text"), (episodes, "rest")):
        columns = table.c
        live = [columns.tenant == scope.tenant, columns.project == scope.project, columns.deleted_at.is_(None)]
        if scope.visible != EVERY_VISIBILITY:
            live.append(columns.visibility == Visibility.PERSONAL.value)
        total = func.coalesce(func.sum(func.length(columns[text])), 0)
        count, length = connection.execute(select(func.count(), total).where(*live)).one()
        counts.update({table.name: int(count), "characters": int(length)})
    return counts
