"""Documents by number and by id, without loading the search index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, select

from treering.adapters.sql.tables import documents
from treering.ports.index import DocumentRef

if TYPE_CHECKING:
    from treering.adapters.sql.context import TransactionContext


class ListedDocuments:
    """The documents of one project, as one transaction sees them."""

    def __init__(self, context: TransactionContext) -> None:
        self._context = context

    def after(self, number: int, *, owner: str, limit: int) -> Sequence[DocumentRef]:
        statement = (
            select(documents.c.number, documents.c.kind, documents.c.id)
            .where(*self._here(), documents.c.number > number, documents.c.owner == owner)
            .order_by(documents.c.number)
            .limit(limit)
        )
        return [DocumentRef(*row) for row in self._context.connection.execute(statement)]

    def numbers(self, kind: str, ids: Sequence[str]) -> Mapping[str, int]:
        known = self._context.ahead.numbers
        found = {id: known[kind, id] for id in ids if (kind, id) in known}
        if len(found) == len(ids):
            return found
        statement = select(documents.c.id, documents.c.number).where(
            *self._here(), documents.c.kind == kind, documents.c.id.in_([id for id in ids if id not in found])
        )
        return found | {row.id: row.number for row in self._context.connection.execute(statement)}

    def _here(self) -> tuple[ColumnElement[bool], ...]:
        scope = self._context.scope
        return documents.c.tenant == scope.tenant, documents.c.project == scope.project
