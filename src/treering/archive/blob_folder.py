"""Location of the blobs of an embedded database."""

from pathlib import Path


def blobs_beside(database: Path) -> Path:
    """The folder of the database's blobs, next to its file."""
    return database.with_name(f"{database.name}.blobs")
