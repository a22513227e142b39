"""Documents by number and by id, without loading the search index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Select, bindparam, select

from treering.adapters.sql.tables import documents
from treering.ports.index import DocumentRef

if TYPE_CHECKING:
    from treering.adapters.sql.context import ListParameters, TransactionContext


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
        missing = [id for id in ids if id not in found]
        if not missing:
            return found
        lists, scope = self._context.dialect.lists, self._context.scope
        values = {"tenant": scope.tenant, "project": scope.project, "kind": kind, "ids": lists.bound(missing)}
        return found | dict(self._context.connection.execute(_numbered(lists), values).all())

    def _here(self) -> tuple[ColumnElement[bool], ...]:
        scope = self._context.scope
        return documents.c.tenant == scope.tenant, documents.c.project == scope.project


# Cached: building the statement costs more than running it.
@cache
def _numbered(lists: ListParameters) -> Select[Any]:
    """Id and number of the documents of the bound kind with the bound ids."""
    return select(documents.c.id, documents.c.number).where(
        documents.c.tenant == bindparam("tenant"),
        documents.c.project == bindparam("project"),
        documents.c.kind == bindparam("kind"),
        lists.among(documents.c.id, "ids"),
    )
