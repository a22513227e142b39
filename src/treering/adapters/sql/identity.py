"""What tells one database from every other: the name under which it keeps its blobs."""

from sqlalchemy import Engine
from sqlalchemy import text as sql

IDENTITY_TABLE = "treering_identity"


def identity_of(engine: Engine) -> str:
    """The id that was written when the database was made."""
    with engine.connect() as connection:
        return str(connection.execute(sql(f"SELECT id FROM {IDENTITY_TABLE}")).scalar_one())
