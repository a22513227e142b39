"""Queues stages in their order: one job and one run for each slot of the schedule."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from treering.core.jobs import Job, JobState
from treering.core.queries import JobFilter
from treering.core.runs import Run, RunState
from treering.maintenance.schedule import DueStage, Stage, due_stages, has_come, runs_of

if TYPE_CHECKING:
    from treering.core.scope import Scope
    from treering.ports.clock import NewId
    from treering.ports.store import Store, Transaction

MAINTAIN = "maintain"
"""The kind of job that runs a stage; its key is the stage's name."""
_SCHEDULE = "schedule of maintenance"


def queue_due(
    scope: Scope, store: Store, now: datetime, *, stages: Sequence[Stage], zone: tzinfo | None, new_id: NewId
) -> tuple[DueStage, ...]:
    """Queue the first stage whose last slot was missed, unless an earlier stage is unfinished; returns the stage.

    Writes nothing if nothing is due. A run whose workers all died is marked as failed, so that it does not block the
    stages after it.
    """
    with store.reading(scope, now) as tx:
        if not due_stages(tx, stages, zone) and not _abandoned(tx):
            return ()
    with store.transaction(scope, now) as tx:
        tx.claim(_SCHEDULE)
        tx.runs.put_many(_abandoned(tx))
        due = {each.stage: each for each in due_stages(tx, stages, zone)}
        for stage in stages:
            if stage.name in due and _enqueue(tx, stage.name, due[stage.name].slot, new_id):
                return (due[stage.name],)
            if _is_unfinished(tx, stage.name):
                break
        return ()


def _is_unfinished(tx: Transaction, stage: str) -> bool:
    """Whether the last run is pending or running; a failed run is retried without blocking the stages after it."""
    latest = runs_of(tx, stage, limit=1)
    return bool(latest) and latest[0].state is RunState.RUNNING and has_come(latest[0].started_at, tx.now)


def queue_now(scope: Scope, store: Store, now: datetime, *, stage: str, new_id: NewId) -> bool:
    """Queue a stage on request; False if it is queued already. An unfinished run is resumed."""
    with store.transaction(scope, now) as tx:
        tx.claim(_SCHEDULE)
        return _enqueue(tx, stage, None, new_id)


def dead_stages(tx: Transaction) -> Sequence[Job]:
    """Jobs of stages that will not be retried and were not queued again."""
    return list(tx.jobs.stream(JobFilter(kinds=(MAINTAIN,), states=(JobState.DEAD,))))


def lost_stages(tx: Transaction) -> Sequence[Job]:
    """Leased jobs whose lease ran out on their last attempt and that are not marked as dead yet."""
    held = tx.jobs.stream(JobFilter(kinds=(MAINTAIN,), states=(JobState.LEASED,)))
    return [job for job in held if job.attempts >= job.max_attempts and job.lease_until and job.lease_until <= tx.now]


def _abandoned(tx: Transaction) -> Sequence[Run]:
    """Unfinished runs whose jobs are dead, marked as failed."""
    errors = {job.payload["run"]: job.error for job in dead_stages(tx)}
    return [
        run.replace(state=RunState.FAILED, error=errors[run.id], updated_at=tx.now)
        for run in tx.runs.get_many(errors).values()
        if run.state is RunState.RUNNING
    ]


def _enqueue(tx: Transaction, stage: str, slot: datetime | None, new_id: NewId) -> bool:
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
    """A new run; on request (no slot) the last run if it is unfinished, with its progress."""
    latest = runs_of(tx, stage, limit=1)
    if slot is None and latest and latest[0].state is not RunState.DONE:
        return latest[0]
    return Run(id=new_id(), stage=stage, slot=slot, started_at=tx.now, updated_at=tx.now, attempts=0)
