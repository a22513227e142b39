"""Takes away what faded; after the grace removes for good what was taken away, by this stage or by a person."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from treering.core.errors import NotFound
from treering.core.history import Action
from treering.core.jobs import Job
from treering.core.queries import AuditFilter, EpisodeFilter, KnowledgeFilter, Order, Page, TurnFilter
from treering.core.records import Knowledge, RelationKind
from treering.core.scope import Scope
from treering.learn.episodes.consolidation.dissolving import withdraw_standing
from treering.learn.forget.closing import close_finished_work
from treering.learn.forget.fading import DOUBTED, UNUSED, past_grace, why_faded
from treering.learn.jobs import Worker
from treering.learn.reflect.withdrawing import withdraw
from treering.learn.stages import StageRun
from treering.ports.store import Removable, Transaction

GRACE, STAGE = "grace passed", "forget"
_MOST = 1_000
_OLDEST_FIRST = Order(by="created_at", descending=False)
_EARLIEST_FIRST = Order(by="at", descending=False)


class _Place(NamedTuple):
    """How far a run came: which step, and after which record in it. `purged` tells that traces are left to remove."""

    step: str
    after: str = ""
    purged: bool = False

    def __str__(self) -> str:
        return f"{self.step} {int(self.purged)} {self.after}"

    @classmethod
    def read(cls, cursor: str | None) -> "_Place":
        step, purged, after = (cursor or f"{_STEPS[0]} 0 ").split(" ", 2)
        return cls(step, after, purged == "1")


@dataclass(frozen=True, slots=True)
class _Aged:
    """A kind whose soft-deleted records are removed for good, and how they are counted."""

    counted: str
    find: Callable[[Transaction, str | None, int], Page[Any]]
    collection: Callable[[Transaction], Removable]


_AGED: Mapping[str, _Aged] = {
    "knowledge": _Aged(
        "removed",
        lambda tx, after, most: tx.knowledge.find(
            KnowledgeFilter(deleted=True), order=_OLDEST_FIRST, limit=most, after=after
        ),
        lambda tx: tx.knowledge,
    ),
    "turns": _Aged(
        "turns_removed",
        lambda tx, after, most: tx.turns.find(TurnFilter(deleted=True), order=_EARLIEST_FIRST, limit=most, after=after),
        lambda tx: tx.turns,
    ),
    "episodes": _Aged(
        "episodes_removed",
        lambda tx, after, most: tx.episodes.find(
            EpisodeFilter(deleted=True), order=_EARLIEST_FIRST, limit=most, after=after
        ),
        lambda tx: tx.episodes,
    ),
}
_STEPS = ("close", "fade", *_AGED, "traces")


def forget_faded(run: StageRun) -> None:
    """One run: close finished work, take away what faded, remove what is past its grace, leave no trace of that.

    Every removal is in the audit log with its reason. What it took away, `undo` brings back until the grace is over,
    and then it is spared for another.
    """
    place = _Place.read(run.cursor)
    for step in _STEPS[_STEPS.index(place.step) :]:
        place = place if step == place.step else _Place(step, purged=place.purged)
        if step == "close":
            run.progress.advance(str(place), 0, closed=close_finished_work(run))
        elif step == "fade":
            _fade(run, place)
        elif step == "traces":
            _forget_traces(run, place)
        else:
            place = _purge(run, place, _AGED[step])
    run.progress.advance(None, 0)


def _fade(run: StageRun, place: _Place) -> None:
    after: str | None = place.after or None
    while True:
        with run.store.reading(run.scope, run.now) as tx:
            page = tx.knowledge.find(
                KnowledgeFilter(deleted=False), order=_OLDEST_FIRST, limit=run.settings.forgetting.page, after=after
            )
            faded = [record.id for record in page.items if why_faded(record, run.now, run.settings)]
            spared = _brought_back(tx, faded, run) if faded else frozenset()
        happened = Counter(_take_away(run, id) for id in faded if id not in spared)
        counts = {what: happened[what] for what in (UNUSED, DOUBTED, "kept_as_history")}
        after = page.next
        run.progress.advance(str(place._replace(after=after or "")), len(page.items), spared=len(spared), **counts)
        if after is None:
            return


def _take_away(run: StageRun, id: str) -> str | None:
    """By itself, so that it is brought back by itself; what happened to it is returned."""
    opened = run.store.reading if run.dry_run else run.store.transaction
    with opened(run.scope, run.now) as tx:
        if not run.dry_run:
            tx.claim(f"record {id}")
        record = tx.knowledge.get(id)
        # Whoever held the claim may have used or confirmed it.
        why = None if record is None else why_faded(record, run.now, run.settings)
        if record is None or why is None:
            return None
        if _is_history(tx, record):
            return "kept_as_history"
        if not run.dry_run:
            tx.knowledge.delete(id, {"reason": why, "stage": STAGE})
    return why


def _brought_back(tx: Transaction, ids: list[str], run: StageRun) -> frozenset[str]:
    """Those that somebody missed: an undo within the last grace."""
    since = run.now - timedelta(days=run.settings.forgetting.grace_days)
    undone = AuditFilter(subjects=tuple(ids), actions=(Action.UNDO,))
    log = tx.audit.find(undone, order=Order(by="at"), limit=_MOST).items
    return frozenset(entry.subject for entry in log if entry.at >= since)


def _is_history(tx: Transaction, record: Knowledge) -> bool:
    """What was believed before stays to be asked for as long as what took its place stands."""
    if record.deprecated_at is None and record.valid_until is None:
        return False
    related = tx.knowledge.find(KnowledgeFilter(related_to=(record.id,)), limit=_MOST).items
    link = (RelationKind.SUPERSEDES, record.id)
    return any(link == (each.kind, each.record) for newer in related for each in newer.relations)


def _purge(run: StageRun, place: _Place, aged: _Aged) -> _Place:
    after: str | None = place.after or None
    while True:
        with run.store.reading(run.scope, run.now) as tx:
            page = aged.find(tx, after, run.settings.forgetting.page)
        due = [record.id for record in page.items if _is_due(record, run)]
        if due and not place.purged and not run.dry_run:
            # Said before it is done: whoever goes on after a crash must not leave traces of it.
            place = place._replace(purged=True)
            run.progress.advance(str(place), 0)
        purged = len(due) if run.dry_run else sum(_purge_one(run, aged, id) for id in due)
        after = page.next
        place = place._replace(after=after or "")
        run.progress.advance(str(place), len(page.items), **{aged.counted: purged})
        if after is None:
            return place


def _is_due(record: Any, run: StageRun) -> bool:
    verified = getattr(record, "user_verified", False)
    return not verified and past_grace(record.deleted_at, run.now, run.settings)


def _purge_one(run: StageRun, aged: _Aged, id: str) -> int:
    """By itself: a crash in between leaves one more or one less, and nothing half removed."""
    with run.store.transaction(run.scope, run.now) as tx:
        tx.claim(f"record {id}")
        collection = aged.collection(tx)
        # Somebody may have brought it back, or removed it, meanwhile.
        if collection.holds(id) or not collection.holds(id, deleted=True):
            return 0
        try:
            if not _was_faded(tx, id):
                withdraw(tx, id, run.new_id)
            if collection is tx.episodes:
                withdraw_standing(tx, id, run.settings.episodes)
            collection.purge(id, {"reason": GRACE, "stage": STAGE})
        except NotFound:
            return 0
    return 1


def _was_faded(tx: Transaction, id: str) -> bool:
    """Whether this stage took it away; what a person forgot is forgotten in reflections too."""
    log = tx.audit.find(AuditFilter(subjects=(id,), actions=(Action.DELETE,)), order=Order(by="at"), limit=1).items
    return bool(log) and log[0].detail.get("stage") == STAGE


def _forget_traces(run: StageRun, place: _Place) -> None:
    if not place.purged:
        return

    def sweep(scope: Scope, job: Job, moment: datetime) -> None:
        run.store.sweep_blobs(scope, job.payload["digests"], moment)

    worker = Worker(run.store, {"sweep_blobs": sweep}, lambda: run.now, run.settings.jobs, name="forget")
    worker.settle(run.scope, run.settings.store.busy_seconds)
    run.store.forget_traces()
