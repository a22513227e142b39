"""Settings to a Memory: the only place that knows which adapters exist, and the only reader of the environment."""

import os
import socket
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from uuid_utils import uuid7

from treering import __version__
from treering.archive.backup import blobs_beside
from treering.core.errors import InvalidInput, StoreReadOnly
from treering.core.jobs import Job
from treering.core.redaction import refuse_secret
from treering.core.scope import Scope
from treering.core.settings import Settings
from treering.learn.jobs import Worker
from treering.memory import Memory, Ports
from treering.ports.blobs import Blobs
from treering.ports.clock import Clock, NewId
from treering.ports.store import Store

if TYPE_CHECKING:
    from treering.adapters.sql.salvage import Salvaged

_POSTGRES = ("postgresql://", "postgres://", "postgresql+psycopg://")
_SQLITE = "sqlite:///"


def now() -> datetime:
    """The only clock."""
    return datetime.now(UTC)


def new_id() -> str:
    """Sorts by time, so that new rows stand together in an index."""
    return str(uuid7())


def open(
    path_or_url: str | os.PathLike[str] | None = None,
    *,
    project: str | None = None,
    tenant: str | None = None,
    principal: str | None = None,
    blobs: str | os.PathLike[str] | None = None,
    settings: Settings | None = None,
    clock: Clock = now,
) -> Memory:
    """Open a memory: a SQLite file (made where there is none) or a PostgreSQL database.

    Without a path, TREERING_DB says where, else the file that belongs to the repository around the working directory.
    """
    chosen = settings or Settings()
    given = os.environ.get("TREERING_DB") or None if path_or_url is None else os.fspath(path_or_url)
    root = repository_root(Path.cwd())
    default_project = project_name(root) if given is None else "default"
    scope = Scope.make(
        tenant=tenant or os.environ.get("TREERING_TENANT") or "local",
        project=project or os.environ.get("TREERING_PROJECT") or default_project,
        principal=principal or os.environ.get("TREERING_PRINCIPAL") or "local",
    )
    for name in ("tenant", "project", "principal"):
        refuse_secret(name, getattr(scope, name))
    location = given if given is not None else str(_made(data_directory() / project_name(root)) / "memory.db")
    store, blob_store = open_store(location, blobs or os.environ.get("TREERING_BLOBS"), chosen)
    worker = Worker(store, _handlers(store), clock, chosen.jobs, name=f"{socket.gethostname()}:{os.getpid()}")
    ports = Ports(
        store=store,
        blobs=blob_store,
        worker=worker,
        clock=clock,
        new_id=new_id,
        open_embedded=lambda path: open_store(str(path), None, chosen),
        version=__version__,
    )
    return Memory(scope, ports, chosen)


def open_store(
    location: str, blobs: str | os.PathLike[str] | None, settings: Settings, ids: NewId = new_id
) -> tuple[Store, Blobs]:
    """The store at a path or URL, with its blobs."""
    from treering.adapters.sql.store import SqlStore

    if not location.strip() or "\0" in location:
        raise InvalidInput("the memory needs a place: a file path, or a URL such as postgresql://user@host/database")
    if location.startswith(_POSTGRES):
        from treering.adapters.sql.postgres import Postgres, server_url

        url = server_url(location.replace("postgres://", "postgresql://", 1))
        kept = _open_blobs(blobs or _server_blobs(url.render_as_string(hide_password=True)))
        return SqlStore(Postgres(url, settings.store), kept, settings, ids), kept
    if "://" in location and not location.startswith(_SQLITE):
        scheme = location.split("://", 1)[0]
        raise InvalidInput(f"no engine for {scheme}: URLs; give a file path or a postgresql:// URL")
    from treering.adapters.sql.sqlite import SQLite

    path = Path(location.removeprefix(_SQLITE)).expanduser().absolute()
    kept = _open_blobs(blobs or blobs_beside(path))
    return SqlStore(SQLite(path, settings.store), kept, settings, ids), kept


def embedded_path(path_or_url: str | os.PathLike[str] | None = None) -> Path | None:
    """The file that `open` would use; None where a server is meant."""
    given = os.environ.get("TREERING_DB") if path_or_url is None else os.fspath(path_or_url)
    location = given or str(data_directory() / project_name(repository_root(Path.cwd())) / "memory.db")
    if "://" in location and not location.startswith(_SQLITE):
        return None
    return Path(location.removeprefix(_SQLITE)).expanduser().absolute()


def salvage(path: str | os.PathLike[str]) -> "Salvaged":
    """Save what is readable of a damaged SQLite file; the file as it was is kept beside the new one."""
    from treering.adapters.sql.salvage import salvage as save

    file = Path(os.fspath(path).removeprefix(_SQLITE)).expanduser().absolute()
    kept = _open_blobs(os.environ.get("TREERING_BLOBS") or blobs_beside(file))
    return save(file, kept, Settings(), now(), new_id)


def repository_root(start: Path) -> Path:
    """The nearest folder that holds a repository, or `start` where there is none."""
    return next((folder for folder in (start, *start.parents) if (folder / ".git").exists()), start)


def project_name(root: Path) -> str:
    """A name that is readable and differs for folders of the same name."""
    return f"{root.name or 'root'}-{sha256(str(root).encode()).hexdigest()[:8]}"


def data_directory() -> Path:
    """Where memories are kept that nobody placed elsewhere."""
    if chosen := os.environ.get("TREERING_DATA_DIR"):
        return Path(chosen).expanduser()
    from platformdirs import user_data_path

    return user_data_path("treering", appauthor=False)


def _handlers(store: Store) -> Mapping[str, partial[None]]:
    return {"sweep_blobs": partial(_sweep_blobs, store)}


def _sweep_blobs(store: Store, scope: Scope, job: Job, moment: datetime) -> None:
    store.sweep_blobs(scope, job.payload["digests"], moment)


def _open_blobs(location: str | os.PathLike[str]) -> Blobs:
    from treering.adapters.blobs import open_blobs

    return open_blobs(location if isinstance(location, str) else Path(location), os.environ)


def _server_blobs(url: str) -> Path:
    """A server's blobs stay on this machine until TREERING_BLOBS names a place that all share."""
    return data_directory() / "blobs" / sha256(url.encode()).hexdigest()[:16]


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as exc:
        raise StoreReadOnly(f"{folder} cannot be made ({exc}); set TREERING_DB or TREERING_DATA_DIR") from exc
    return folder
