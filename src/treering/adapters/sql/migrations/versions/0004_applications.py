"""Patterns: their applications and outcomes."""

from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0004"
down_revision = "0003"

TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
WHOLE = sa.BigInteger()
NEEDED = ("tenant", "project", "id", "pattern", "outcome", "owner", "visibility", "rest")


def upgrade() -> None:
    op.create_table(
        "applications",
        *(sa.Column(name, TEXT, nullable=False) for name in NEEDED),
        *(sa.Column(name, TEXT, nullable=True) for name in ("episode", "session", "task_type")),
        *(sa.Column(name, WHOLE, nullable=False) for name in ("evidence", "at")),
        *(sa.Column(name, sa.Float(53), nullable=True) for name in ("time_saved_ms", "cost_saved")),
        sa.PrimaryKeyConstraint("tenant", "project", "id", name="applications_key"),
    )
    op.create_index(
        "applications_by_pattern", "applications", ["tenant", "project", "pattern", "at", "id", "visibility", "owner"]
    )
    op.create_index(
        "patterns_by_updated_at",
        "patterns",
        ["tenant", "project", "updated_at", "deleted_at", "visibility", "owner", "version", "id"],
    )
    known = sa.text("episode IS NOT NULL")
    op.create_index(
        "applications_by_episode",
        "applications",
        ["tenant", "project", "episode", "id"],
        sqlite_where=known,
        postgresql_where=known,
    )
    if op.get_bind().dialect.name == "postgresql":
        for statement in _own_scope_only():
            op.execute(statement)


def _own_scope_only() -> Iterator[str]:
    mine = "tenant = current_setting('treering.tenant', true) AND project = current_setting('treering.project', true)"
    visible = (
        f"{mine} AND (visibility <> 'personal' OR owner = current_setting('treering.principal', true)"
        " OR current_setting('treering.upkeep', true) = 'on')"
    )
    yield "ALTER TABLE applications ENABLE ROW LEVEL SECURITY"
    yield "ALTER TABLE applications FORCE ROW LEVEL SECURITY"
    yield f"CREATE POLICY scope ON applications USING ({visible}) WITH CHECK ({visible})"
