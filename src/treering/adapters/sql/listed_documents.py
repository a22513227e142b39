"""Documents by number and by id, without loading the search index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, select

from treering.adapters.sql.tables import documents
from treering.ports.index import DocumentRef

if TYPE_CHECKING:
    from treering.adapters.sql.context import TransactionContext


# Built once: building a statement costs more than running it.
_HERE = (documents.c.tenant == bindparam("tenant"), documents.c.project == bindparam("project"))
_AFTER = (
    select(documents.c.number, documents.c.kind, documents.c.id)
    .where(*_HERE, documents.c.number > bindparam("number"), documents.c.owner == bindparam("owner"))
    .order_by(documents.c.number)
    .limit(bindparam("limit"))
)
_NUMBERS = select(documents.c.id, documents.c.number).where(
    *_HERE, documents.c.kind == bindparam("kind"), documents.c.id.in_(bindparam("ids", expanding=True))
)


class ListedDocuments:
    """The documents of one project, as one transaction sees them."""

    def __init__(self, context: TransactionContext) -> None:
        self._context = context

    def after(self, number: int, *, owner: str, limit: int) -> Sequence[DocumentRef]:
        values = {**self._here(), "number": number, "owner": owner, "limit": limit}
        return [DocumentRef(*row) for row in self._context.connection.execute(_AFTER, values)]

    def numbers(self, kind: str, ids: Sequence[str]) -> Mapping[str, int]:
        if not ids:
            return {}
        values = {**self._here(), "kind": kind, "ids": ids}
        return {row.id: row.number for row in self._context.connection.execute(_NUMBERS, values)}

    def _here(self) -> dict[str, object]:
        return {"tenant": self._context.scope.tenant, "project": self._context.scope.project}
