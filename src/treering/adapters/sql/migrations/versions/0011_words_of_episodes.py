"""Episodes: searchable by the words of every part, such as failures, plan and tools."""

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Change nothing: documents are rebuilt after every migration, in the same transaction."""
