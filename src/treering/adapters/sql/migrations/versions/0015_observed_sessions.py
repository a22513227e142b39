"""Observed sessions, their scratchpads and the evidence of signals. Tables that nothing wrote are dropped."""

from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0013"

PERSONAL = ("observed_sessions", "scratchpads")


def upgrade() -> None:
    for unused in ("events", "error_fingerprints"):
        op.drop_table(unused)
    text = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

    def table(name: str, **columns: bool) -> None:
        """Columns by name, each with whether it may be empty; those that end in `_at` are moments."""
        key = ("tenant", "project", "id")
        op.create_table(
            name,
            *(sa.Column(each, text, nullable=False) for each in key),
            *(
                sa.Column(each, sa.BigInteger() if each.endswith("_at") else text, nullable=nullable)
                for each, nullable in columns.items()
            ),
            sa.PrimaryKeyConstraint(*key, name=f"{name}_key"),
        )

    owned = {"owner": False, "visibility": False, "rest": False}
    table("observed_sessions", type=False, outcome=True, started_at=False, finished_at=True, **owned)
    table("scratchpads", saved_at=False, **owned)
    table("signal_evidence", signal=False, last_seen_at=False, record=True, rest=False)
    for on, columns in (
        ("observed_sessions", ("started_at", "id")),
        ("scratchpads", ("saved_at", "id")),
        ("signal_evidence", ("signal", "last_seen_at", "id")),
    ):
        op.create_index(f"{on}_by_{columns[0]}", on, ["tenant", "project", *columns])
    is_set = sa.text("record IS NOT NULL")
    by_record = ["tenant", "project", "record", "id"]
    op.create_index(
        "signal_evidence_by_record", "signal_evidence", by_record, sqlite_where=is_set, postgresql_where=is_set
    )
    if op.get_bind().dialect.name == "postgresql":
        for statement in _policies():
            op.execute(statement)


def _policies() -> Iterator[str]:
    mine = "tenant = current_setting('treering.tenant', true) AND project = current_setting('treering.project', true)"
    visible = f"{mine} AND (visibility <> 'personal' OR owner = current_setting('treering.principal', true))"
    for table in (*PERSONAL, "signal_evidence"):
        scope = visible if table in PERSONAL else mine
        yield f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"
        yield f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY"
        yield f"CREATE POLICY scope ON {table} USING ({scope}) WITH CHECK ({scope})"
