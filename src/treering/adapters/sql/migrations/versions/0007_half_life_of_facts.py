"""Facts: their confidence halves after 90 days instead of seven."""

from alembic import op

revision = "0007"
down_revision = "0006"

FACTS = "UPDATE knowledge SET half_life_days = 90 WHERE type = 'fact' AND half_life_days = 6.93"


def upgrade() -> None:
    if op.get_bind().dialect.name != "postgresql":
        op.execute(FACTS)
        return
    # Row-level security hides every project from a session that names none; the owner of the table disables it.
    op.execute("ALTER TABLE knowledge NO FORCE ROW LEVEL SECURITY")
    op.execute(FACTS)
    op.execute("ALTER TABLE knowledge FORCE ROW LEVEL SECURITY")
