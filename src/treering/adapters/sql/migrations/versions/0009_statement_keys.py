"""Statements: keys by which a new record finds those that it contradicts."""

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Change nothing: facets are rebuilt after every migration, in the same transaction."""
