"""The pgvector part of the server engine: a table of vectors that the database can order by distance.

It duplicates `vectors`, and exists only with the extension. Without it, a search reads every vector.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Connection
from sqlalchemy import text as sql
from sqlalchemy.exc import DBAPIError

from treering.adapters.sql.posting_blocks import read_array, sent_array
from treering.adapters.sql.rows import sent_column
from treering.adapters.sql.server_words import read_reals
from treering.adapters.vectors.signs import centred

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The first version that continues a search when a filter leaves too few results.
_OLDEST = (0, 8)
# The graph index supports 16-bit vectors up to this length; longer ones are compared one by one.
_MAX_DIMENSIONS = 4_000
IN_VIEW = 200
"""Candidate list of a graph search; with this many it misses fewer than one in fifty of the nearest ten."""
# Candidates that a filter may reject before a search gives up.
_PASSED_BY = 200_000
# A graph that fits is built several times faster; 16-bit vectors of 256 numbers take about a kilobyte each.
_BUILD_MEMORY = "256MB"
_CREATING = 0x6E65_6172

_FOUND = """
    SELECT quote_ident(nspname), extversion, to_regclass('nearby') IS NOT NULL
    FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'vector'
"""
_CREATABLE = """
    SELECT bool_or(rolsuper OR (trusted OR NOT superuser) AND has_database_privilege(current_database(), 'CREATE'))
    FROM pg_available_extension_versions AS versions JOIN pg_available_extensions AS extensions USING (name), pg_roles
    WHERE name = 'vector' AND version = default_version AND installed_version IS NULL AND rolname = current_user
"""
_ADDED = """
    INSERT INTO nearby (tenant, project, number, model, kind, owner, embedding)
    SELECT tenant, project, number, %s, kind, owner, embedding::{schema}.halfvec
    FROM unnest(%s::bigint[], %s::text[]) AS added (number, embedding) JOIN documents USING (number)
    WHERE tenant = %s AND project = %s
    ON CONFLICT DO NOTHING
"""
_MISSING = """
    SELECT number, vector FROM vectors JOIN documents USING (tenant, project, number)
    WHERE tenant = %s AND project = %s AND model = %s AND NOT EXISTS (
        SELECT FROM nearby WHERE nearby.tenant = vectors.tenant AND nearby.project = vectors.project
        AND nearby.number = vectors.number AND nearby.model = vectors.model)
    ORDER BY number LIMIT %s
"""
_GRAPH_IS_DUE = """
    SELECT to_regclass(%s) IS NULL AND (
        SELECT count(*) FROM (SELECT FROM nearby WHERE tenant = %s AND project = %s AND model = %s LIMIT %s) AS held
    ) > %s
"""
# Two counts instead of an anti-join, which the planner handles badly for a new tenant.
_HAS_ALL = """
    SELECT (SELECT count(*) FROM vectors WHERE tenant = %s AND project = %s AND model = %s)
        = (SELECT count(*) FROM nearby WHERE tenant = %s AND project = %s AND model = %s)
"""


@dataclass(frozen=True, slots=True)
class Narrowed:
    """Restrictions of a vector search; None means unrestricted."""

    principal: str
    kinds: Sequence[str] | None = None
    numbers: Sequence[int] | None = None

    def conditions(self) -> tuple[str, dict[str, Any]]:
        written, values = ["(owner = '' OR owner = %(principal)s)"], dict[str, Any](principal=self.principal)
        if self.kinds is not None:
            written.append("kind = ANY(%(near_kinds)s::text[])")
            values["near_kinds"] = list(self.kinds)
        if self.numbers is not None:
            # As a sub-select, because the planner would consider each of many thousand numbers.
            written.append("number = ANY(ARRAY(SELECT unnest(%(near_numbers)s::bigint[])))")
            values["near_numbers"] = sent_array(self.numbers)
        return " AND ".join(written), values


@dataclass(frozen=True, slots=True)
class Query:
    """A centred vector of length 1, and the subtracted mean."""

    vector: NDArray[np.float32]
    mean: NDArray[np.float32]

    def named(self) -> dict[str, str]:
        return {"near_query": _written(self.vector), "near_mean": _written(self.mean)}

    def likeness(self, found: NDArray[np.float32]) -> NDArray[np.float64]:
        """Cosine of each vector; NaN for a zero vector."""
        if not len(found):
            return np.empty(0)  # no rows: their dimension is unknown
        return np.where(found.any(axis=1), centred(found, self.mean) @ self.vector, np.nan).astype(np.float64)

    def compared(self, row: Sequence[Any]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Numbers and cosines from a row of `Nearby.nearest` or `Nearby.likeness`."""
        return read_array(row[0]), self.cosine(*map(read_reals, row[1:4]))

    def cosine(
        self, to_query: NDArray[np.float64], to_mean: NDArray[np.float64], norm: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Cosines to centred vectors, from their products with both and their length; NaN for a zero vector."""
        mean = self.mean.astype(np.float64)
        squared = np.square(norm) - 2 * to_mean + mean @ mean
        there = (norm > 0) & (squared > 0)
        apart = np.sqrt(np.where(there, squared, 1.0))
        return np.where(there, (to_query - mean @ self.vector) / apart, np.nan)


@dataclass(frozen=True, slots=True)
class Nearby:
    """The table, in a database whose pgvector lives in `schema`."""

    schema: str

    def add(
        self,
        connection: Connection,
        here: tuple[str, str],
        model: str,
        added: Sequence[tuple[int, NDArray[np.float32]]],
    ) -> None:
        """Add vectors of existing documents."""
        if not added:
            return
        written = _written_halves(np.array([vector for _, vector in added]))
        numbers = sent_array([number for number, _ in added])
        values = (model, numbers, sent_column(written), *here)
        connection.exec_driver_sql(_ADDED.format(schema=self.schema), values)

    def missing(self, connection: Connection, here: tuple[str, str], model: str, limit: int) -> Sequence[Any]:
        """Number and vector of those stored before pgvector was available."""
        return connection.exec_driver_sql(_MISSING, (*here, model, limit)).all()

    def drop(self, connection: Connection, here: tuple[str, str], *, but: Sequence[str]) -> None:
        connection.exec_driver_sql(
            "DELETE FROM nearby WHERE tenant = %s AND project = %s AND model <> ALL(%s::text[])", (*here, list(but))
        )

    def has_all(self, connection: Connection, here: tuple[str, str], model: str) -> bool:
        """Whether this table has every vector of a model."""
        return bool(connection.exec_driver_sql(_HAS_ALL, (*here, model) * 2).scalar_one())

    def nearest(
        self, here: tuple[str, str], model: str, query: Query, narrowed: Narrowed, *, limit: int, exact: bool
    ) -> tuple[str, dict[str, Any]]:
        """Statement for `compared` of the nearest; `exact` compares all that pass instead of using the graph."""
        conditions, values = narrowed.conditions()
        kind = f"{self.schema}.halfvec({query.vector.shape[0]})"
        # The graph index is used only for the bare distance expression.
        apart = f"(embedding::{kind} OPERATOR({self.schema}.<=>) %(near_query)s::{kind}){' + 0' if exact else ''}"
        chosen = (
            f"SELECT number, embedding::{self.schema}.vector FROM nearby "
            f"WHERE tenant = %(tenant)s AND project = %(project)s AND model = {_quoted(model)} "
            f"AND {conditions} ORDER BY {apart} LIMIT %(near_limit)s"
        )
        statement = f"SELECT array_send(array_agg(number)), {self.products()} FROM ({chosen}) AS near"
        named = {"tenant": here[0], "project": here[1], "near_limit": limit, **values, **query.named()}
        return statement, named

    def products(self) -> str:
        """Columns for `Query.cosine`: three products per vector, NaN without one."""
        product = f"-(near.embedding OPERATOR({self.schema}.<#>) %({{side}})s::{self.schema}.vector)"
        sides = (*map(product.format_map, ({"side": "near_query"}, {"side": "near_mean"})),)
        norm = f"{self.schema}.vector_norm(near.embedding)"
        return ", ".join(f"array_send(array_agg(coalesce({each}, 'NaN')))" for each in (*sides, norm))

    def make_graph(
        self, connection: Connection, here: tuple[str, str], model: str, dimensions: int, *, above: int
    ) -> None:
        """Create the graph index of a model once a project has more than `above` vectors: fewer are all compared.

        Building it at once takes a fifth of the time of adding the vectors one by one.
        """
        name = f"nearby_{sha256(model.encode()).hexdigest()[:16]}_{dimensions}"
        if dimensions > _MAX_DIMENSIONS:
            return
        if not connection.exec_driver_sql(_GRAPH_IS_DUE, (name, *here, model, above + 1, above)).scalar_one():
            return
        statement = (
            f"CREATE INDEX IF NOT EXISTS {name} ON nearby "
            f"USING hnsw ((embedding::{self.schema}.halfvec({dimensions})) {self.schema}.halfvec_cosine_ops) "
            f"WHERE model = {_quoted(model)}"
        )
        _alone(connection)
        _attempted(connection, [f"SET LOCAL maintenance_work_mem = '{_BUILD_MEMORY}'", statement])


SEARCHING = (
    "set_config('hnsw.iterative_scan', 'relaxed_order', true), "
    f"set_config('hnsw.ef_search', '{IN_VIEW}', true), set_config('hnsw.max_scan_tuples', '{_PASSED_BY}', true)"
)
"""Settings of a transaction that searches the graph."""


def nearby_in(connection: Connection) -> Nearby | None:
    """The table, if it exists and can be used."""
    schema, exists = _found(connection)
    return Nearby(schema) if schema and exists else None


def make_nearby(connection: Connection) -> Nearby | None:
    """The table, created if possible; a role that may not create the extension works without it."""
    schema, exists = _found(connection)
    if not schema and _can_be_created(connection):
        _attempted(connection, ["CREATE EXTENSION IF NOT EXISTS vector"])
        schema, exists = _found(connection)
    if not schema:
        return None
    if not exists:
        _alone(connection)
        _attempted(connection, _table(schema))
    return nearby_in(connection)


def _found(connection: Connection) -> tuple[str, bool]:
    """Schema of pgvector (empty if missing or too old), and whether the table exists."""
    row = connection.exec_driver_sql(_FOUND).one_or_none()
    if row is None:
        return "", False
    schema, version, exists = row
    new_enough = tuple(int(part) for part in version.split(".")[:2]) >= _OLDEST
    return (schema if new_enough else ""), exists


def _can_be_created(connection: Connection) -> bool:
    """Whether the extension is available and this role may create it; otherwise every write would try in vain."""
    return bool(connection.execute(sql(_CREATABLE)).scalar())


def _table(schema: str) -> Iterator[str]:
    text, mine = 'TEXT COLLATE "C" NOT NULL', "current_setting('treering.{0}', true)"
    tenant, project, principal = (mine.format(name) for name in ("tenant", "project", "principal"))
    yield (
        f"CREATE TABLE IF NOT EXISTS nearby (tenant {text}, project {text}, number BIGINT NOT NULL, model {text}, "
        f"kind {text}, owner {text}, embedding {schema}.halfvec NOT NULL, "
        "CONSTRAINT nearby_key PRIMARY KEY (tenant, project, model, number))"
    )
    yield "ALTER TABLE nearby ENABLE ROW LEVEL SECURITY"
    yield "ALTER TABLE nearby FORCE ROW LEVEL SECURITY"
    scope = f"tenant = {tenant} AND project = {project} AND (owner = '' OR owner = {principal})"
    yield f"CREATE POLICY scope ON nearby USING ({scope}) WITH CHECK ({scope})"


def _alone(connection: Connection) -> None:
    connection.execute(sql("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _CREATING})


def _attempted(connection: Connection, statements: Sequence[str] | Iterator[str]) -> None:
    """Skip statements that this role may not run; `doctor` reports them."""
    try:
        with connection.begin_nested():
            for statement in statements:
                connection.exec_driver_sql(statement)
    except DBAPIError as exc:
        if exc.connection_invalidated:
            raise


def _quoted(text: str) -> str:
    """As a literal: the planner uses a partial index only if the statement contains its condition."""
    return "'" + text.replace("'", "''").replace("%", "%%") + "'"


def _written_halves(vectors: NDArray[np.float32]) -> list[str]:
    """Vectors to store: shorter than `_written`, and the same once rounded to 16 bits."""
    bits = vectors.astype(np.float16).view(np.uint16)
    for each in np.unique(bits[_HALVES[bits] == b""]).tolist():
        _HALVES[each] = f"{np.uint16(each).view(np.float16)!s:>11},".encode()
    written, size = _HALVES[bits].tobytes().decode("ascii"), _HALVES.itemsize * vectors.shape[1]
    return [f"[{written[at : at + size - 1]}]" for at in range(0, len(written), size)]


# Texts of 16-bit numbers that were stored before, by their bits, padded so that texts are joined without a loop.
_HALVES = np.zeros(2**16, "S12")


def _written(vector: NDArray[np.float32]) -> str:
    return "[" + ",".join(map(repr, vector.tolist())) + "]"
