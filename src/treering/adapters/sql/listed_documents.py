"""Documents by number and by id, without loading the search index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import Select, bindparam, select

from treering.adapters.sql.tables import documents
from treering.ports.index import DocumentRef

if TYPE_CHECKING:
    from treering.adapters.sql.context import ListParameters, TransactionContext

# Built once: building a statement costs more than running it.
_HERE = (documents.c.tenant == bindparam("tenant"), documents.c.project == bindparam("project"))
_AFTER = (
    select(documents.c.number, documents.c.kind, documents.c.id)
    .where(*_HERE, documents.c.number > bindparam("number"), documents.c.owner == bindparam("owner"))
    .order_by(documents.c.number)
    .limit(bindparam("limit"))
)


class ListedDocuments:
    """The documents of one project, as one transaction sees them."""

    def __init__(self, context: TransactionContext) -> None:
        self._context = context

    def after(self, number: int, *, owner: str, limit: int) -> Sequence[DocumentRef]:
        values = {**self._here(), "number": number, "owner": owner, "limit": limit}
        return [DocumentRef(*row) for row in self._context.connection.execute(_AFTER, values)]

    def numbers(self, kind: str, ids: Sequence[str]) -> Mapping[str, int]:
        known = self._context.ahead.numbers
        found = {id: known[kind, id] for id in ids if (kind, id) in known}
        missing = [id for id in ids if id not in found]
        if not missing:
            return found
        lists = self._context.dialect.lists
        values = {**self._here(), "kind": kind, "ids": lists.bound(missing)}
        return found | dict(self._context.connection.execute(_numbered(lists), values).all())

    def _here(self) -> dict[str, str]:
        return {"tenant": self._context.scope.tenant, "project": self._context.scope.project}


@cache
def _numbered(lists: ListParameters) -> Select[Any]:
    """Id and number of the documents of the bound kind with the bound ids."""
    return select(documents.c.id, documents.c.number).where(
        *_HERE, documents.c.kind == bindparam("kind"), lists.among(documents.c.id, "ids")
    )
