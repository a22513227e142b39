"""Puts stages into the queue in their order: one job and one run for each moment of the schedule."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from treering.core.jobs import Job, JobState
from treering.core.queries import JobFilter
from treering.core.runs import Run, RunState
from treering.maintenance.schedule import Due, Stage, due_stages, has_come, runs_of

if TYPE_CHECKING:
    from treering.core.scope import Scope
    from treering.ports.clock import NewId
    from treering.ports.store import Store, Transaction

MAINTAIN = "maintain"
"""The kind of job that runs a stage; its key is the stage's name."""
_SCHEDULE = "schedule of maintenance"


def queue_due(
    scope: Scope, store: Store, now: datetime, *, stages: Sequence[Stage], zone: tzinfo | None, new_id: NewId
) -> tuple[Due, ...]:
    """Queue the first stage whose last moment was missed, unless one before it has not ended; it is returned.

    Nothing is written where nothing is due. A run whose workers all died is marked as failed, so that the stages after
    it are not held up.
    """
    with store.reading(scope, now) as tx:
        if not due_stages(tx, stages, zone) and not _abandoned(tx):
            return ()
    with store.transaction(scope, now) as tx:
        tx.claim(_SCHEDULE)
        tx.runs.put_many(_abandoned(tx))
        due = {each.stage: each for each in due_stages(tx, stages, zone)}
        for stage in stages:
            if stage.name in due and _queued(tx, stage.name, due[stage.name].slot, new_id):
                return (due[stage.name],)
            if _is_unfinished(tx, stage.name):
                break
        return ()


def _is_unfinished(tx: Transaction, stage: str) -> bool:
    """Whether the last run waits or is at work; one that failed is tried again while the stages after it go on."""
    latest = runs_of(tx, stage, limit=1)
    return bool(latest) and latest[0].state is RunState.RUNNING and has_come(latest[0].started_at, tx.now)


def queue_now(scope: Scope, store: Store, now: datetime, *, stage: str, new_id: NewId) -> bool:
    """Queue a stage on request; False if it waits already. A run that did not end goes on."""
    with store.transaction(scope, now) as tx:
        tx.claim(_SCHEDULE)
        return _queued(tx, stage, None, new_id)


def dead_stages(tx: Transaction) -> Sequence[Job]:
    """The jobs of stages that failed for good, and were not queued again since."""
    return list(tx.jobs.stream(JobFilter(kinds=(MAINTAIN,), states=(JobState.DEAD,))))


def lost_stages(tx: Transaction) -> Sequence[Job]:
    """Those whose last worker has died, and that nobody has moved to the dead letters since."""
    held = tx.jobs.stream(JobFilter(kinds=(MAINTAIN,), states=(JobState.LEASED,)))
    return [job for job in held if job.attempts >= job.max_attempts and job.lease_until and job.lease_until <= tx.now]


def _abandoned(tx: Transaction) -> Sequence[Run]:
    """Runs that did not end and whose jobs are dead, as the failures they are."""
    errors = {job.payload["run"]: job.error for job in dead_stages(tx)}
    return [
        run.replace(state=RunState.FAILED, error=errors[run.id], updated_at=tx.now)
        for run in tx.runs.get_many(errors).values()
        if run.state is RunState.RUNNING
    ]


def _queued(tx: Transaction, stage: str, slot: datetime | None, new_id: NewId) -> bool:
    run = _run_for(tx, stage, slot, new_id)
    job = Job(
        id=new_id(),
        kind=MAINTAIN,
        key=stage,
        payload={"stage": stage, "run": run.id},
        run_at=tx.now,
        created_at=tx.now,
    )
    if not tx.jobs.enqueue(job):
        return False
    tx.runs.put_many([run])
    return True


def _run_for(tx: Transaction, stage: str, slot: datetime | None, new_id: NewId) -> Run:
    """A new run; where somebody asks, the last one if it did not end, as far as it came."""
    latest = runs_of(tx, stage, limit=1)
    if slot is None and latest and latest[0].state is not RunState.DONE:
        return latest[0]
    return Run(id=new_id(), stage=stage, slot=slot, started_at=tx.now, updated_at=tx.now, attempts=0)
