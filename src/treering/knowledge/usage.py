"""Usage as evidence: records that are used without being corrected gain confidence."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from treering.core.history import Action
from treering.core.records import Knowledge
from treering.core.scope import Scope
from treering.knowledge.relations import propagate, reachable
from treering.ports.store import Store, Transaction

USES_PER_GAIN = 5  # uses without a correction that count as evidence
USE_GAIN = 0.05  # what they add to the confidence
MAX_USE_CONFIDENCE = 0.95  # use alone goes no further: what is often repeated may still be wrong
USES_FOR_REVIEW = 10  # uses without a correction that replace a review

USED, USE_CORRECTED = "used", "use corrected"
"""Reasons in the audit log."""


def count_uses(scope: Scope, store: Store, now: datetime, ids: Iterable[str], *, corrected: bool) -> int:
    """Count one use of each record and return how many of them exist.

    After a number of uncorrected uses in a row the confidence rises, after more of them the review flag is removed.
    These changes are stored separately and can be undone. A corrected use resets the count.
    """
    counter = _UseCounter(scope, store, now)
    wanted = tuple(dict.fromkeys(map(str, ids)))

    def count(tx: Transaction) -> tuple[int, set[str]]:
        for id in sorted(wanted):
            tx.claim(f"record {id}")
        existing = [match.value for match in tx.knowledge.readable(wanted) if match.value.deleted_at is None]
        changing = {record.id for record in existing if corrected or _after_use(record) is not None}
        return 0 if corrected else tx.knowledge.count_use(id for id in wanted if id not in changing), changing

    counted, changing = store.write(scope, now, count)
    for id in sorted(changing):
        counted += counter.corrected(id) if corrected else counter.counted(id)
    return counted


def count_uses_in(tx: Transaction, ids: Iterable[str]) -> int:
    """Count one use of each record, with the changes that it earns, as part of a transaction; return how many exist.

    The changes of each record can be undone separately.
    """
    related = {id: reachable(tx, id) for id in dict.fromkeys(ids)}
    for each in sorted({*related, *(id for found in related.values() for id in found)}):
        tx.claim(f"record {each}")
    return sum(_count_one(tx.undo_unit(), id, found) for id, found in related.items())


def _count_one(tx: Transaction, id: str, related: Mapping[str, Knowledge]) -> int:
    counted = tx.knowledge.count_use((id,))
    record = tx.knowledge.get(id)
    if not counted or record is None:
        return 0
    raised = strengthened(record)
    if raised != record:
        tx.knowledge.update(raised, Action.UPDATE, {"reason": USED, "uses": record.uses})
        propagate(tx, id, raised.confidence - record.confidence, among=related)
    return 1


def strengthened(record: Knowledge) -> Knowledge:
    """The record with the confidence and review flag that its number of `uses` earns; often unchanged."""
    if record.flagged or record.deprecated_at is not None or record.uses == 0:
        return record
    is_proven, is_reviewed = record.uses % USES_PER_GAIN == 0, record.uses % USES_FOR_REVIEW == 0
    confidence = min(max(MAX_USE_CONFIDENCE, record.confidence), record.confidence + USE_GAIN)
    return record.replace(
        confidence=confidence if is_proven else record.confidence,
        needs_review=record.needs_review and not is_reviewed,
    )


def _after_use(record: Knowledge) -> Knowledge | None:
    """The record after one more use; None if only the count changes."""
    used = record.replace(uses=record.uses + 1)
    after = strengthened(used)
    return None if after == used else after


@dataclass(frozen=True, slots=True)
class _UseCounter:
    """Counts uses one record at a time, so that each change can be undone separately."""

    scope: Scope
    store: Store
    now: datetime

    def counted(self, id: str) -> int:
        """Count a use and store the change that it earns."""
        return self.store.write(self.scope, self.now, lambda tx: count_uses_in(tx, (id,)))

    def corrected(self, id: str) -> int:
        def reset(tx: Transaction) -> int:
            tx.claim(f"record {id}")
            record = tx.knowledge.get(id)
            if record is None or record.deleted_at is not None:
                return 0
            if record.uses:
                tx.knowledge.update(record.replace(uses=0), Action.UPDATE, {"reason": USE_CORRECTED})
            return 1

        return self.store.write(self.scope, self.now, reset)
