"""After records were removed for good: their blobs, and what is left of them in free pages and logs."""

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
_STAGE, _RUNS = "forget", 100
# Somebody who reads at night is not to be waited for: the next run comes.
_SECONDS = 1.0


def erase_traces(run: StageRun) -> Mapping[str, int]:
    """Of all that was removed since this was done last, by whatever run; left to the next where somebody reads."""
    with run.store.reading(run.scope, run.now) as tx:
        purged = _purged(tx)
    if not purged or run.dry_run:
        return {}

    def sweep(scope: Scope, job: Job, moment: datetime) -> None:
        run.store.sweep_blobs(scope, job.payload["digests"], moment)

    worker = Worker(run.store, {"sweep_blobs": sweep}, lambda: run.now, run.settings.jobs, name="forget")
    worker.settle(run.scope, run.settings.store.busy_seconds)
    try:
        run.store.erase_traces(_SECONDS)
    except StoreUnavailable:
        return {LEFT: 1}
    return {DONE: 1}


def _purged(tx: Transaction) -> bool:
    """The audit log remembers removals, also those of a run that died."""
    runs = tx.runs.find(RunFilter(stages=(_STAGE,)), order=Order(by="started_at"), limit=_RUNS).items
    last = next((each.updated_at for each in runs if each.counts.get(DONE)), None)
    removed = AuditFilter(actions=(Action.PURGE,), happened=None if last is None else TimeRange(since=last))
    return tx.audit.count(removed) > 0
