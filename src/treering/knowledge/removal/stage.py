"""Takes away what faded; after the grace removes for good what was taken away, by this stage or by a person."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from treering.core.confidence import is_stated
from treering.core.errors import NotFound
from treering.core.history import Action
from treering.core.queries import AuditFilter, EpisodeFilter, Filter, KnowledgeFilter, Order, TurnFilter
from treering.core.records import Knowledge
from treering.episodes.consolidation.dissolution import purge_representatives
from treering.jobs.record_pages import record_pages
from treering.jobs.stage import StageRun
from treering.knowledge.expiry import LEARNED, past_grace
from treering.knowledge.reflection.withdrawal import withdraw
from treering.knowledge.removal.finished_work import close_finished_work
from treering.knowledge.removal.soft_delete import COUNTED, STAGE, take_away
from treering.knowledge.removal.traces import erase_traces
from treering.ports.collections import Removable
from treering.ports.store import Transaction

GRACE = "grace passed"
# Records that one transaction changes: others wait for no longer than that takes.
_TOGETHER = 100
V = TypeVar("V")


class _Place(NamedTuple):
    """How far a run came: which step, and after which record in it."""

    step: str
    after: str = ""

    def __str__(self) -> str:
        return f"{self.step} {self.after}"

    @classmethod
    def read(cls, cursor: str | None) -> "_Place":
        step, _, after = (cursor or _STEPS[0]).partition(" ")
        return cls(step, after)


@dataclass(frozen=True, slots=True)
class _Aged:
    """A kind whose soft-deleted records are removed for good, and how they are counted."""

    kind: str
    counted: str
    where: Filter
    collection: Callable[[Transaction], Removable]


_AGED: Mapping[str, _Aged] = {
    "knowledge": _Aged("knowledge", "removed", KnowledgeFilter(deleted=True), lambda tx: tx.knowledge),
    "turns": _Aged("turn", "turns_removed", TurnFilter(deleted=True), lambda tx: tx.turns),
    "episodes": _Aged("episode", "episodes_removed", EpisodeFilter(deleted=True), lambda tx: tx.episodes),
}
_STEPS = ("close", "fade", *_AGED, "traces")


def forget_faded(run: StageRun) -> None:
    """One run: close finished work, take away what faded, remove what is past its grace, leave no trace of that.

    Every removal is in the audit log with its reason. What it took away, `undo` brings back until the grace is over,
    and then it is spared for another. What was learned is retired instead, and never removed: it stays to be asked for.
    """
    place = _Place.read(run.cursor)
    for step in _STEPS[_STEPS.index(place.step) :]:
        place = place if step == place.step else _Place(step)
        if step == "close":
            run.progress.advance(str(place), 0, closed=close_finished_work(run))
        elif step == "fade":
            _fade(run, place)
        elif step == "traces":
            run.progress.advance(str(place), 0, **erase_traces(run))
        else:
            _purge(run, place, _AGED[step])
    run.progress.advance(None, 0)


def _fade(run: StageRun, place: _Place) -> None:
    """What is retired already is history: it is not even looked at."""
    run.progress.advance(str(place), 0, **dict.fromkeys((*COUNTED, "unreadable"), 0))
    for page in record_pages(run, "knowledge", KnowledgeFilter(deprecated=False), place.after):
        counts: Counter[str] = Counter(unreadable=page.unreadable)
        for batch in _batches(page.records):
            counts.update(take_away(run, batch))
        run.progress.advance(str(place._replace(after=page.last)), len(page.ids), **counts)


def _purge(run: StageRun, place: _Place, aged: _Aged) -> None:
    run.progress.advance(str(place), 0, **{aged.counted: 0})
    for page in record_pages(run, aged.kind, aged.where, place.after):
        stated = [record for record in page.records if isinstance(record, Knowledge) and is_stated(record)]
        restored = [id for batch in _batches(stated) for id in _restore_some(run, batch)]
        due = [record for record in page.records if _is_due(record, run) and record.id not in restored]
        purged = sum(_purge_some(run, aged, batch) for batch in _batches(due))
        counts = {aged.counted: purged, "restored": len(restored), "unreadable": page.unreadable}
        run.progress.advance(str(place._replace(after=page.last)), len(page.ids), **counts)


def _batches(records: Sequence[V]) -> Iterator[Sequence[V]]:
    return (records[start : start + _TOGETHER] for start in range(0, len(records), _TOGETHER))


def _is_due(record: Any, run: StageRun) -> bool:
    verified = getattr(record, "user_verified", False)
    return not verified and past_grace(record.deleted_at, run.now, run.settings)


def _restore_some(run: StageRun, stated: Sequence[Knowledge]) -> Sequence[str]:
    """Bring back what earlier versions took away by its age although somebody stated it; their ids are returned."""
    with run.store.reading(run.scope, run.now) as tx:
        faded = sorted(record.id for record in stated if _was_faded(tx, record.id))
    if faded and not run.dry_run:
        with run.store.transaction(run.scope, run.now) as tx:
            for id in faded:
                tx.claim(f"record {id}")
                if not tx.knowledge.holds(id) and tx.knowledge.holds(id, deleted=True):
                    tx.undo_unit().knowledge.restore(id)
    return faded


def _purge_some(run: StageRun, aged: _Aged, due: Sequence[Any]) -> int:
    """All or none: a crash in between leaves nothing half removed."""
    opened = run.store.reading if run.dry_run else run.store.transaction
    with opened(run.scope, run.now) as tx:
        if not run.dry_run:
            for record in sorted(due, key=lambda each: each.id):
                tx.claim(f"record {record.id}")
        return sum(_purge_one(run, tx, aged, record) for record in due)


def _purge_one(run: StageRun, tx: Transaction, aged: _Aged, record: Any) -> bool:
    collection, faded = aged.collection(tx), _was_faded(tx, record.id)
    # Somebody may have brought it back, or removed it, meanwhile.
    if collection.holds(record.id) or not collection.holds(record.id, deleted=True) or (faded and _is_history(record)):
        return False
    if run.dry_run:
        return True
    try:
        if not faded:
            withdraw(tx, record.id, run.new_id)
        if aged.kind == "episode":
            purge_representatives(tx, record.id, run.settings.episodes, lambda each: withdraw(tx, each, run.new_id))
        collection.purge(record.id, {"reason": GRACE, "stage": STAGE})
    except NotFound:
        return False
    return True


def _is_history(record: Any) -> bool:
    """What was learned or believed before; earlier versions took it away softly when it faded."""
    return isinstance(record, Knowledge) and (record.source in LEARNED or record.deprecated_at is not None)


def _was_faded(tx: Transaction, id: str) -> bool:
    """Whether this stage took it away; what a person forgot is forgotten in reflections too."""
    log = tx.audit.find(AuditFilter(subjects=(id,), actions=(Action.DELETE,)), order=Order(by="at"), limit=1).items
    return bool(log) and log[0].detail.get("stage") == STAGE
