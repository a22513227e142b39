"""Graph nodes and edges of the first schema: dropped, since the code index replaces them and nothing wrote them."""

from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    for table in ("graph_nodes", "graph_edges"):
        op.drop_table(table)
