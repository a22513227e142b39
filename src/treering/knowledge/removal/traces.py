"""Erases traces of purged records: their blobs, and remains in free pages and logs."""

from collections.abc import Mapping
from datetime import datetime

from treering.core.errors import StoreUnavailable
from treering.core.history import Action
from treering.core.jobs import Job
from treering.core.queries import AuditFilter, Order, RunFilter, TimeRange
from treering.core.scope import Scope
from treering.jobs.stage import StageRun
from treering.jobs.worker import Worker
from treering.ports.store import Transaction

DONE, LEFT = "traces_forgotten", "traces_left"
_STAGE, _MAX_RUNS = "forget", 100
# Do not wait for long-running readers: the next run tries again.
_MAX_WAIT_SECONDS = 1.0


def erase_traces(run: StageRun) -> Mapping[str, int]:
    """Erase traces of all purges since the last time; left to the next run while another process is reading."""
    with run.store.reading(run.scope, run.now) as tx:
        purged = _has_purges(tx)
    if not purged or run.dry_run:
        return {}

    def sweep(scope: Scope, job: Job, at: datetime) -> None:
        run.store.sweep_blobs(scope, job.payload["digests"], at)

    worker = Worker(run.store, {"sweep_blobs": sweep}, lambda: run.now, run.settings.jobs, name="forget")
    worker.settle(run.scope, run.settings.store.busy_seconds)
    try:
        run.store.erase_traces(_MAX_WAIT_SECONDS)
    except StoreUnavailable:
        return {LEFT: 1}
    return {DONE: 1}


def _has_purges(tx: Transaction) -> bool:
    """Whether records were purged since traces were last erased, including by runs that crashed."""
    runs = tx.runs.find(RunFilter(stages=(_STAGE,)), order=Order(by="started_at"), limit=_MAX_RUNS).items
    last = next((each.updated_at for each in runs if each.counts.get(DONE)), None)
    removed = AuditFilter(actions=(Action.PURGE,), happened=None if last is None else TimeRange(since=last))
    return tx.audit.count(removed) > 0
