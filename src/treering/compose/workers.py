"""The worker of a memory: its job handlers and the stages of maintenance."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from treering.compose.stores import new_id
from treering.core.errors import ModelUnavailable
from treering.core.jobs import AFTER_SESSION, EMBED_CODE, LEARN_SESSION, LINK_ENTITIES, Job
from treering.jobs.worker import Handler, JobLease, JobUnfinished, Worker

if TYPE_CHECKING:
    from treering.core.scope import Scope
    from treering.core.settings import MaintenanceSettings, Settings
    from treering.jobs.stage import StageRun
    from treering.maintenance.api import Maintenance
    from treering.maintenance.background import Background
    from treering.ports.clock import Clock
    from treering.ports.models import Models
    from treering.ports.store import Store

ROUND_SECONDS = 1.0  # records stored meanwhile are linked and embedded together: alone, each costs ten times as much
IDLE_SECONDS = 5.0  # the background thread waits this long for more work: an agent's next step comes sooner


def workers(
    scope: Scope,
    store: Store,
    *,
    models: Models,
    settings: Settings,
    clock: Clock,
    stop: threading.Event,
    root: Path | None = None,
) -> tuple[Worker, Maintenance]:
    """The worker that runs jobs, and the maintenance that runs the schedule."""
    from treering.maintenance.api import Maintenance
    from treering.maintenance.queue import MAINTAIN
    from treering.maintenance.schedule import zone_named
    from treering.maintenance.stage_runner import StageRunner
    from treering.maintenance.stages import nightly

    name = f"{socket.gethostname()}:{os.getpid()}"
    stages = nightly(
        settings.maintenance, staleness=partial(_mark_stale, root), vectors=_make_vectors, report=_count_health
    )
    zone = zone_named(settings.maintenance.timezone)
    runner = StageRunner(store, stages, settings, models, clock, new_id, name, stop, zone)
    handlers = {**_handlers(store, models, settings, clock, stop), MAINTAIN: runner.run_job}

    worker = Worker(store, handlers, clock, settings.jobs, name=name, stop=stop)
    return worker, Maintenance(scope, runner, worker)


def background(
    scope: Scope,
    store: Store,
    make_workers: Callable[[Store], tuple[Worker, Maintenance]],
    times: MaintenanceSettings,
    stop: threading.Event,
) -> Background:
    """A thread that starts when this store has queued a job, and runs a worker on the store."""
    from treering.maintenance.background import Background, TransactionGate
    from treering.maintenance.schedule import SCHEDULE_SECONDS

    gate = TransactionGate()

    def work() -> None:
        worker, maintenance = make_workers(gate.guarding(store))
        look = partial(maintenance.try_queue_due, thread.record_error)
        worker.run_forever(
            scope,
            look,
            every=SCHEDULE_SECONDS,
            idle=IDLE_SECONDS,
            round_seconds=ROUND_SECONDS,
            pause=thread.pause,
        )

    thread = Background(work, stop, gate, times.close_seconds)
    store.on_queued = thread.wake
    return thread


def _handlers(
    store: Store, models: Models, settings: Settings, clock: Clock, stop: threading.Event
) -> Mapping[str, Handler]:
    def lease(scope: Scope, job: Job) -> JobLease:
        return JobLease(store, scope, job, clock, settings.jobs.lease_seconds, stop)

    def embed(scope: Scope, job: Job, _moment: datetime) -> None:
        from treering.search.embedding import run_embedding_job

        check_stop = lease(scope, job).check_stop
        run = run_embedding_job(scope, store, clock, models=models, settings=settings, check_stop=check_stop)
        if run.unfinished:
            raise JobUnfinished(progress=run.stored > 0)

    def embed_code(scope: Scope, job: Job, _moment: datetime) -> None:
        from treering.code.locations.embedding import ChunkEmbedding, run_chunk_embedding

        work = ChunkEmbedding(scope, store, clock, settings)
        run_chunk_embedding(work, job, models, new_id, lease(scope, job).check_stop)

    def summarise(scope: Scope, job: Job, _moment: datetime) -> None:
        from treering.conversation.summary_job import do_summaries

        do_summaries(scope, store, job, clock, models=models, settings=settings.conversation)

    def learn(scope: Scope, job: Job, moment: datetime) -> None:
        from treering.knowledge.session_learning import Learner, learn_session
        from treering.search.embedding import queue_embedding

        learn_session(Learner(store, models, settings, new_id), scope, job, moment, lease(scope, job).keep)
        queue_embedding(scope, store, clock(), models, new_id())

    def link(scope: Scope, job: Job, _moment: datetime) -> None:
        from treering.entities.link_jobs import do_linking

        do_linking(scope, store, job, clock, settings=settings, new_id=new_id)

    def after_session(scope: Scope, job: Job, moment: datetime) -> None:
        from treering.observe.after_session import do_after_session

        do_after_session(scope, store, job, moment, models=models, settings=settings, new_id=new_id)

    return {
        "sweep_blobs": partial(_sweep_blobs, store),
        "embed": embed,
        EMBED_CODE: embed_code,
        "summarise_removed": summarise,
        LEARN_SESSION: learn,
        LINK_ENTITIES: link,
        AFTER_SESSION: after_session,
    }


def _sweep_blobs(store: Store, scope: Scope, job: Job, moment: datetime) -> None:
    store.sweep_blobs(scope, job.payload["digests"], moment)


def _make_vectors(run: StageRun) -> None:
    """Compute missing vectors if the model is local: nightly maintenance sends nothing to a remote model."""
    from treering.code.locations.embedding import ChunkEmbedding
    from treering.search.embedding import embed_all

    try:
        with run.store.reading(run.scope, run.now) as tx:
            embedder = run.models.embedder(tx.index.models(), hurried=True)
            covered, code = tx.index.coverage(embedder.model), tx.chunks.coverage(embedder.model)
        run.progress.expect(covered.documents - covered.vectors + code.chunks - code.vectors)
        made = 0

        def between(total: int) -> bool:
            nonlocal made
            run.progress.advance(None, total - made, embedded=total - made)
            made = total
            return True

        if embedder.local and not run.dry_run:
            embedded = embed_all(run.scope, run.store, run.now, embedder, run.settings.embedder, between=between)
            chunks = ChunkEmbedding(run.scope, run.store, lambda: run.now, run.settings)
            chunks.embed_all(embedder, between=lambda more, _last: between(embedded + more))
    except ModelUnavailable as exc:
        run.models.failed("embedder", exc)


def _count_health(run: StageRun) -> Mapping[str, int]:
    from treering.maintenance.health_report import health_report
    from treering.maintenance.stages import STAGES

    return health_report(run.scope, run.store, run.now, stages=STAGES, settings=run.settings).counts()


def _mark_stale(root: Path | None, run: StageRun) -> None:
    from treering.adapters.git.history import open_repository
    from treering.knowledge.staleness.stage import mark_stale
    from treering.observe.synthesis.renames import follow_renames

    seconds = run.settings.staleness.git_seconds
    repository = None if root is None else open_repository(root, os.environ, seconds)
    if run.cursor is None:
        follow_renames(run, repository)
    mark_stale(run, repository)
