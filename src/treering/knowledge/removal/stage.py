"""The forget stage: expires records, and purges deleted ones after the grace period."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from treering.core.confidence import is_stated
from treering.core.errors import NotFound
from treering.core.history import Action
from treering.core.observations import PROMOTION
from treering.core.queries import AuditFilter, EpisodeFilter, Filter, KnowledgeFilter, Order, TurnFilter
from treering.core.records import Knowledge
from treering.episodes.consolidation.dissolution import purge_representatives
from treering.jobs.record_pages import record_pages
from treering.jobs.stage import StageRun
from treering.knowledge.expiry import LEARNED, past_grace
from treering.knowledge.reflection.withdrawal import withdraw_source
from treering.knowledge.removal.finished_work import close_finished_work
from treering.knowledge.removal.soft_delete import OUTCOMES, STAGE, expire_records
from treering.knowledge.removal.traces import erase_traces
from treering.ports.collections import Removable
from treering.ports.store import Transaction

GRACE = "grace passed"
# Records changed in one transaction, which bounds how long other writers wait.
_BATCH = 100
V = TypeVar("V")


class _RunPosition(NamedTuple):
    """Position of a run: the step and the last record in it."""

    step: str
    after: str = ""

    def __str__(self) -> str:
        return f"{self.step} {self.after}"

    @classmethod
    def read(cls, cursor: str | None) -> "_RunPosition":
        step, _, after = (cursor or _STEPS[0]).partition(" ")
        return cls(step, after)


@dataclass(frozen=True, slots=True)
class _PurgedKind:
    """A kind whose deleted records are purged, and the name of its counter."""

    name: str
    counter: str
    where: Filter
    collection: Callable[[Transaction], Removable]


_PURGED_KINDS: Mapping[str, _PurgedKind] = {
    "knowledge": _PurgedKind("knowledge", "removed", KnowledgeFilter(deleted=True), lambda tx: tx.knowledge),
    "turns": _PurgedKind("turn", "turns_removed", TurnFilter(deleted=True), lambda tx: tx.turns),
    "episodes": _PurgedKind("episode", "episodes_removed", EpisodeFilter(deleted=True), lambda tx: tx.episodes),
}
_STEPS = ("close", "fade", *_PURGED_KINDS, "traces")


def forget_expired(run: StageRun) -> None:
    """One run: close finished work, expire records, purge those past the grace period, and erase their traces.

    Every removal is logged with its reason. `undo` restores an expired record during the grace period, and a restored
    record is spared for another one. Learned records are retired instead and never purged.
    """
    position = _RunPosition.read(run.cursor)
    for step in _STEPS[_STEPS.index(position.step) :]:
        position = position if step == position.step else _RunPosition(step)
        if step == "close":
            run.progress.advance(str(position), 0, closed=close_finished_work(run))
        elif step == "fade":
            _expire_all(run, position)
        elif step == "traces":
            run.progress.advance(str(position), 0, **erase_traces(run))
        else:
            _purge(run, position, _PURGED_KINDS[step])
    run.progress.advance(None, 0)


def _expire_all(run: StageRun, position: _RunPosition) -> None:
    """Expire current records; retired ones are history and not read."""
    run.progress.advance(str(position), 0, **dict.fromkeys((*OUTCOMES, "unreadable"), 0))
    for page in record_pages(run, "knowledge", KnowledgeFilter(deprecated=False), position.after):
        counts: Counter[str] = Counter(unreadable=page.unreadable)
        for batch in _batches(page.records):
            counts.update(expire_records(run, batch))
        run.progress.advance(str(position._replace(after=page.last)), len(page.ids), **counts)


def _purge(run: StageRun, position: _RunPosition, kind: _PurgedKind) -> None:
    run.progress.advance(str(position), 0, **{kind.counter: 0})
    for page in record_pages(run, kind.name, kind.where, position.after):
        stated = [record for record in page.records if isinstance(record, Knowledge) and is_stated(record)]
        restored = [id for batch in _batches(stated) for id in _restore_some(run, batch)]
        due = [record for record in page.records if _is_due(record, run) and record.id not in restored]
        purged = sum(_purge_some(run, kind, batch) for batch in _batches(due))
        counts = {kind.counter: purged, "restored": len(restored), "unreadable": page.unreadable}
        run.progress.advance(str(position._replace(after=page.last)), len(page.ids), **counts)


def _batches(records: Sequence[V]) -> Iterator[Sequence[V]]:
    return (records[start : start + _BATCH] for start in range(0, len(records), _BATCH))


def _is_due(record: Any, run: StageRun) -> bool:
    verified = getattr(record, "user_verified", False)
    return not verified and past_grace(record.deleted_at, run.now, run.settings)


def _restore_some(run: StageRun, stated: Sequence[Knowledge]) -> Sequence[str]:
    """Restore stated records that earlier versions of this stage deleted by age; return their ids."""
    with run.store.reading(run.scope, run.now) as tx:
        expired = sorted(record.id for record in stated if _was_expired(tx, record.id))
    if expired and not run.dry_run:
        with run.store.transaction(run.scope, run.now) as tx:
            for id in expired:
                tx.claim(f"record {id}")
                if not tx.knowledge.holds(id) and tx.knowledge.holds(id, deleted=True):
                    tx.undo_unit().knowledge.restore(id)
    return expired


def _purge_some(run: StageRun, kind: _PurgedKind, due: Sequence[Any]) -> int:
    """Purge a batch in one transaction and return the number of purged records."""
    opened = run.store.reading if run.dry_run else run.store.transaction
    with opened(run.scope, run.now) as tx:
        if not run.dry_run:
            tx.claim(PROMOTION)
            for record in sorted(due, key=lambda each: each.id):
                tx.claim(f"record {record.id}")
        return sum(_purge_one(run, tx, kind, record) for record in due)


def _purge_one(run: StageRun, tx: Transaction, kind: _PurgedKind, record: Any) -> bool:
    collection, expired = kind.collection(tx), _was_expired(tx, record.id)
    # It may have been restored or purged meanwhile.
    if (
        collection.holds(record.id)
        or not collection.holds(record.id, deleted=True)
        or (expired and _is_history(record))
    ):
        return False
    if run.dry_run:
        return True
    try:
        if not expired:
            withdraw_source(tx, record.id, run.new_id)
        if kind.name == "episode":
            purge_representatives(
                tx, record.id, run.settings.episodes, lambda each: withdraw_source(tx, each, run.new_id)
            )
        collection.purge(record.id, {"reason": GRACE, "stage": STAGE})
    except NotFound:
        return False
    return True


def _is_history(record: Any) -> bool:
    """Whether the record is learned or retired; earlier versions of this stage deleted such records on expiry."""
    return isinstance(record, Knowledge) and (record.source in LEARNED or record.deprecated_at is not None)


def _was_expired(tx: Transaction, id: str) -> bool:
    """Whether this stage deleted the record, rather than a person, whose deletions also apply to reflections."""
    log = tx.audit.find(AuditFilter(subjects=(id,), actions=(Action.DELETE,)), order=Order(by="at"), limit=1).items
    return bool(log) and log[0].detail.get("stage") == STAGE
