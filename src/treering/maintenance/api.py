"""What people and programs ask of maintenance: run it, what is due, what was done, how the memory is."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from treering.core.errors import Conflict, StoreError, StoreUnavailable
from treering.core.queries import Order, RunFilter
from treering.core.runs import Run, RunState
from treering.jobs.worker import Worker
from treering.maintenance.queue import MAINTAIN, dead_stages, lost_stages, queue_due, queue_now
from treering.maintenance.runs import Maintenance, Tell, nobody
from treering.maintenance.schedule import SCHEDULE_SECONDS, Due, due_stages, has_come, next_slot, runs_of
from treering.ports.store import Check, Transaction

if TYPE_CHECKING:
    from treering.core.scope import Scope

R = TypeVar("R")
Trouble = Callable[[Exception], object]
"""Hears why the schedule could not be looked at."""
_POLL_SECONDS = 0.05
_GIVEN_UP = "all its workers took it and never reported back"
_BY_HAND = "`treering maintain` does it now, `treering work` when it is due"


@dataclass(frozen=True, slots=True)
class Planned:
    """A stage: its schedule, when it is to run next, whether it is overdue, and how it went last."""

    stage: str
    cron: str
    next: datetime | None
    overdue: bool
    last: Run | None


@dataclass(frozen=True, slots=True)
class Upkeep(Generic[R]):
    """Maintenance of one project."""

    scope: Scope
    maintenance: Maintenance
    worker: Worker
    make_report: Callable[[Scope, datetime], R]
    others: Sequence[Callable[[], Check]] = ()
    """Who else works for this memory, and is asked how that goes."""

    @property
    def stages(self) -> tuple[str, ...]:
        """Their names, in the order of the night."""
        return tuple(stage.name for stage in self.maintenance.stages)

    def run(self, stage: str | None = None, *, dry_run: bool = False, on_progress: Tell = nobody) -> tuple[Run, ...]:
        """Run one stage now, or all of them in their order; how each ended is returned.

        A run that did not end goes on where it stopped. A stage that fails says so in its run and is tried again by
        the next worker; the others go on. `dry_run` counts what would be done, and writes nothing.
        """
        names = self.stages if stage is None else (self.maintenance.stage(stage).name,)
        if dry_run:
            return tuple(self.maintenance.rehearse(self.scope, name, on_progress) for name in names)
        return tuple(self._run(name, on_progress, alone=stage is not None) for name in names)

    def queue_due(self) -> tuple[Due, ...]:
        """Put the next stage that is due into the queue, where a worker finds it; what was put there is returned."""
        given = self.maintenance
        return queue_due(
            self.scope, given.store, given.clock(), stages=given.stages, zone=given.zone, new_id=given.new_id
        )

    def look(self, trouble: Trouble) -> None:
        """Queue what is due. Where that fails `trouble` hears why: what is queued already need not wait for it."""
        try:
            self.queue_due()
        except StoreUnavailable:
            # Nothing else could be done either.
            raise
        except Exception as exc:  # noqa: BLE001 - whatever it is, jobs are done and somebody hears of it
            trouble(exc)

    def work(
        self,
        *,
        once: bool = False,
        every: float | None = None,
        tell: Callable[[int], object] = lambda _done: None,
        trouble: Trouble | None = None,
    ) -> None:
        """Do what is queued and what the schedule says until `stop`, or `once`: until nothing is due.

        The schedule is looked at every `every` seconds; `tell` hears how many jobs were done each time. Where nobody
        listens to `trouble` with the schedule, it ends the work.
        """
        seconds = every or SCHEDULE_SECONDS
        look = self.queue_due if trouble is None else partial(self.look, trouble)
        self.worker.run_forever(self.scope, look, every=seconds, idle=0 if once else None, on_done=tell)

    def stop(self) -> None:
        """Let every worker of this memory give back what it is at. It works no more until it is opened again."""
        self.maintenance.stop.set()

    def due(self) -> tuple[Due, ...]:
        """Stages whose last moment has passed and that nobody has begun."""
        with self.maintenance.store.reading(self.scope, self.maintenance.clock()) as tx:
            return tuple(due_stages(tx, self.maintenance.stages, self.maintenance.zone))

    def runs(self, limit: int = 20) -> tuple[Run, ...]:
        """What was run, the latest first."""
        with self.maintenance.store.reading(self.scope, self.maintenance.clock()) as tx:
            return tx.runs.find(RunFilter(stages=self.stages), order=Order(by="started_at"), limit=limit).items

    def plan(self) -> tuple[Planned, ...]:
        """Each stage: when it runs next, and how it went last."""
        with self.maintenance.store.reading(self.scope, self.maintenance.clock()) as tx:
            overdue = {due.stage for due in due_stages(tx, self.maintenance.stages, self.maintenance.zone)}
            return tuple(
                Planned(
                    stage=stage.name,
                    cron=stage.cron,
                    next=next_slot(stage.cron, tx.now, self.maintenance.zone),
                    overdue=stage.name in overdue,
                    last=_latest(tx, stage.name),
                )
                for stage in self.maintenance.stages
            )

    def report(self) -> R:
        """How the memory is: what it holds, how it grows, what waits, what failed."""
        return self.make_report(self.scope, self.maintenance.clock())

    def check(self) -> Check:
        """Whether the schedule is kept; where it is, what goes wrong with others who work for this memory."""
        kept = self._schedule()
        troubled = (found for other in self.others if not (found := other()).fine)
        return next(troubled, kept) if kept.fine else kept

    def _schedule(self) -> Check:
        """What is overdue is only advice: nobody need run a worker."""
        try:
            plan, dead = self.plan(), self._dead()
        except StoreError as exc:
            # Who asks wants to hear of a damaged database from every side, and not only that.
            return Check("schedule", False, str(exc))
        failed = {**dead, **{each.stage: each.last.error for each in plan if each.last and each.last.error}}
        if failed:
            advice = "put right what stops it, then `treering doctor --repair` tries again"
            return Check("schedule", False, "; ".join(f"{stage}: {error}" for stage, error in failed.items()), advice)
        overdue = [each.stage for each in plan if each.overdue]
        if overdue:
            return Check("schedule", True, f"overdue: {', '.join(overdue)}", _BY_HAND)
        ran = [each.last.updated_at for each in plan if each.last]
        return Check("schedule", True, f"kept, last run {max(ran):%Y-%m-%d %H:%MZ}" if ran else "nothing was due yet")

    def _dead(self) -> dict[str, str]:
        """Why stages failed for good, by their names."""
        with self.maintenance.store.reading(self.scope, self.maintenance.clock()) as tx:
            given_up = {job.payload["stage"]: _GIVEN_UP for job in lost_stages(tx)}
            return {**given_up, **{job.payload["stage"]: job.error or "" for job in dead_stages(tx)}}

    def _awaited(self, worker: Worker, name: str) -> bool | None:
        """Wait until another worker has run the stage; run it here if that worker ends before."""
        given = self.maintenance
        while not given.stop.is_set():
            with given.store.reading(self.scope, given.clock()) as tx:
                last = runs_of(tx, name, limit=1)[0]
            if last.state is not RunState.RUNNING:
                return last.state is RunState.DONE
            if (done := worker.run_named(self.scope, MAINTAIN, name)) is not None:
                return done
            time.sleep(_POLL_SECONDS)
        return None

    def _run(self, name: str, tell: Tell, *, alone: bool) -> Run:
        given, heard = self.maintenance, list[Run]()

        def listen(run: Run) -> None:
            heard[:] = [run]
            tell(run)

        worker = Worker(
            given.store,
            {MAINTAIN: partial(given.do, tell=listen)},
            given.clock,
            given.settings.jobs,
            name=given.worker,
            stop=given.stop,
        )
        # The first look may only find that the workers before have died at it; then it is queued anew.
        queued = False
        for _ in range(2):
            queued |= queue_now(self.scope, given.store, given.clock(), stage=name, new_id=given.new_id)
            if (done := worker.run_named(self.scope, MAINTAIN, name)) is not None:
                break
        if done is None and queued:
            # Another worker, such as the background thread, was faster to take what was queued here.
            done = self._awaited(worker, name)
        if not heard:
            with given.store.reading(self.scope, given.clock()) as tx:
                heard.append(runs_of(tx, name, limit=1)[0])
        if done is None and alone:
            raise Conflict(f"{name} is being run by {heard[0].worker or 'another worker'}; wait until it is done")
        return heard[0]


def _latest(tx: Transaction, stage: str) -> Run | None:
    """The last run that was begun, by a clock that can be believed."""
    runs = (run for run in runs_of(tx, stage) if has_come(run.started_at, tx.now))
    return next((run for run in runs if run.attempts or run.state is not RunState.RUNNING), None)
