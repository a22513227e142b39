"""`memory.maintenance`: run stages, ask what is due and what was done, and report on the memory's health."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from treering.core.errors import Conflict, StoreError, StoreUnavailable
from treering.core.queries import Order, RunFilter
from treering.core.runs import Run, RunState
from treering.jobs.worker import Worker
from treering.maintenance.queue import MAINTAIN, dead_stages, lost_stages, queue_due, queue_now
from treering.maintenance.schedule import SCHEDULE_SECONDS, DueStage, due_stages, has_come, next_slot, runs_of
from treering.maintenance.stage_runner import OnProgress, StageRunner, ignore_progress
from treering.ports.store import Check, Transaction

if TYPE_CHECKING:
    from treering.core.scope import Scope
    from treering.maintenance.health_report import HealthReport
    from treering.maintenance.overview import Overview

OnError = Callable[[Exception], object]
"""Called with the reason why the schedule could not be read."""
_POLL_SECONDS = 0.05
_ABANDONED = "each worker that took it ended without reporting a result"
_RUN_ADVICE = "`treering maintain` runs it now, `treering work` when it is due"


@dataclass(frozen=True, slots=True)
class StagePlan:
    """A stage: its schedule, when it runs next, whether it is overdue, and its last run."""

    stage: str
    cron: str
    next: datetime | None
    overdue: bool
    last: Run | None


@dataclass(frozen=True, slots=True)
class Maintenance:
    """Maintenance of one project: `memory.maintenance`."""

    scope: Scope
    runner: StageRunner
    worker: Worker
    other_checks: Sequence[Callable[[], Check]] = ()
    """Checks of other workers of this memory, such as the background thread."""

    def __repr__(self) -> str:
        return f"Maintenance(project={self.scope.project!r})"

    @property
    def schedule_seconds(self) -> float:
        """Seconds between two looks of a worker at the schedule."""
        return SCHEDULE_SECONDS

    @property
    def stages(self) -> tuple[str, ...]:
        """Their names, in the order in which they run."""
        return tuple(stage.name for stage in self.runner.stages)

    def run(
        self, stage: str | None = None, *, dry_run: bool = False, on_progress: OnProgress = ignore_progress
    ) -> tuple[Run, ...]:
        """Run one stage now, or all of them in order, and return a run for each.

        An unfinished run is resumed. A stage that fails records the error in its run and is retried by the next worker;
        the stages after it still run. `dry_run` counts what would be done and writes nothing.
        """
        names = self.stages if stage is None else (self.runner.stage(stage).name,)
        if dry_run:
            return tuple(self.runner.dry_run(self.scope, name, on_progress) for name in names)
        return tuple(self._run(name, on_progress, only=stage is not None) for name in names)

    def queue_due(self) -> tuple[DueStage, ...]:
        """Queue the next stage that is due for a worker, and return it."""
        runner = self.runner
        return queue_due(
            self.scope, runner.store, runner.clock(), stages=runner.stages, zone=runner.zone, new_id=runner.new_id
        )

    def try_queue_due(self, on_error: OnError) -> None:
        """Queue what is due; if that fails, call `on_error`, so that jobs already queued do not wait for it.

        Raises `StoreUnavailable`, since without the store no job can run either.
        """
        try:
            self.queue_due()
        except StoreUnavailable:
            raise
        except Exception as exc:  # noqa: BLE001 - the queued jobs still run, and the error is reported
            on_error(exc)

    def work(
        self,
        *,
        once: bool = False,
        every: float | None = None,
        on_done: Callable[[int], object] = lambda _done: None,
        on_error: OnError | None = None,
    ) -> None:
        """Run queued jobs and scheduled stages until `stop`, or with `once` until nothing is due.

        The schedule is read every `every` seconds; `on_done` is called each time with the number of jobs done. An error
        in the schedule is passed to `on_error`, or raised if there is none.
        """
        seconds = every or SCHEDULE_SECONDS
        look = self.queue_due if on_error is None else partial(self.try_queue_due, on_error)
        self.worker.run_forever(self.scope, look, every=seconds, idle=0 if once else None, on_done=on_done)

    def stop(self) -> None:
        """Make every worker of this memory return its job to the queue and end, until the memory is opened again."""
        self.runner.stop.set()

    def due(self) -> tuple[DueStage, ...]:
        """Stages whose scheduled time has passed without a run."""
        with self.runner.store.reading(self.scope, self.runner.clock()) as tx:
            return tuple(due_stages(tx, self.runner.stages, self.runner.zone))

    def runs(self, limit: int = 20) -> tuple[Run, ...]:
        """Runs of all stages, latest first."""
        with self.runner.store.reading(self.scope, self.runner.clock()) as tx:
            return tx.runs.find(RunFilter(stages=self.stages), order=Order(by="started_at"), limit=limit).items

    def plan(self) -> tuple[StagePlan, ...]:
        """When each stage runs next, and its last run."""
        with self.runner.store.reading(self.scope, self.runner.clock()) as tx:
            overdue = {due.stage for due in due_stages(tx, self.runner.stages, self.runner.zone)}
            return tuple(
                StagePlan(
                    stage=stage.name,
                    cron=stage.cron,
                    next=next_slot(stage.cron, tx.now, self.runner.zone),
                    overdue=stage.name in overdue,
                    last=_last_run(tx, stage.name),
                )
                for stage in self.runner.stages
            )

    def report(self) -> HealthReport:
        """What the memory holds, how it grows, which jobs are pending and which failed."""
        from treering.maintenance.health_report import health_report
        from treering.maintenance.stages import STAGES

        runner = self.runner
        return health_report(self.scope, runner.store, runner.clock(), stages=STAGES, settings=runner.settings)

    def overview(self, modules: Mapping[str, tuple[str, Sequence[str]]] | None = None) -> Overview:
        """Size, use, a score from 0 to 100 with its parts, and activity; coverage of the given modules' files."""
        from treering.maintenance.overview import overview

        runner = self.runner
        return overview(self.scope, runner.store, runner.clock(), self.report(), modules or {})

    def check(self) -> Check:
        """The first failed check, of the schedule or of another worker; else the check of the schedule."""
        schedule = self._check_schedule()
        failed = (found for check in self.other_checks if not (found := check()).fine)
        return next(failed, schedule) if schedule.fine else schedule

    def _check_schedule(self) -> Check:
        """Fails for failed stages only: a worker is optional, so overdue stages are just advice."""
        try:
            plan, dead = self.plan(), self._dead_stages()
        except StoreError as exc:
            # A damaged database must not keep the other checks from running.
            return Check("schedule", False, str(exc))
        failed = {**dead, **{each.stage: each.last.error for each in plan if each.last and each.last.error}}
        if failed:
            advice = "fix the cause, then run `treering doctor --repair` to try again"
            return Check("schedule", False, "; ".join(f"{stage}: {error}" for stage, error in failed.items()), advice)
        overdue = [each.stage for each in plan if each.overdue]
        if overdue:
            return Check("schedule", True, f"overdue: {', '.join(overdue)}", _RUN_ADVICE)
        ran = [each.last.updated_at for each in plan if each.last]
        detail = f"up to date, last run {max(ran):%Y-%m-%d %H:%MZ}" if ran else "nothing was due yet"
        return Check("schedule", True, detail)

    def _dead_stages(self) -> dict[str, str]:
        """Errors of stages that will not be retried, by stage."""
        with self.runner.store.reading(self.scope, self.runner.clock()) as tx:
            abandoned = {job.payload["stage"]: _ABANDONED for job in lost_stages(tx)}
            return {**abandoned, **{job.payload["stage"]: job.error or "" for job in dead_stages(tx)}}

    def _run(self, name: str, on_progress: OnProgress, *, only: bool) -> Run:
        runner, latest = self.runner, list[Run]()

        def progressed(run: Run) -> None:
            latest[:] = [run]
            on_progress(run)

        worker = Worker(
            runner.store,
            {MAINTAIN: partial(runner.run_job, on_progress=progressed)},
            runner.clock,
            runner.settings.jobs,
            name=runner.worker,
            stop=runner.stop,
        )
        # The first attempt may only mark the job as dead, because its earlier workers died; the second queues it again.
        queued = False
        for _ in range(2):
            queued |= queue_now(self.scope, runner.store, runner.clock(), stage=name, new_id=runner.new_id)
            if (done := worker.run_named(self.scope, MAINTAIN, name)) is not None:
                break
        if done is None and queued:
            # Another worker, such as the background thread, leased the job first.
            done = self._wait_for_other_worker(worker, name)
        if not latest:
            with runner.store.reading(self.scope, runner.clock()) as tx:
                latest.append(runs_of(tx, name, limit=1)[0])
        if done is None and only:
            raise Conflict(f"{name} is being run by {latest[0].worker or 'another worker'}; wait until it is done")
        return latest[0]

    def _wait_for_other_worker(self, worker: Worker, name: str) -> bool | None:
        """Wait until another worker has run the stage; run it here if that worker ends first."""
        runner = self.runner
        while not runner.stop.is_set():
            with runner.store.reading(self.scope, runner.clock()) as tx:
                last = runs_of(tx, name, limit=1)[0]
            if last.state is not RunState.RUNNING:
                return last.state is RunState.DONE
            if (done := worker.run_named(self.scope, MAINTAIN, name)) is not None:
                return done
            time.sleep(_POLL_SECONDS)
        return None


def _last_run(tx: Transaction, stage: str) -> Run | None:
    """The last run that was started; runs dated in the future by a wrong clock are skipped."""
    runs = (run for run in runs_of(tx, stage) if has_come(run.started_at, tx.now))
    return next((run for run in runs if run.attempts or run.state is not RunState.RUNNING), None)
