"""Runs stages so that progress survives a crash: each step is stored, and the next worker resumes after it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import TYPE_CHECKING

from treering.core.errors import Conflict, InvalidInput
from treering.core.queries import RunFilter, TimeRange
from treering.core.runs import Run, RunState
from treering.jobs.stage import StageRun
from treering.jobs.worker import WorkerStopped, error_text, lease_lost
from treering.maintenance.queue import queue_due
from treering.maintenance.schedule import Stage, runs_of

if TYPE_CHECKING:
    from treering.core.jobs import Job
    from treering.core.scope import Scope
    from treering.core.settings import Settings
    from treering.ports.clock import Clock, NewId
    from treering.ports.models import Models
    from treering.ports.store import Store, Transaction

OnProgress = Callable[[Run], None]
"""Called with the run after each of its steps."""
StoreRun = Callable[[Run], None]


def ignore_progress(_run: Run) -> None:
    """An `OnProgress` that does nothing."""


class RunProgress:
    """Progress of one run: each step is stored before the next. Raises `WorkerStopped` if the worker is to stop."""

    def __init__(
        self, run: Run, clock: Clock, *, store_run: StoreRun, on_progress: OnProgress, stop: threading.Event
    ) -> None:
        self.run = run
        self._clock = clock
        self._store_run = store_run
        self._on_progress = on_progress
        self._stop = stop

    def expect(self, total: int) -> None:
        self.run = self.run.replace(total=self.run.done + total)
        self._on_progress(self.run)

    def advance(self, cursor: str | None, steps: int = 1, **counts: int) -> None:
        summed = {**self.run.counts, **{name: self.run.counts.get(name, 0) + more for name, more in counts.items()}}
        self._update(self.run.replace(cursor=cursor, done=self.run.done + steps, counts=summed))
        if self._stop.is_set():
            raise WorkerStopped

    def finish(self) -> None:
        self._update(self.run.replace(state=RunState.DONE, finished_at=self._clock(), error=None))

    def fail(self, error: BaseException) -> None:
        self._update(self.run.replace(state=RunState.FAILED, error=error_text(error)))

    def _update(self, run: Run) -> None:
        run = run.replace(updated_at=self._clock())
        self._store_run(run)
        self.run = run
        self._on_progress(run)


@dataclass(frozen=True, slots=True)
class StageRunner:
    """The stages of one memory and the ports they work with."""

    store: Store
    stages: Sequence[Stage]
    settings: Settings
    models: Models
    clock: Clock
    new_id: NewId
    worker: str
    stop: threading.Event
    zone: tzinfo | None = None

    def stage(self, name: str) -> Stage:
        """The stage with this name; raises `InvalidInput` with the known names if there is none."""
        by_name: Mapping[str, Stage] = {stage.name: stage for stage in self.stages}
        if name not in by_name:
            raise InvalidInput(f"{name!r} is not a stage of maintenance; use one of {', '.join(by_name)}")
        return by_name[name]

    def run_job(self, scope: Scope, job: Job, _moment: datetime, on_progress: OnProgress = ignore_progress) -> None:
        """Handle a maintenance job: resume its run and store how the run ended.

        After a scheduled run the next stage is queued, even if this one failed.
        """
        stage = self.stage(job.payload["stage"])
        run = self._start(scope, job)
        if run.state is RunState.DONE:
            return
        progress = RunProgress(
            run, self.clock, store_run=self._run_store(scope, job), on_progress=on_progress, stop=self.stop
        )
        on_progress(run)
        try:
            stage.work(self._stage_run(scope, progress, run.cursor, dry_run=False))
        except WorkerStopped:
            raise
        except Exception as exc:
            self._store_failure(progress, exc)
            self._queue_next(scope, run)
            raise
        progress.finish()
        self._remove_old_runs(scope, stage.name)
        self._queue_next(scope, run)

    def dry_run(self, scope: Scope, name: str, on_progress: OnProgress = ignore_progress) -> Run:
        """Run a stage from its beginning and only count what it would do. Writes nothing, not even the run."""
        stage, now = self.stage(name), self.clock()
        run = Run(id=self.new_id(), stage=name, started_at=now, updated_at=now, worker=self.worker)
        progress = RunProgress(run, self.clock, store_run=ignore_progress, on_progress=on_progress, stop=self.stop)
        try:
            stage.work(self._stage_run(scope, progress, None, dry_run=True))
        except WorkerStopped:
            raise
        except Exception as exc:  # noqa: BLE001 - as in a real run, a stage that fails does not keep the others from running
            progress.fail(exc)
            return progress.run
        progress.finish()
        return progress.run

    def _queue_next(self, scope: Scope, run: Run) -> None:
        if run.slot is not None:
            queue_due(scope, self.store, self.clock(), stages=self.stages, zone=self.zone, new_id=self.new_id)

    def _stage_run(self, scope: Scope, progress: RunProgress, cursor: str | None, *, dry_run: bool) -> StageRun:
        return StageRun(
            scope=scope,
            store=self.store,
            now=self.clock(),
            settings=self.settings,
            models=self.models,
            new_id=self.new_id,
            progress=progress,
            cursor=cursor,
            dry_run=dry_run,
        )

    def _start(self, scope: Scope, job: Job) -> Run:
        """The job's run with one more attempt; its progress so far is kept."""
        now = self.clock()
        with self.store.transaction(scope, now) as tx:
            run = tx.runs.get(job.payload["run"])
            if run is None:
                first = {"started_at": now, "updated_at": now, "attempts": 0}
                run = Run.make(id=job.payload["run"], stage=job.payload["stage"], **first)
            if run.state is RunState.DONE:
                return run
            started_at = run.started_at if run.attempts else now
            started = run.replace(
                state=RunState.RUNNING,
                started_at=started_at,
                updated_at=now,
                worker=self.worker,
                attempts=run.attempts + 1,
                error=None,
            )
            self._store_if_leased(tx, job, started)
        return started

    def _run_store(self, scope: Scope, job: Job) -> StoreRun:
        def store_run(run: Run) -> None:
            with self.store.transaction(scope, self.clock()) as tx:
                self._store_if_leased(tx, job, run)

        return store_run

    def _store_if_leased(self, tx: Transaction, job: Job, run: Run) -> None:
        if not tx.jobs.extend(job, timedelta(seconds=self.settings.jobs.lease_seconds)):
            raise lease_lost(job)
        tx.runs.put_many([run])

    def _store_failure(self, progress: RunProgress, error: Exception) -> None:
        """Store the error, unless the lease is lost: then the run belongs to another worker."""
        try:
            progress.fail(error)
        except Conflict:
            return

    def _remove_old_runs(self, scope: Scope, stage: str) -> None:
        limit = self.settings.upkeep.keep_runs
        with self.store.transaction(scope, self.clock()) as tx:
            runs = runs_of(tx, stage, limit=limit)
            if len(runs) == limit:
                tx.runs.remove(RunFilter(stages=(stage,), started=TimeRange(before=runs[-1].started_at)))
