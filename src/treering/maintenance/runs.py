"""Runs a stage so that nothing is lost: what is done is put down with the run, and whoever comes next goes on there."""

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

Tell = Callable[[Run], None]
"""Hears of a run after each of its steps."""
Keep = Callable[[Run], None]


def nobody(_run: Run) -> None:
    """Where nobody wants to hear of it."""


class RunProgress:
    """A stage's progress: each step is kept before the next begins. `WorkerStopped` where the worker is to stop."""

    def __init__(self, run: Run, clock: Clock, *, keep: Keep, tell: Tell, stop: threading.Event) -> None:
        self.run = run
        self._clock = clock
        self._keep = keep
        self._tell = tell
        self._stop = stop

    def expect(self, total: int) -> None:
        self.run = self.run.replace(total=self.run.done + total)
        self._tell(self.run)

    def advance(self, cursor: str | None, steps: int = 1, **counts: int) -> None:
        summed = {**self.run.counts, **{name: self.run.counts.get(name, 0) + more for name, more in counts.items()}}
        self._become(self.run.replace(cursor=cursor, done=self.run.done + steps, counts=summed))
        if self._stop.is_set():
            raise WorkerStopped

    def finish(self) -> None:
        self._become(self.run.replace(state=RunState.DONE, finished_at=self._clock(), error=None))

    def fail(self, error: BaseException) -> None:
        self._become(self.run.replace(state=RunState.FAILED, error=error_text(error)))

    def _become(self, run: Run) -> None:
        run = run.replace(updated_at=self._clock())
        self._keep(run)
        self.run = run
        self._tell(run)


@dataclass(frozen=True, slots=True)
class Maintenance:
    """The stages of one memory, and what they work with."""

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
        """The stage called so; an unknown one is an error that lists the known."""
        by_name: Mapping[str, Stage] = {stage.name: stage for stage in self.stages}
        if name not in by_name:
            raise InvalidInput(f"{name!r} is not a stage of maintenance; use one of {', '.join(by_name)}")
        return by_name[name]

    def do(self, scope: Scope, job: Job, _moment: datetime, tell: Tell = nobody) -> None:
        """The job: run the stage from where its run has come to, and put down how it ended.

        After a run of the schedule the next stage is queued, also where this one failed.
        """
        stage = self.stage(job.payload["stage"])
        run = self._begun(scope, job)
        if run.state is RunState.DONE:
            return
        keep = self._keeper(scope, job)
        progress = RunProgress(run, self.clock, keep=keep, tell=tell, stop=self.stop)
        tell(run)
        try:
            stage.work(self._given(scope, progress, run.cursor, dry_run=False))
        except WorkerStopped:
            raise
        except Exception as exc:
            self._put_down(progress, exc)
            self._queue_next(scope, run)
            raise
        progress.finish()
        self._remove_old(scope, stage.name)
        self._queue_next(scope, run)

    def _queue_next(self, scope: Scope, run: Run) -> None:
        if run.slot is not None:
            queue_due(scope, self.store, self.clock(), stages=self.stages, zone=self.zone, new_id=self.new_id)

    def rehearse(self, scope: Scope, name: str, tell: Tell = nobody) -> Run:
        """Run a stage from its beginning so that it only counts what it would do. Nothing at all is written."""
        stage, now = self.stage(name), self.clock()
        run = Run(id=self.new_id(), stage=name, started_at=now, updated_at=now, worker=self.worker)
        progress = RunProgress(run, self.clock, keep=nobody, tell=tell, stop=self.stop)
        try:
            stage.work(self._given(scope, progress, None, dry_run=True))
        except WorkerStopped:
            raise
        except Exception as exc:  # noqa: BLE001 - a stage is a door, as in a real run: the others are still rehearsed
            progress.fail(exc)
            return progress.run
        progress.finish()
        return progress.run

    def _given(self, scope: Scope, progress: RunProgress, cursor: str | None, *, dry_run: bool) -> StageRun:
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

    def _begun(self, scope: Scope, job: Job) -> Run:
        """The job's run, one attempt further; what is done already stays so."""
        now = self.clock()
        with self.store.transaction(scope, now) as tx:
            run = tx.runs.get(job.payload["run"])
            if run is None:
                first = {"started_at": now, "updated_at": now, "attempts": 0}
                run = Run.make(id=job.payload["run"], stage=job.payload["stage"], **first)
            if run.state is RunState.DONE:
                return run
            started = run.started_at if run.attempts else now
            begun = run.replace(
                state=RunState.RUNNING,
                started_at=started,
                updated_at=now,
                worker=self.worker,
                attempts=run.attempts + 1,
                error=None,
            )
            self._store_if_held(tx, job, begun)
        return begun

    def _keeper(self, scope: Scope, job: Job) -> Keep:
        def keep(run: Run) -> None:
            with self.store.transaction(scope, self.clock()) as tx:
                self._store_if_held(tx, job, run)

        return keep

    def _store_if_held(self, tx: Transaction, job: Job, run: Run) -> None:
        if not tx.jobs.extend(job, timedelta(seconds=self.settings.jobs.lease_seconds)):
            raise lease_lost(job)
        tx.runs.put_many([run])

    def _put_down(self, progress: RunProgress, error: Exception) -> None:
        """Whoever has lost the lease leaves the run to its new worker."""
        try:
            progress.fail(error)
        except Conflict:
            return

    def _remove_old(self, scope: Scope, stage: str) -> None:
        kept = self.settings.maintenance.keep_runs
        with self.store.transaction(scope, self.clock()) as tx:
            runs = runs_of(tx, stage, limit=kept)
            if len(runs) == kept:
                tx.runs.remove(RunFilter(stages=(stage,), started=TimeRange(before=runs[-1].started_at)))
