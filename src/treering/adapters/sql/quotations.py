"""Texts that quote a record: what sessions were given, jobs that name it, errors of jobs and runs, notes in the audit
log.

The audit log keeps actor, action and time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Table, delete, select, update

from treering.adapters.sql.rows import insert_rows
from treering.adapters.sql.tables import audit, injected_items, jobs, runs
from treering.core.jobs import JobState
from treering.core.quotations import without_quotation

if TYPE_CHECKING:
    from treering.adapters.sql.context import TransactionContext

# Shorter quotations would match unrelated errors.
_MIN_QUOTATION = 12
_OVER = (JobState.DONE.value, JobState.DEAD.value)


def forget_remarks(context: TransactionContext, id: str, texts: Sequence[str]) -> None:
    """Remove a record's words from errors and audit entries, jobs that name it, and what sessions were given of it."""
    given = delete(injected_items).where(*_here(context, injected_items), injected_items.c.item == id)
    context.execute_for_all(given)
    _forget_notes(context, id)
    _forget_jobs(context, id)
    failed = select(jobs.c.id, jobs.c.error).where(*_here(context, jobs), jobs.c.error.is_not(None))
    for row in context.connection.execute(failed).all():
        if (silent := _silent(row.error, texts)) != row.error:
            mine = (*_here(context, jobs), jobs.c.id == row.id)
            context.connection.execute(update(jobs).where(*mine).values(error=silent))
    _forget_errors_of_runs(context, texts)


def _forget_notes(context: TransactionContext, id: str) -> None:
    """Replace the log's entries about it without their details, which may contain users' words."""
    of_record = (*_here(context, audit), audit.c.subject == id, audit.c.rest != "{}")

    def forget(view: TransactionContext) -> Iterator[str]:
        removed = view.connection.execute(delete(audit).where(*of_record).returning(*audit.c)).mappings().all()
        insert_rows(view.connection, audit, [{**row, "rest": "{}"} for row in removed])
        return iter(())

    context.for_every_principal(forget)


def _forget_jobs(context: TransactionContext, id: str) -> None:
    """Finished jobs on this record: it is a value in their payload, not a key."""
    over = (*_here(context, jobs), jobs.c.state.in_(_OVER))
    named = jobs.c.rest.contains(json.dumps(id, ensure_ascii=False), autoescape=True)
    for row in context.connection.execute(select(jobs.c.id, jobs.c.rest).where(*over, named)).all():
        if id in _texts(json.loads(row.rest).get("payload", {})):
            context.connection.execute(delete(jobs).where(*over, jobs.c.id == row.id))


def _texts(value: Any) -> Iterator[str]:
    """Every text inside a payload, except keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)


def _forget_errors_of_runs(context: TransactionContext, texts: Sequence[str]) -> None:
    failed = select(runs.c.id, runs.c.rest).where(*_here(context, runs), runs.c.rest.contains('"error"'))
    for row in context.connection.execute(failed).all():
        written = json.loads(row.rest)
        silent = {**written, "error": _silent(str(written.get("error") or ""), texts)}
        if silent != written:
            mine = (*_here(context, runs), runs.c.id == row.id)
            context.connection.execute(update(runs).where(*mine).values(rest=json.dumps(silent, ensure_ascii=False)))


def _silent(error: str, texts: Sequence[str]) -> str:
    for text in texts:
        if len(text) >= _MIN_QUOTATION:
            error = without_quotation(error, text)
    return error


def _here(context: TransactionContext, table: Table) -> tuple[ColumnElement[bool], ...]:
    return table.c.tenant == context.scope.tenant, table.c.project == context.scope.project
