"""Stores: a file or a server, with its blobs."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from uuid_utils import uuid7

from treering.archive.blob_folder import blobs_beside
from treering.core.errors import InvalidInput, StoreError, StoreFull, StoreReadOnly
from treering.core.settings import Settings

if TYPE_CHECKING:
    from treering.adapters.sql.salvage import SalvageReport
    from treering.ports.blobs import Blobs
    from treering.ports.clock import NewId
    from treering.ports.store import Store

SQLITE = "sqlite:///"
READ_ONLY = "?mode=ro"
_POSTGRES = ("postgresql://", "postgres://", "postgresql+psycopg://")


def now() -> datetime:
    """The current time; the only clock."""
    return datetime.now(UTC)


def new_id() -> str:
    """A new id that sorts by time, so that new rows are adjacent in an index."""
    return str(uuid7())


def data_directory() -> Path:
    """Default folder of memories."""
    if chosen := os.environ.get("TREERING_DATA_DIR"):
        return Path(chosen).expanduser()
    from platformdirs import user_data_path

    return user_data_path("treering", appauthor=False)


def open_store(
    location: str,
    blobs: str | os.PathLike[str] | None,
    settings: Settings,
    ids: NewId = new_id,
    *,
    exclusive: bool = False,
) -> Store:
    """The store at a path or URL, with its blobs; `exclusive` requires that no other process has the file open."""
    from treering.adapters.sql.store import SqlStore

    if not location.strip() or "\0" in location:
        raise InvalidInput("the memory needs a location: a file path, or a URL such as postgresql://user@host/database")
    if location.startswith(_POSTGRES):
        from treering.adapters.sql.postgres import Postgres, server_url
        from treering.adapters.sql.server_pool import PREPARE_THRESHOLD

        url = server_url(location.replace("postgres://", "postgresql://", 1))
        wanted = url.query.get("mode") == "ro"
        url = url.difference_update_query(["mode"])
        # Names the folder of the blobs too, so parameters that do not change the database are left out.
        shown = url.difference_update_query([PREPARE_THRESHOLD]).render_as_string(hide_password=True)
        kept = _open_blobs(blobs or _server_blobs(shown), settings)
        asked = _asked_to_read(shown) if wanted else None
        return SqlStore(Postgres(url, settings.store, read_only=asked), kept, settings, ids)
    if "://" in location and not location.startswith(SQLITE):
        scheme = location.split("://", 1)[0]
        if scheme in ("http", "https"):
            raise InvalidInput("this does not work through a server; open the database itself with its path or URL")
        raise InvalidInput(f"{scheme}: URLs are not supported; pass a file path or a postgresql:// URL")
    from treering.adapters.sql.sqlite import SQLite

    path = file_of(location)
    kept = _open_blobs(blobs or blobs_beside(path), settings)
    asked = _asked_to_read(path) if location.endswith(READ_ONLY) else None
    try:
        return SqlStore(SQLite(path, settings.store, exclusive=exclusive, read_only=asked), kept, settings, ids)
    except StoreFull as full:
        # Its content can still be read, and exported to another disk.
        with suppress(StoreError):
            return SqlStore(SQLite(path, settings.store, exclusive=exclusive, read_only=full), kept, settings, ids)
        raise


def file_of(location: str) -> Path:
    """The SQLite file of a path or URL."""
    return Path(location.removeprefix(SQLITE).removesuffix(READ_ONLY)).expanduser().absolute()


def _asked_to_read(place: object) -> StoreReadOnly:
    return StoreReadOnly(f"{place} was opened read-only ({READ_ONLY}); open it without that suffix to write")


def salvage(path: str | os.PathLike[str]) -> SalvageReport:
    """Save the readable part of a damaged SQLite file; the original is kept beside the new file."""
    from treering.adapters.sql.salvage import salvage as save

    file = Path(os.fspath(path).removeprefix(SQLITE)).expanduser().absolute()
    settings = Settings()
    kept = _open_blobs(os.environ.get("TREERING_BLOBS") or blobs_beside(file), settings)
    return save(file, kept, settings, now(), new_id)


def _open_blobs(location: str | os.PathLike[str], settings: Settings) -> Blobs:
    from treering.adapters.blobs import open_blobs

    if settings.store.vectors_only and str(location).lower().startswith("s3:"):
        raise InvalidInput(
            f"store.vectors_only keeps text on this machine, but {location} is remote; set TREERING_BLOBS to a folder, "
            "or unset it"
        )
    return open_blobs(location if isinstance(location, str) else Path(location), os.environ)


def _server_blobs(url: str) -> Path:
    """A server's blobs stay on this machine until TREERING_BLOBS names a shared location."""
    return data_directory() / "blobs" / sha256(url.encode()).hexdigest()[:16]
