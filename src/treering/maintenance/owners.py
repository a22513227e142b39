"""Runs a stage for each owner: first on everything the worker sees, then on each other owner's personal records."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from treering.core.errors import Conflict
from treering.core.scope import Visibility
from treering.jobs.worker import WorkerStopped

if TYPE_CHECKING:
    from treering.jobs.stage import StageProgress, StageRun, StageWork

_WORKER = ""
"""In place of an owner: the part that runs with the visibility of the worker."""


@dataclass(frozen=True, slots=True)
class _OwnerCursor:
    """Cursor of a run: the principal of the first part, the current owner, and the cursor within that owner's part."""

    by: str
    owner: str = _WORKER
    within: str | None = None

    def __str__(self) -> str:
        return json.dumps([self.by, self.owner, self.within], ensure_ascii=False)

    @classmethod
    def read(cls, run: StageRun) -> _OwnerCursor:
        """The run's cursor; the first part starts over under another principal, which sees other records."""
        new = cls(run.scope.principal)
        cursor = cls(*json.loads(run.cursor)) if run.cursor and run.cursor.startswith("[") else new
        return new if cursor.owner == _WORKER and cursor.by != new.by else cursor


class _OwnerProgress:
    """Progress of one owner's part, stored under a cursor that names the owner."""

    def __init__(self, progress: StageProgress, cursor: _OwnerCursor) -> None:
        self._progress = progress
        self.cursor = cursor

    def expect(self, total: int) -> None:
        self._progress.expect(total)

    def advance(self, cursor: str | None, steps: int = 1, **counts: int) -> None:
        self.cursor = replace(self.cursor, within=cursor)
        self._progress.advance(str(self.cursor), steps, **counts)


def for_each_owner(work: StageWork) -> StageWork:
    """A stage that does `work` once on everything the worker sees, and once on each other owner's personal records.

    A failure for one owner does not stop the others; it is raised at the end, and the next attempt resumes there.
    """

    def do(run: StageRun) -> None:
        first = _OwnerCursor.read(run)
        with run.store.reading(run.scope, run.now) as tx:
            owners = [_WORKER, *(owner for owner in tx.owners_of_personal() if owner != first.by)]
        failed: tuple[_OwnerCursor, Exception] | None = None
        for owner in (each for each in owners if each >= first.owner):
            progress = _OwnerProgress(run.progress, first if owner == first.owner else _OwnerCursor(first.by, owner))
            try:
                _run_part(work, run, progress)
            except (Conflict, WorkerStopped):
                # The lease is lost or returned: the worker that takes it runs the other parts.
                raise
            except Exception as exc:  # noqa: BLE001 - raised after the other owners' parts have run
                failed = failed or (progress.cursor, exc)
        if failed is not None:
            run.progress.advance(str(failed[0]), 0)
            raise failed[1]

    return do


def _run_part(work: StageWork, run: StageRun, progress: _OwnerProgress) -> None:
    scope, owner = run.scope, progress.cursor.owner
    if owner != _WORKER:
        scope = scope.replace(principal=owner, visible=frozenset({Visibility.PERSONAL}))
    work(replace(run, scope=scope, progress=progress, cursor=progress.cursor.within))
