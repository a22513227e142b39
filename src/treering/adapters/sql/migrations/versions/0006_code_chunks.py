"""Search in code: chunks of files, their words and their vectors."""

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0006"
down_revision = "0005"

TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
KINDS: dict[str, sa.types.TypeEngine[Any]] = {"text": TEXT, "whole": sa.BigInteger(), "packed": sa.LargeBinary()}
TABLES = {
    "code_chunks": (
        "path:text place:whole symbol:text start_line:whole end_line:whole digest:text length:whole "
        "codes:packed counts:packed"
    ),
    "code_vectors": "model:text digest:text vector:packed",
}
KEYS = {"code_chunks": ("path", "place"), "code_vectors": ("model", "digest")}


def upgrade() -> None:
    for name, columns in TABLES.items():
        op.create_table(
            name,
            sa.Column("tenant", TEXT, nullable=False),
            sa.Column("project", TEXT, nullable=False),
            *map(_column, columns.split()),
            sa.PrimaryKeyConstraint("tenant", "project", *KEYS[name], name=f"{name}_key"),
        )
    op.create_index("code_chunks_by_digest", "code_chunks", ["tenant", "project", "digest", "path", "place"])
    if op.get_bind().dialect.name == "postgresql":
        for name in TABLES:
            for statement in _own_scope_only(name):
                op.execute(statement)


def _column(written: str) -> sa.Column[object]:
    name, kind = written.split(":")
    return sa.Column(name, KINDS[kind], nullable=False)


def _own_scope_only(table: str) -> Iterator[str]:
    mine = "tenant = current_setting('treering.tenant', true) AND project = current_setting('treering.project', true)"
    yield f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"
    yield f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY"
    yield f"CREATE POLICY scope ON {table} USING ({mine}) WITH CHECK ({mine})"
