"""What follows from a record and is kept beside it in the same transaction: facets and searchable text."""

from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

from sqlalchemy import delete, insert

from treering.adapters.sql.codec import Encoded, Row, primitive
from treering.adapters.sql.context import Context
from treering.adapters.sql.kinds import Kind
from treering.adapters.sql.tables import documents, facets
from treering.core.values import Record

V = TypeVar("V", bound=Record)


class Derivation(Generic[V]):
    """Adds and removes the derived rows of one kind."""

    def __init__(self, kind: Kind[V], context: Context) -> None:
        self._kind = kind
        self._context = context

    def add(self, values: Sequence[tuple[V, Encoded]]) -> None:
        rows = [row for value, encoded in values for row in self._facets(value, encoded)]
        if rows:
            self._context.connection.execute(insert(facets), rows)
        if self._kind.searched:
            self._context.connection.execute(insert(documents), [self._document(value) for value, _ in values])

    def remove(self, values: Sequence[tuple[V, Encoded]]) -> None:
        for value, encoded in values:
            for row in self._facets(value, encoded):
                self._context.connection.execute(
                    delete(facets).where(*(facets.c[name] == stored for name, stored in row.items()))
                )
            if self._kind.searched:
                key = {name: self._document(value)[name] for name in ("tenant", "project", "kind", "id")}
                self._context.connection.execute(
                    delete(documents).where(*(documents.c[name] == stored for name, stored in key.items()))
                )

    def _facets(self, value: V, encoded: Encoded) -> Iterator[Row]:
        at = primitive(getattr(value, self._kind.born))
        found = [(facet, item) for facet, items in self._kind.facets.items() for item in items(value) if item]
        found += [("blob", digest) for digest in encoded.blobs]
        for facet, item in dict.fromkeys(found):
            yield {**self._key(value.id), "facet": facet, "value": item, "at": at}

    def _document(self, value: V) -> Row:
        assert self._kind.searched is not None
        terms = self._kind.searched(value)[: self._context.settings.store.indexed_characters]
        return {**self._key(value.id), "terms": terms}

    def _key(self, id: str) -> Row:
        scope = self._context.scope
        return {"tenant": scope.tenant, "project": scope.project, "kind": self._kind.name, "id": id}
