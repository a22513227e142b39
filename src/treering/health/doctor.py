"""Says how a memory is: the engine, its integrity and size, what is missing and how to get it."""

import platform
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path

from treering.core.jobs import Job, JobState
from treering.core.queries import JobFilter
from treering.core.scope import Scope
from treering.ports.blobs import Blobs
from treering.ports.store import Check, Store

_MOST_DEAD = 100
_ROOM = 500 * 1024 * 1024

# Optional parts: what they are for, the module that shows they are there, how to get them.
_OPTIONAL = (
    ("PostgreSQL driver", "psycopg", "pip install 'treering[postgres]'"),
    ("S3 client", "obstore", "pip install 'treering[s3]'"),
)


@dataclass(frozen=True, slots=True)
class DeadJob:
    """A job that failed at every attempt, and how it failed last."""

    id: str
    kind: str
    error: str


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
    dead_jobs: tuple[DeadJob, ...] = ()

    @property
    def healthy(self) -> bool:
        return all(check.fine for check in self.checks)


def examine(scope: Scope, store: Store, blobs: Blobs, now: datetime, *, version: str, repair: bool) -> Report:
    """Look at everything; with `repair`, first rebuild what is derived and give dead jobs another try."""
    repaired = (*store.repair(scope, now), *_revive(scope, store, now)) if repair else ()
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
        dead_jobs=tuple(DeadJob(job.id, job.kind, job.error or "") for job in _dead(scope, store, now)),
    )


def _dead(scope: Scope, store: Store, now: datetime) -> Sequence[Job]:
    with store.reading(scope, now) as tx:
        return tx.jobs.find(JobFilter(states=(JobState.DEAD,)), limit=_MOST_DEAD).items


def _revive(scope: Scope, store: Store, now: datetime) -> Sequence[str]:
    dead = _dead(scope, store, now)
    if not dead:
        return ()
    with store.transaction(scope, now) as tx:
        revived = sum(tx.jobs.revive(job.id) for job in dead)
    return (f"queued {revived:,} dead jobs again",)


def _room(store: Store) -> tuple[Check, ...]:
    path = Path(store.location)
    if not path.is_file():
        return ()
    free = shutil.disk_usage(path.parent).free
    enough = free > _ROOM
    advice = "" if enough else "free some room: a full disk refuses writes"
    return (Check("disk", enough, f"{free / 1024**3:.1f} GiB free", advice),)
