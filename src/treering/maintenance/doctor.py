"""Diagnosis of a memory: engine, integrity, size, models, and what is missing with how to get it."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from treering.core.errors import TreeringError
from treering.core.jobs import Job, JobState
from treering.core.queries import JobFilter
from treering.core.runs import token_run
from treering.ports.store import Check, Store

if TYPE_CHECKING:
    from treering.core.scope import Scope
    from treering.core.settings import EmbedderSettings, Settings
    from treering.ports.blobs import Blobs
    from treering.ports.code_chunks import ChunkCoverage
    from treering.ports.index import Coverage
    from treering.ports.models import Embedder, Models, Reranker, Writer

_MAX_DEAD_JOBS = 100
_MIN_FREE_BYTES = 500 * 1024 * 1024
_PROBE = "does this answer?"

# Optional parts: the name, a module that is importable if the part is installed, how to install it.
_OPTIONAL = (
    ("PostgreSQL driver", "psycopg", "pip install 'treering[postgres]'"),
    ("S3 client", "obstore", "pip install 'treering[s3]'"),
)

# Optional models: how to get each from `Models`, whether the settings choose one, how to configure it.
_OPTIONAL_MODELS: Mapping[str, tuple[Callable[[Models], Reranker | Writer], Callable[[Settings], bool], str]] = {
    "reranker": (
        lambda models: models.reranker(),
        lambda settings: settings.reranker.provider != "none",
        "TREERING_RERANKER names one (docs/how-to/models.md)",
    ),
    "writer": (
        lambda models: models.writer(hurried=True),
        lambda settings: bool(settings.writer.url),
        "TREERING_WRITER names one (docs/how-to/models.md)",
    ),
}
_LARGER_MODEL = (
    "for a larger model: `ollama pull qwen3-embedding:0.6b`, then TREERING_EMBEDDER=ollama (docs/how-to/models.md)"
)


@dataclass(frozen=True, slots=True)
class DeadJob:
    """A job that failed at every attempt, with its last error."""

    id: str
    kind: str
    error: str


@dataclass(frozen=True, slots=True)
class LocationStatus:
    """The repository around the memory: its root, why the memory is where it is, and checks of both."""

    repository: str = ""
    place: str = ""
    found: tuple[Check, ...] = ()


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """The condition of a memory."""

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
    repository: str = ""
    """Root of the repository around the working directory, or of the named one."""
    place: str = ""
    """Why the memory is where it is."""

    @property
    def healthy(self) -> bool:
        return all(check.fine for check in self.checks)


def examine(
    scope: Scope,
    store: Store,
    blobs: Blobs,
    now: datetime,
    *,
    models: Models,
    settings: Settings,
    version: str,
    repair: bool,
    location: LocationStatus,
    other_checks: Sequence[Check] = (),
) -> DoctorReport:
    """Check everything; with `repair`, first rebuild derived data and queue dead jobs again.

    `other_checks` are results of checks made elsewhere, such as that of the schedule.
    """
    repaired = (*store.repair(scope, now), *_revive(scope, store, now)) if repair else ()
    used = _optional_models(models, settings)
    return DoctorReport(
        version=f"{version}, Python {platform.python_version()}",
        engine=store.engine,
        location=store.location,
        project=scope.project,
        blobs=blobs.location,
        checks=(
            *store.check(scope, now),
            *_disk(store),
            _embedding(scope, store, now, models, settings.embedder),
            *used.values(),
            *_tokens(scope, store, now, settings),
            *other_checks,
            *location.found,
        ),
        sizes=store.sizes(scope),
        missing={
            **{name: advice for name, module, advice in _OPTIONAL if find_spec(module) is None},
            **{name: advice for name, (*_, advice) in _OPTIONAL_MODELS.items() if name not in used},
        },
        repaired=repaired,
        dead_jobs=tuple(DeadJob(job.id, job.kind, job.error or "") for job in _dead_jobs(scope, store, now)),
        repository=location.repository,
        place=location.place,
    )


def _dead_jobs(scope: Scope, store: Store, now: datetime) -> Sequence[Job]:
    with store.reading(scope, now) as tx:
        return tx.jobs.find(JobFilter(states=(JobState.DEAD,)), limit=_MAX_DEAD_JOBS).items


def _revive(scope: Scope, store: Store, now: datetime) -> Sequence[str]:
    dead = _dead_jobs(scope, store, now)
    if not dead:
        return ()
    with store.transaction(scope, now) as tx:
        # Only one job of a key can be queued: the latest.
        revived = sum(tx.jobs.revive(job.id) for job in sorted(dead, key=_latest_first))
    return (f"queued {revived:,} dead jobs again",)


def _latest_first(job: Job) -> float:
    return -job.created_at.timestamp()


def _disk(store: Store) -> tuple[Check, ...]:
    path = Path(store.location)
    if not path.is_file():
        return ()
    free = shutil.disk_usage(path.parent).free
    enough = free > _MIN_FREE_BYTES
    advice = "" if enough else "free some disk space: writes fail on a full disk"
    return (Check("disk", enough, f"{free / 1024**3:.1f} GiB free", advice),)


def _embedding(scope: Scope, store: Store, now: datetime, models: Models, settings: EmbedderSettings) -> Check:
    """Check that the embedding model answers; says why it was chosen and how many documents have a vector."""
    with store.reading(scope, now) as tx:
        known = tx.index.models()
    try:
        embedder = models.embedder(known, hurried=True)
        embedder.documents([_PROBE])  # not `queries`: those vectors may be cached
    except TreeringError as exc:
        off = settings.provider == "none"
        return Check("meaning", off, str(exc), "" if off else "until then, search uses words and relations only")
    with store.reading(scope, now) as tx:
        covered, code = tx.index.coverage(embedder.model), tx.chunks.coverage(embedder.model)
    detail = f"{embedder.model} ({_why(embedder, known, settings)}): {_coverage(covered, code)}"
    return Check("meaning", True, detail, _advice(embedder, covered, code))


def _tokens(scope: Scope, store: Store, now: datetime, settings: Settings) -> tuple[Check, ...]:
    """Tokens of the language model that learning used today; no check if it uses no model."""
    learn = settings.learn
    if not settings.writer.url or learn.model == "off" or not learn.enabled:
        return ()
    with store.reading(scope, now) as tx:
        run = tx.runs.get(token_run(now))
    used = 0 if run is None else run.done
    left = used < learn.max_tokens_per_day
    advice = "" if left else "facts are read by rules until midnight UTC; raise learn.max_tokens_per_day to spend more"
    return (Check("learning tokens", left, f"{used:,} of {learn.max_tokens_per_day:,} used today", advice),)


def _why(embedder: Embedder, known: Sequence[str], settings: EmbedderSettings) -> str:
    if settings.provider != "auto":
        return "named in the settings or the environment"
    if embedder.local:
        return "comes with Treering"
    return "the project has vectors of it" if embedder.model in known else "found here"


def _coverage(covered: Coverage, code: ChunkCoverage) -> str:
    chunks = f", {code.vectors:,} of {code.chunks:,} pieces of code" if code.chunks else ""
    return f"{covered.vectors:,} of {covered.documents:,} documents{chunks} have a vector"


def _advice(embedder: Embedder, covered: Coverage, code: ChunkCoverage) -> str:
    if covered.vectors < covered.documents or code.vectors < code.chunks:
        return "run `treering embed` to make the others"
    return _LARGER_MODEL if embedder.local else ""


def _optional_models(models: Models, settings: Settings) -> Mapping[str, Check]:
    """Checks of the configured models. No request is sent, since an answer may cost money."""
    used = {}
    for name, (get, is_chosen, _) in _OPTIONAL_MODELS.items():
        if not is_chosen(settings):
            continue
        try:
            used[name] = Check(name, True, get(models).model)
        except TreeringError as exc:
            used[name] = Check(name, False, str(exc), "correct the setting, or remove it")
    return used
