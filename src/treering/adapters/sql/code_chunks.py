"""The stored chunks of one project's code."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Column, LargeBinary, Table, and_, delete, exists, func, or_, select

from treering.adapters.sql.records import batches
from treering.adapters.sql.rows import insert_tuples
from treering.adapters.sql.tables import add_index, integer, table, text
from treering.ports.code_chunks import ChunkCoverage, StoredChunk

if TYPE_CHECKING:
    from sqlalchemy.sql import ColumnElement

    from treering.adapters.sql.context import TransactionContext

_BATCH = 500


def _packed(name: str) -> Column[bytes]:
    return Column(name, LargeBinary, nullable=False)


code_chunks = table(
    "code_chunks",
    text("path"),
    integer("place"),
    text("symbol"),
    integer("start_line"),
    integer("end_line"),
    text("digest"),
    integer("length"),
    _packed("codes"),
    _packed("counts"),
    key=("path", "place"),
)
add_index(code_chunks, "digest", "path", "place")

code_vectors = table("code_vectors", text("model"), text("digest"), _packed("vector"), key=("model", "digest"))
"""One vector per text and model, as little-endian 16-bit floats: a moved chunk keeps it."""

_COLUMNS = ("path", "place", "symbol", "start_line", "end_line", "digest", "length", "codes", "counts")


class StoredChunks:
    """See `treering.ports.code_chunks.CodeChunks`."""

    def __init__(self, context: TransactionContext) -> None:
        self._context = context
        self._connection = context.connection
        self._project = (context.scope.tenant, context.scope.project)

    def put(self, files: Mapping[str, Sequence[StoredChunk]]) -> None:
        left = set[str]()
        for paths in batches(list(files), _BATCH):
            gone = delete(code_chunks).where(self._here(code_chunks), code_chunks.c.path.in_(paths))
            left.update(self._connection.execute(gone.returning(code_chunks.c.digest)).scalars())
        rows = [(*self._project, *(getattr(each, name) for name in _COLUMNS)) for of in files.values() for each in of]
        insert_tuples(self._connection, code_chunks, ("tenant", "project", *_COLUMNS), rows)
        self._forget_vectors(sorted(left - {each.digest for of in files.values() for each in of}))

    def clear(self) -> None:
        self._connection.execute(delete(code_chunks).where(self._here(code_chunks)))

    def drop_unused_vectors(self) -> None:
        used = exists().where(self._here(code_chunks), code_chunks.c.digest == code_vectors.c.digest)
        self._connection.execute(delete(code_vectors).where(self._here(code_vectors), ~used))

    def every(self) -> Sequence[StoredChunk]:
        columns = code_chunks.c
        ordered = self._chunks().order_by(columns.path, columns.place)
        return [_chunk(row) for row in self._connection.execute(ordered)]

    def unembedded(self, model: str, *, limit: int, after: tuple[str, int] | None = None) -> Sequence[StoredChunk]:
        chunks = code_chunks.c
        lacking = self._chunks().where(~self._embedded(model))
        if after is not None:
            path, place = after
            lacking = lacking.where(or_(chunks.path > path, and_(chunks.path == path, chunks.place > place)))
        ordered = lacking.order_by(chunks.path, chunks.place).limit(limit)
        return [_chunk(row) for row in self._connection.execute(ordered)]

    def coverage(self, model: str, kept: Collection[str] = ()) -> ChunkCoverage:
        counted = select(func.count()).select_from(code_chunks).where(self._here(code_chunks))
        embedded = counted.where(self._embedded(model))
        unstored = [
            counted.where(~self._embedded(model), code_chunks.c.digest.in_(digests))
            for digests in batches(list(kept), _BATCH)
        ]
        chunks, *vectors = (self._connection.execute(each).scalar_one() for each in (counted, embedded, *unstored))
        return ChunkCoverage(chunks, sum(vectors))

    def add_vectors(self, model: str, vectors: Mapping[str, bytes]) -> None:
        there = self._held(list(vectors))
        here = dict(zip(("tenant", "project"), self._project, strict=True))
        rows = [{**here, "model": model, "digest": digest, "vector": vectors[digest]} for digest in sorted(there)]
        if rows:
            insert = self._context.dialect.insert(code_vectors)
            self._connection.execute(insert.on_conflict_do_nothing(), rows)

    def vectors(self, model: str) -> Mapping[str, bytes]:
        columns = code_vectors.c
        statement = select(columns.digest, columns.vector).where(self._here(code_vectors), columns.model == model)
        return {digest: bytes(vector) for digest, vector in self._connection.execute(statement)}

    def drop_vectors(self, *, but: str) -> int:
        others = delete(code_vectors).where(self._here(code_vectors), code_vectors.c.model != but)
        return self._connection.execute(others).rowcount

    def _embedded(self, model: str) -> ColumnElement[bool]:
        vectors = code_vectors.c
        return exists().where(self._here(code_vectors), vectors.model == model, vectors.digest == code_chunks.c.digest)

    def _chunks(self) -> Any:
        return select(*(code_chunks.c[name] for name in _COLUMNS)).where(self._here(code_chunks))

    def _forget_vectors(self, digests: Sequence[str]) -> None:
        """Delete vectors that no chunk refers to any more."""
        gone = sorted(set(digests) - self._held(digests))
        for batch in batches(gone, _BATCH):
            columns = code_vectors.c
            self._connection.execute(delete(code_vectors).where(self._here(code_vectors), columns.digest.in_(batch)))

    def _held(self, digests: Sequence[str]) -> set[str]:
        columns, found = code_chunks.c, set[str]()
        for batch in batches(digests, _BATCH):
            statement = select(columns.digest).where(self._here(code_chunks), columns.digest.in_(batch))
            found.update(self._connection.execute(statement).scalars())
        return found

    def _here(self, of: Table) -> ColumnElement[bool]:
        condition: ColumnElement[bool] = (of.c.tenant == self._project[0]) & (of.c.project == self._project[1])
        return condition


def _chunk(row: Any) -> StoredChunk:
    fields = dict(zip(_COLUMNS, row, strict=True))
    return StoredChunk(**fields | {name: bytes(fields[name]) for name in ("codes", "counts")})
