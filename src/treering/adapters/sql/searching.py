"""The search that both engines share: from documents that match to the records they were made from, best first."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, RowMapping, and_, select

from treering.adapters.sql.kinds import Kind
from treering.adapters.sql.tables import documents


def best_rows(
    connection: Connection,
    kind: Kind[Any],
    found: Any,
    score: ColumnElement[float],
    *,
    conditions: Sequence[ColumnElement[bool]],
    limit: int,
) -> Sequence[tuple[RowMapping, float]]:
    """Rows of a kind whose document is in `found` (the documents, joined to an engine's index), with their scores."""
    columns, relevance = kind.table.c, score.label("score")
    same = and_(
        columns.tenant == documents.c.tenant, columns.project == documents.c.project, columns.id == documents.c.id
    )
    statement = (
        select(kind.table, relevance)
        .select_from(found)
        .join(kind.table, same)
        .where(documents.c.kind == kind.name, *conditions)
        .order_by(relevance.desc(), columns.id)
        .limit(limit)
    )
    rows = connection.execute(statement).mappings().all()
    return [(row, float(row["score"])) for row in rows]
