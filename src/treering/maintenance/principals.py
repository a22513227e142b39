"""Does a stage for everybody: what the worker sees first, then what only its owners see, one after the other."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from treering.core.errors import Conflict
from treering.core.scope import Visibility
from treering.jobs.worker import WorkerStopped

if TYPE_CHECKING:
    from treering.jobs.stage import StageProgress, StageRun, StageWork

_ALL_SEEN = ""
"""Stands for the part that is done as the worker itself, where owners stand for theirs."""


@dataclass(frozen=True, slots=True)
class _Place:
    """How far a run came: by whom its first part was done, for whom it is at work, and how far it is there."""

    by: str
    owner: str = _ALL_SEEN
    within: str | None = None

    def __str__(self) -> str:
        return json.dumps([self.by, self.owner, self.within], ensure_ascii=False)

    @classmethod
    def read(cls, run: StageRun) -> _Place:
        """Another principal sees other records: their first part begins anew, as does what an older version left."""
        new = cls(run.scope.principal)
        place = cls(*json.loads(run.cursor)) if run.cursor and run.cursor.startswith("[") else new
        return new if place.owner == _ALL_SEEN and place.by != new.by else place


class _Told:
    """A part's progress: the cursor also says whose part it is."""

    def __init__(self, whole: StageProgress, place: _Place) -> None:
        self._whole = whole
        self.place = place

    def expect(self, total: int) -> None:
        self._whole.expect(total)

    def advance(self, cursor: str | None, steps: int = 1, **counts: int) -> None:
        self.place = replace(self.place, within=cursor)
        self._whole.advance(str(self.place), steps, **counts)


def for_everybody(work: StageWork) -> StageWork:
    """The stage that does `work` once for all that the worker sees, and once for the personal records of each other.

    Where it fails for one, the others still have their turn; then it fails, and goes on with that one.
    """

    def do(run: StageRun) -> None:
        begun = _Place.read(run)
        with run.store.reading(run.scope, run.now) as tx:
            owners = [_ALL_SEEN, *(owner for owner in tx.owners_of_personal() if owner != begun.by)]
        failed: tuple[_Place, Exception] | None = None
        for owner in (each for each in owners if each >= begun.owner):
            told = _Told(run.progress, begun if owner == begun.owner else _Place(begun.by, owner))
            try:
                _do_part(work, run, told)
            except (Conflict, WorkerStopped):
                # The lease may be lost, or is given back: whoever takes it does the others.
                raise
            except Exception as exc:  # noqa: BLE001 - what is wrong with one owner's records is raised when all are done
                failed = failed or (told.place, exc)
        if failed is not None:
            run.progress.advance(str(failed[0]), 0)
            raise failed[1]

    return do


def _do_part(work: StageWork, run: StageRun, told: _Told) -> None:
    scope, owner = run.scope, told.place.owner
    if owner != _ALL_SEEN:
        scope = scope.replace(principal=owner, visible=frozenset({Visibility.PERSONAL}))
    work(replace(run, scope=scope, progress=told, cursor=told.place.within))
