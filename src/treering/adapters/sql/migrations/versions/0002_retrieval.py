"""Retrieval: an index of words that replaces each engine's full-text index, and vectors."""

from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql, sqlite

from treering.adapters.sql.nearby import make_nearby

revision = "0002"
down_revision = "0001"

TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
WHOLE = sa.BigInteger()
BYTES = sa.LargeBinary()


def upgrade() -> None:
    """Empty the documents; the migrating process rebuilds them from the records in the same transaction."""
    dialect = op.get_bind().dialect.name
    for statement in {"sqlite": _without_fts5, "postgresql": _without_tsvector}[dialect]():
        op.execute(statement)
    op.create_table(
        "documents",
        sa.Column("number", WHOLE.with_variant(sqlite.INTEGER(), "sqlite"), sa.Identity(always=True), primary_key=True),
        *(sa.Column(name, TEXT, nullable=False) for name in ("tenant", "project", "kind", "id", "owner")),
        *(sa.Column(name, TEXT, nullable=False) for name in ("language", "thread")),
        *(sa.Column(name, WHOLE, nullable=False) for name in ("place", "at", "speaker", "marks", "length")),
        *(sa.Column(name, BYTES, nullable=False) for name in ("codes", "counts")),
        sqlite_autoincrement=True,
    )
    op.create_index("documents_by_kind", "documents", ["tenant", "project", "kind", "id"], unique=True)
    op.create_table(
        "vectors",
        *(sa.Column(name, TEXT, nullable=False) for name in ("tenant", "project")),
        sa.Column("number", WHOLE, nullable=False),
        *(sa.Column(name, TEXT, nullable=False) for name in ("model", "digest")),
        sa.Column("vector", BYTES, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "project", "number", "model", name="vectors_key"),
    )
    op.create_index("vectors_by_model", "vectors", ["tenant", "project", "model", "digest", "number"])
    if dialect == "postgresql":
        for statement in _postgresql():
            op.execute(statement)
        make_nearby(op.get_bind())


def _without_fts5() -> Iterator[str]:
    yield "DROP TABLE lexicon"
    yield "DROP TABLE documents"


def _without_tsvector() -> Iterator[str]:
    yield "DROP TABLE documents"
    yield "DROP TEXT SEARCH CONFIGURATION treering"
    yield "DROP TEXT SEARCH DICTIONARY treering_stem"


def _postgresql() -> Iterator[str]:
    # Looked up by equality, which row-level security lets an index answer; the operators of a GIN index it does not.
    yield (
        'CREATE TABLE postings (tenant TEXT COLLATE "C" NOT NULL, project TEXT COLLATE "C" NOT NULL, '
        "code BIGINT NOT NULL, number BIGINT NOT NULL, count SMALLINT NOT NULL, kind SMALLINT NOT NULL, "
        "length INTEGER NOT NULL)"
    )
    yield ("CREATE UNIQUE INDEX postings_key ON postings (tenant, project, code, number) INCLUDE (count, kind, length)")
    yield (
        "CREATE INDEX documents_by_thread ON documents (tenant, project, thread, place) INCLUDE (number) "
        "WHERE thread <> ''"
    )
    yield "CREATE INDEX documents_by_number ON documents (tenant, project, number) INCLUDE (length)"
    mine = "tenant = current_setting('treering.tenant', true) AND project = current_setting('treering.project', true)"
    for table in ("documents", "postings", "vectors"):
        yield f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"
        yield f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY"
        yield f"CREATE POLICY scope ON {table} USING ({mine}) WITH CHECK ({mine})"
