"""Learning: read turns, owners of entities, cold episodes, and maintenance runs."""

from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"

TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
WHOLE = sa.BigInteger()
SHARED = {"owner": "local", "visibility": "project"}
# Content moves to the blob store and back only together with the digest that says where it lies.
STILL = "id session at owner domain task_type outcome_status"


def upgrade() -> None:
    """The migrating process rebuilds derived data in the same transaction."""
    op.add_column("sessions", sa.Column("learned", WHOLE, nullable=False, server_default="0"))
    for name in ("consolidated_into", "cold"):
        op.add_column("episodes", sa.Column(name, TEXT, nullable=True))
    for table in ("entities", "entity_links"):
        for name, value in SHARED.items():
            op.add_column(table, sa.Column(name, TEXT, nullable=False, server_default=value))
    op.create_table(
        "runs",
        *(sa.Column(name, TEXT, nullable=False) for name in ("tenant", "project", "id", "stage", "state")),
        *(sa.Column(name, WHOLE, nullable=False) for name in ("started_at", "updated_at")),
        sa.Column("rest", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "project", "id", name="runs_key"),
    )
    _index("sessions", "open", "last_at", "id", where="ended_at IS NULL")
    _index("sessions", "learned", "last_at", "id", where="turns > learned")
    _index("episodes", "status", "status", "at", "id")
    _index("episodes", "deleted_at", "deleted_at", "id", where="deleted_at IS NOT NULL")
    _index("runs", "stage", "stage", "started_at", "id")
    _index("runs", "started_at", "started_at", "id")
    for statement in {"sqlite": _sqlite, "postgresql": _postgresql}[op.get_bind().dialect.name]():
        op.execute(statement)


def _index(table: str, name: str, *columns: str, where: str | None = None) -> None:
    condition = None if where is None else sa.text(where)
    op.create_index(
        f"{table}_by_{name}",
        table,
        ["tenant", "project", *columns],
        sqlite_where=condition,
        postgresql_where=condition,
    )


def _sqlite() -> Iterator[str]:
    changed = " OR ".join(f'old."{name}" IS NOT new."{name}"' for name in STILL.split())
    yield "DROP TRIGGER episodes_append_only"
    yield (
        f"CREATE TRIGGER episodes_append_only BEFORE UPDATE ON episodes WHEN {changed} "
        'OR (old."rest" IS NOT new."rest" AND old."cold" IS new."cold") '
        "BEGIN SELECT RAISE(ABORT, 'episodes are append-only'); END"
    )


def _postgresql() -> Iterator[str]:
    changed = " OR ".join(f'old."{name}" IS DISTINCT FROM new."{name}"' for name in STILL.split())
    yield "DROP TRIGGER episodes_append_only ON episodes"
    yield (
        f"CREATE TRIGGER episodes_append_only BEFORE UPDATE ON episodes FOR EACH ROW WHEN ({changed} "
        'OR (old."rest" IS DISTINCT FROM new."rest" AND old."cold" IS NOT DISTINCT FROM new."cold")) '
        "EXECUTE FUNCTION treering_append_only()"
    )
    mine = "tenant = current_setting('treering.tenant', true) AND project = current_setting('treering.project', true)"
    visible = (
        f"{mine} AND (visibility <> 'personal' OR owner = current_setting('treering.principal', true)"
        " OR current_setting('treering.upkeep', true) = 'on')"
    )
    for table in ("entities", "entity_links"):
        yield f"DROP POLICY scope ON {table}"
        yield f"CREATE POLICY scope ON {table} USING ({visible}) WITH CHECK ({visible})"
    yield "ALTER TABLE runs ENABLE ROW LEVEL SECURITY"
    yield "ALTER TABLE runs FORCE ROW LEVEL SECURITY"
    yield f"CREATE POLICY scope ON runs USING ({mine}) WITH CHECK ({mine})"
