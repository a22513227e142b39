"""What follows from a record and is kept beside it in the same transaction: facets and searchable text."""

from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from sqlalchemy import delete, select, tuple_

from treering.adapters.sql.codec import Encoded, Row
from treering.adapters.sql.context import Context
from treering.adapters.sql.kinds import Kind
from treering.adapters.sql.rows import insert_tuples
from treering.adapters.sql.tables import facets
from treering.adapters.sql.words import terms
from treering.core.values import Record

V = TypeVar("V", bound=Record)

_FACET = ("tenant", "project", "kind", "facet", "value", "at", "id")


class Derivation(Generic[V]):
    """Adds and removes the derived rows of one kind."""

    def __init__(self, kind: Kind[V], context: Context) -> None:
        self._kind = kind
        self._context = context

    def add(self, values: Sequence[tuple[V, Encoded]]) -> None:
        rows = [row for value, encoded in values for row in self._facets(value, encoded)]
        # In key order a batch touches each page of the index once.
        insert_tuples(self._context.connection, facets, _FACET, sorted(rows))
        if self._kind.searched:
            self._context.dialect.index_text(self._context.connection, [self._document(value) for value, _ in values])

    def remove(self, values: Sequence[tuple[V, Encoded]]) -> None:
        for value, encoded in values:
            for row in self._facets(value, encoded):
                same = (facets.c[name] == stored for name, stored in zip(_FACET, row, strict=True))
                self._context.connection.execute(delete(facets).where(*same))
            if self._kind.searched:
                self._context.dialect.unindex_text(self._context.connection, self._key(value.id))

    def forget(self, id: str) -> tuple[str, ...]:
        """Remove the derived rows of a record that need not be readable; the digests of its blobs are returned."""
        scope = self._context.scope
        here = (facets.c.tenant == scope.tenant, facets.c.project == scope.project)
        statement = delete(facets).where(*here, facets.c.kind == self._kind.name, facets.c.id == id)
        removed = self._context.connection.execute(statement.returning(facets.c.facet, facets.c.value)).all()
        if self._kind.searched:
            self._context.dialect.unindex_text(self._context.connection, self._key(id))
        return tuple(value for facet, value in removed if facet == "blob")

    def missing(self, values: Sequence[tuple[V, Encoded]]) -> set[str]:
        """The ids of those whose facets are not all there."""
        expected = sorted({row for value, encoded in values for row in self._facets(value, encoded)})
        key = [facets.c[name] for name in _FACET]
        found: set[tuple[object, ...]] = set()
        for start in range(0, len(expected), 500):
            statement = select(*key).where(tuple_(*key).in_(expected[start : start + 500]))
            found |= {tuple(row) for row in self._context.connection.execute(statement)}
        return {row[-1] for row in expected if row not in found}

    def _facets(self, value: V, encoded: Encoded) -> Iterable[tuple[str, str, str, str, str, int, str]]:
        scope, kind, at = self._context.scope, self._kind.name, encoded.row[self._kind.born]
        found = {
            (scope.tenant, scope.project, kind, facet, item, at, value.id)
            for facet, items in self._kind.facets.items()
            for item in items(value)
            if item
        }
        if encoded.blobs:
            found |= {(scope.tenant, scope.project, kind, "blob", digest, at, value.id) for digest in encoded.blobs}
        return found

    def _document(self, value: V) -> Row:
        assert self._kind.searched is not None
        text = self._kind.searched(value)[: self._context.settings.store.indexed_characters]
        return {**self._key(value.id), "terms": terms(text)}

    def _key(self, id: str) -> Row:
        scope = self._context.scope
        return {"tenant": scope.tenant, "project": scope.project, "kind": self._kind.name, "id": id}
