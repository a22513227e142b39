"""Where the blobs of an embedded database are."""

from pathlib import Path


def blobs_beside(database: Path) -> Path:
    """The folder of its blobs, next to the database file."""
    return database.with_name(f"{database.name}.blobs")
