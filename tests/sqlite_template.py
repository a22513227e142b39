"""New SQLite databases as copies of one that was migrated once."""

import os
import sqlite3
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkstemp
from uuid import uuid4

from treering.adapters.sql import sqlite
from treering.adapters.sql.identity import IDENTITY_TABLE
from treering.compose import open_store
from treering.core.settings import Settings

create_empty = sqlite._create_for_this_user_only


def create_from_template(path: Path) -> None:
    """A migrated database with an identity of its own; an existing file stays as it is."""
    if path.exists() or not path.name.endswith(".db"):
        return create_empty(path)
    content, identity = _template()
    with suppress(OSError):
        handle, aside = mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content.replace(identity, str(uuid4()).encode()))
            os.link(aside, path)
        finally:
            os.unlink(aside)


@cache
def _template() -> tuple[bytes, bytes]:
    """Content of a migrated database, and the identity in it."""
    replaced = sqlite._create_for_this_user_only
    sqlite._create_for_this_user_only = create_empty
    try:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "template.db"
            open_store(str(path), None, Settings()).close()
            connection = sqlite3.connect(path)
            (identity,) = connection.execute(f"SELECT id FROM {IDENTITY_TABLE}").fetchone()
            connection.close()
            return path.read_bytes(), str(identity).encode()
    finally:
        sqlite._create_for_this_user_only = replaced
