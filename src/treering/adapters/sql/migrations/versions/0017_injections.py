"""What sessions were given, item by item, and settings of a project."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    text = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    moment = sa.BigInteger()
    key = ("tenant", "project", "id")

    def table(name: str, *columns: sa.Column[Any]) -> None:
        named = (sa.Column(each, text, nullable=False) for each in key)
        op.create_table(name, *named, *columns, sa.PrimaryKeyConstraint(*key, name=f"{name}_key"))

    table(
        "injected_items",
        *(sa.Column(name, text, nullable=False) for name in ("session", "point", "kind", "item")),
        sa.Column("injected_at", moment, nullable=False),
        sa.Column("outcome", text),
        *(sa.Column(name, text, nullable=False) for name in ("owner", "visibility", "rest")),
    )
    for columns in (("session", "injected_at", "id"), ("item", "injected_at", "id"), ("injected_at", "id")):
        op.create_index(f"injected_items_by_{columns[0]}", "injected_items", ["tenant", "project", *columns])
    table(
        "project_settings",
        sa.Column("changed_at", moment, nullable=False),
        sa.Column("rest", text, nullable=False),
    )
    if op.get_bind().dialect.name == "postgresql":
        mine = (
            "tenant = current_setting('treering.tenant', true) AND project = current_setting('treering.project', true)"
        )
        visible = f"{mine} AND (visibility <> 'personal' OR owner = current_setting('treering.principal', true))"
        for name, scope in (("injected_items", visible), ("project_settings", mine)):
            op.execute(f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY")
            op.execute(f"ALTER TABLE {name} FORCE ROW LEVEL SECURITY")
            op.execute(f"CREATE POLICY scope ON {name} USING ({scope}) WITH CHECK ({scope})")
