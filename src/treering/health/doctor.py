"""Says how a memory is: the engine, its integrity and size, what is missing and how to get it."""

import platform
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path

from treering.core.scope import Scope
from treering.ports.blobs import Blobs
from treering.ports.store import Check, Store

_ROOM = 500 * 1024 * 1024

# Optional parts: what they are for, the module that shows they are there, how to get them.
_OPTIONAL = (
    ("PostgreSQL driver", "psycopg", "pip install 'treering[postgres]'"),
    ("S3 client", "obstore", "pip install 'treering[s3]'"),
)


@dataclass(frozen=True, slots=True)
class Report:
    """The state of a memory."""

    version: str
    engine: str
    location: str
    project: str
    blobs: str
    checks: tuple[Check, ...]
    sizes: Mapping[str, int]
    missing: Mapping[str, str]
    repaired: tuple[str, ...] = ()

    @property
    def healthy(self) -> bool:
        return all(check.fine for check in self.checks)


def examine(scope: Scope, store: Store, blobs: Blobs, now: datetime, *, version: str, repair: bool) -> Report:
    """Look at everything; with `repair`, first rebuild what is derived."""
    repaired = tuple(store.repair(scope, now)) if repair else ()
    return Report(
        version=f"{version}, Python {platform.python_version()}",
        engine=store.engine,
        location=store.location,
        project=scope.project,
        blobs=blobs.location,
        checks=(*store.check(scope, now), *_room(store)),
        sizes=store.sizes(scope),
        missing={name: advice for name, module, advice in _OPTIONAL if find_spec(module) is None},
        repaired=repaired,
    )


def _room(store: Store) -> tuple[Check, ...]:
    path = Path(store.location)
    if not path.is_file():
        return ()
    free = shutil.disk_usage(path.parent).free
    enough = free > _ROOM
    advice = "" if enough else "free some room: a full disk refuses writes"
    return (Check("disk", enough, f"{free / 1024**3:.1f} GiB free", advice),)
