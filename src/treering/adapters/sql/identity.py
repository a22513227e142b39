"""Unique id of a database, which is also the namespace of its blobs."""

from sqlalchemy import Engine
from sqlalchemy import text as sql

IDENTITY_TABLE = "treering_identity"


def identity_of(engine: Engine) -> str:
    """The id written when the database was created."""
    with engine.connect() as connection:
        return str(connection.execute(sql(f"SELECT id FROM {IDENTITY_TABLE}")).scalar_one())
