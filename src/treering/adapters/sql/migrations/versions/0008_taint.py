"""Taint: tainted knowledge needs review, and an entity that only tainted records mention is tainted."""

from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

TABLES = ("knowledge", "turns", "episodes", "entities", "entity_links")
REVIEW = "UPDATE knowledge SET needs_review = true WHERE tainted AND deprecated_at IS NULL"
LINKED = (
    "EXISTS (SELECT 1 FROM entity_links l JOIN {table} r ON r.tenant = l.tenant AND r.project = l.project "
    "AND r.id = l.record WHERE l.tenant = entities.tenant AND l.project = entities.project "
    "AND l.entity = entities.id AND {how} r.tainted)"
)


def upgrade() -> None:
    op.add_column("entities", sa.Column("tainted", sa.Boolean(), nullable=False, server_default=sa.false()))
    on_server = op.get_bind().dialect.name == "postgresql"
    # Row-level security hides every project from a session that names none; the owner of the table disables it.
    for table in TABLES if on_server else ():
        op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
    op.execute(REVIEW)
    op.execute(f"UPDATE entities SET tainted = true WHERE ({' OR '.join(_linked(''))}) AND {_unnamed()}")
    for table in TABLES if on_server else ():
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")


def _linked(how: str) -> Iterator[str]:
    """Whether a tainted or (`NOT`) untainted record of each kind mentions the entity."""
    return (LINKED.format(table=table, how=how) for table in ("knowledge", "turns", "episodes"))


def _unnamed() -> str:
    untainted = " OR ".join(_linked("NOT"))
    return f"NOT ({untainted}) AND rest NOT LIKE '%\"explicit\"_true%'"
