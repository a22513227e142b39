"""The code graph: indexed files, their definitions and uses, and the dependencies between files."""

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0005"
down_revision = "0004"

TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
KINDS: dict[str, sa.types.TypeEngine[Any]] = {
    "text": TEXT,
    "whole": sa.BigInteger(),
    "real": sa.Float(53),
    "flag": sa.Boolean(),
    "packed": sa.LargeBinary(),
}
TABLES = {
    "code_state": (
        "root:text version:text complete:flag generation:whole told:text lease_owner:text? lease_until:whole?"
    ),
    "code_files": (
        "path:text language:text digest:text stamp:text read_at:whole resolved:flag skipped:text generation:whole "
        "defined:whole used:whole unknown:whole problems:whole definitions:packed edges:packed further:packed"
    ),
    "code_facts": "path:text given:packed facts:packed",
    "code_uses": "path:text asked:packed unresolved:packed",
    "code_ties": "origin:text target:text weight:real",
    "code_history": "root:text inside:text version:text seen:text seeded:text counts:packed",
}
KEYS = {"code_state": (), "code_history": (), "code_ties": ("origin", "target")}
CLUSTERED = ("code_ties",)
INDEXES = {"code_files_by_generation": ("generation", "path"), "code_ties_by_target": ("target", "origin")}


def upgrade() -> None:
    for name, columns in TABLES.items():
        key = KEYS.get(name, ("path",))
        op.create_table(
            name,
            sa.Column("tenant", TEXT, nullable=False),
            sa.Column("project", TEXT, nullable=False),
            *map(_column, columns.split()),
            sa.PrimaryKeyConstraint("tenant", "project", *key, name=f"{name}_key"),
            sqlite_with_rowid=name not in CLUSTERED,
        )
    for name, indexed in INDEXES.items():
        op.create_index(name, name.split("_by_")[0], ["tenant", "project", *indexed])
    if op.get_bind().dialect.name == "postgresql":
        for name in TABLES:
            for statement in _own_scope_only(name):
                op.execute(statement)


def _column(written: str) -> sa.Column[Any]:
    name, kind = written.split(":")
    return sa.Column(name, KINDS[kind.removesuffix("?")], nullable=kind.endswith("?"))


def _own_scope_only(table: str) -> Iterator[str]:
    mine = "tenant = current_setting('treering.tenant', true) AND project = current_setting('treering.project', true)"
    yield f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"
    yield f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY"
    yield f"CREATE POLICY scope ON {table} USING ({mine}) WITH CHECK ({mine})"
