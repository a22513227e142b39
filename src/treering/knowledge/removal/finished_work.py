"""Ends the validity of work states whose unit of work is finished."""

from collections.abc import Mapping
from datetime import datetime

from treering.core.history import Action
from treering.core.queries import KnowledgeFilter
from treering.core.records import Knowledge, WorkUnit
from treering.jobs.record_pages import record_pages
from treering.jobs.stage import StageRun

Unit = tuple[str, tuple[str, ...]]


def close_finished_work(run: StageRun) -> int:
    """End the validity of every work state whose unit has a later outcome; return their number."""
    closed, outcomes = 0, _outcomes(run)
    for page in record_pages(run, "knowledge", KnowledgeFilter(types=("work_state",))) if outcomes else ():
        finished = [record.id for record in page.records if _closed_at(record, outcomes) is not None]
        closed += len(finished)
        if not run.dry_run:
            for id in finished:
                _close(run, id, outcomes)
    return closed


def _outcomes(run: StageRun) -> Mapping[Unit, datetime]:
    """Time of the last outcome of each unit."""
    ended = [
        (_unit(record.work_unit), record.created_at)
        for page in record_pages(run, "knowledge", KnowledgeFilter(types=("work_unit_outcome",)))
        for record in page.records
        if record.work_unit is not None
    ]
    return dict(sorted(ended, key=lambda each: each[1]))


def _unit(unit: WorkUnit) -> Unit:
    return unit.methodology, unit.hierarchy


def _closed_at(record: Knowledge, outcomes: Mapping[Unit, datetime]) -> datetime | None:
    if record.work_unit is None or record.valid_until is not None:
        return None
    ended = outcomes.get(_unit(record.work_unit))
    return ended if ended is not None and ended >= record.updated_at else None


def _close(run: StageRun, id: str, outcomes: Mapping[Unit, datetime]) -> None:
    with run.store.transaction(run.scope, run.now) as tx:
        tx.claim(f"record {id}")
        record = tx.knowledge.get(id)
        ended = None if record is None or record.deleted_at is not None else _closed_at(record, outcomes)
        if record is not None and ended is not None:
            until = max(ended, record.valid_from) if record.valid_from else ended
            tx.knowledge.update(record.replace(valid_until=until), Action.UPDATE, {"reason": "work unit closed"})
