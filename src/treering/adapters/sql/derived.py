"""Data derived from a record and stored in the same transaction: facets and searchable text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from sqlalchemy import delete, select, tuple_

from treering.adapters.sql.owners import SHARED
from treering.adapters.sql.rows import insert_later
from treering.adapters.sql.tables import documents, facets
from treering.core.privacy import is_private
from treering.core.scope import Visibility
from treering.core.values import Record

if TYPE_CHECKING:
    from treering.adapters.sql.codec import Encoded, Row
    from treering.adapters.sql.context import TransactionContext
    from treering.adapters.sql.kinds import RecordKind

MAX_INDEXED_CHARACTERS = 100_000  # a PostgreSQL tsvector ends at 1 MB

V = TypeVar("V", bound=Record)

_FACET = ("tenant", "project", "kind", "facet", "value", "at", "id", "owner")
_ID = _FACET.index("id")


class Derivation(Generic[V]):
    """Adds and removes the derived rows of one kind."""

    def __init__(self, kind: RecordKind[V], context: TransactionContext) -> None:
        self._kind = kind
        self._context = context

    def add(self, values: Sequence[tuple[V, Encoded]]) -> None:
        rows = [row for value, encoded in values for row in self._facets(value, encoded)]
        # In key order, a batch touches each page of the index once.
        insert_later(self._context.connection, facets, _FACET, sorted(rows))
        if self._kind.searched:
            found = [self._document(value, encoded) for value, encoded in values]
            self._context.dialect.index_text(self._context.connection, found)

    def renew(self, values: Sequence[tuple[V, Encoded]]) -> None:
        """Rebuild facets; replace only documents that differ from their records, so that vectors are kept."""
        rows = [row for value, encoded in values for row in self._facets(value, encoded)]
        insert_later(self._context.connection, facets, _FACET, sorted(rows))
        if not self._kind.searched:
            return
        wanted = {value.id: self._document(value, encoded) for value, encoded in values}
        indexed = self._indexed(wanted)
        differing = [document for id, document in wanted.items() if document != indexed.get(id)]
        for document in differing:
            if document["id"] in indexed:
                self._context.dialect.unindex_text(self._context, self._key(document["id"]))
        self._context.dialect.index_text(self._context.connection, differing)

    def _indexed(self, ids: Iterable[str]) -> dict[str, Row]:
        """Stored documents, by the id of their record."""
        columns = [column for column in documents.c if column.name != "number"]
        scope = self._context.scope
        statement = select(*columns).where(
            documents.c.tenant == scope.tenant,
            documents.c.project == scope.project,
            documents.c.kind == self._kind.name,
            documents.c.id.in_(list(ids)),
        )
        return {row["id"]: dict(row) for row in self._context.connection.execute(statement).mappings()}

    def replace(self, before: tuple[V, Encoded], after: tuple[V, Encoded]) -> None:
        """Update the derived rows of a changed record.

        A document keeps its number, and so its vectors, unless its words change or whether they may be sent elsewhere.
        """
        old, new = set(self._facets(*before)), set(self._facets(*after))
        for row in old - new:
            same = (facets.c[name] == stored for name, stored in zip(_FACET, row, strict=True))
            self._context.connection.execute(delete(facets).where(*same))
        insert_later(self._context.connection, facets, _FACET, sorted(new - old))
        if not self._kind.searched:
            return
        document, moved = self._document(*after), is_private(before[0]) is not is_private(after[0])
        if moved or document != self._document(*before):
            self._context.dialect.unindex_text(self._context, self._key(after[0].id))
            self._context.dialect.index_text(self._context.connection, [document])

    def forget(self, id: str) -> tuple[str, ...]:
        """Remove the derived rows of a record, which may be unreadable; return the digests of its blobs."""
        scope = self._context.scope
        here = (facets.c.tenant == scope.tenant, facets.c.project == scope.project)
        statement = delete(facets).where(*here, facets.c.kind == self._kind.name, facets.c.id == id)
        removed = self._context.connection.execute(statement.returning(facets.c.facet, facets.c.value)).all()
        if self._kind.searched:
            self._context.dialect.unindex_text(self._context, self._key(id))
        return tuple(value for facet, value in removed if facet == "blob")

    def refresh_beside(self, thread: str, place: int) -> None:
        """Give the documents before and after a position in a conversation new numbers, and so new vectors."""
        scope, dialect, connection = self._context.scope, self._context.dialect, self._context.connection
        columns = [column for column in documents.c if column.name != "number"]
        statement = select(*columns).where(
            documents.c.tenant == scope.tenant,
            documents.c.project == scope.project,
            documents.c.kind == self._kind.name,
            documents.c.thread == thread,
            documents.c.place.in_((place - 1, place + 1)),
        )
        for row in connection.execute(statement).mappings().all():
            dialect.unindex_text(self._context, self._key(row["id"]))
            dialect.index_text(connection, [dict(row)])

    def missing(self, values: Sequence[tuple[V, Encoded]]) -> set[str]:
        """The ids of those whose facets are not all there, or whose document is not as it should be."""
        wrong = set[str]()
        if self._kind.searched:
            indexed = self._indexed(value.id for value, _ in values)
            wrong = {value.id for value, encoded in values if indexed.get(value.id) != self._document(value, encoded)}
        expected = sorted({row for value, encoded in values for row in self._facets(value, encoded)})
        key = [facets.c[name] for name in _FACET]
        found: set[tuple[object, ...]] = set()
        for start in range(0, len(expected), 500):
            statement = select(*key).where(tuple_(*key).in_(expected[start : start + 500]))
            found |= {tuple(row) for row in self._context.connection.execute(statement)}
        return wrong | {str(row[_ID]) for row in expected if row not in found}

    def _facets(self, value: V, encoded: Encoded) -> Iterable[tuple[str, str, str, str, str, int, str, str]]:
        scope, kind, at = self._context.scope, self._kind.name, encoded.row[self._kind.born]
        owner = self.owner_of(value)
        found = {
            (scope.tenant, scope.project, kind, facet, item, at, value.id, owner)
            for facet, items in self._kind.facets.items()
            for item in items(value)
            if item
        }
        if encoded.blobs:
            found |= {
                (scope.tenant, scope.project, kind, "blob", digest, at, value.id, owner) for digest in encoded.blobs
            }
        return found

    def _document(self, value: Any, encoded: Encoded) -> Row:
        assert self._kind.searched is not None
        found = self._kind.searched(value)
        text = found.text[:MAX_INDEXED_CHARACTERS]
        # Its tables are not for processes that only read.
        from treering.core.language.folding import fold
        from treering.core.language.terms import analyse, code_of
        from treering.ports.index import marks_of

        words = analyse(text, found.language)
        return {
            **self._key(value.id),
            "owner": self.owner_of(value),
            "language": words.language,
            "thread": found.thread,
            "place": found.place,
            "at": encoded.row[self._kind.born],
            "speaker": code_of(fold(found.speaker).split()[0]) if found.speaker.strip() else 0,
            "marks": marks_of(text),
            "length": words.length,
            "codes": words.codes.tobytes(),
            "counts": words.counts,
        }

    def owner_of(self, value: Any) -> str:
        return value.owner if self._kind.personal and value.visibility is Visibility.PERSONAL else SHARED

    def _key(self, id: str) -> Row:
        scope = self._context.scope
        return {"tenant": scope.tenant, "project": scope.project, "kind": self._kind.name, "id": id}
