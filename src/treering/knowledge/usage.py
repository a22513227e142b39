"""What is used and not corrected proves itself; what is only shown does not."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from treering.core.history import Action
from treering.core.records import Knowledge
from treering.core.scope import Scope
from treering.knowledge.relations import propagate, reachable
from treering.ports.store import Store, Transaction

USES_PER_GAIN = 5  # so many uses without a correction are evidence
USE_GAIN = 0.05  # what they add to the confidence
MAX_USE_CONFIDENCE = 0.95  # use alone goes no further: what is often repeated may still be wrong
USES_FOR_REVIEW = 10  # so many uses without a correction replace a review

USED, USE_CORRECTED = "used", "use corrected"
"""Why a record changed, as the audit log has it."""


def count_uses(scope: Scope, store: Store, now: datetime, ids: Iterable[str], *, corrected: bool) -> int:
    """Count one use of each record; how many of them are here is returned.

    Every fifth use in a row that nobody corrected adds to the confidence, the tenth takes the review flag away. These
    are changes, stored with the use that brought them, each by itself, and can be undone. A corrected use begins the
    count anew.
    """
    using = _Using(scope, store, now)
    wanted = tuple(dict.fromkeys(map(str, ids)))

    def count(tx: Transaction) -> tuple[int, set[str]]:
        for id in sorted(wanted):
            tx.claim(f"record {id}")
        here = [match.value for match in tx.knowledge.readable(wanted) if match.value.deleted_at is None]
        telling = {record.id for record in here if corrected or _after_use(record) is not None}
        return 0 if corrected else tx.knowledge.count_use(id for id in wanted if id not in telling), telling

    counted, telling = store.write(scope, now, count)
    for id in sorted(telling):
        counted += using.corrected(id) if corrected else using.counted(id)
    return counted


def strengthened(record: Knowledge) -> Knowledge:
    """The record after a use that brought it to so many `uses` in a row; the same where they prove nothing new."""
    if record.flagged or record.deprecated_at is not None or record.uses == 0:
        return record
    proven, reviewed = record.uses % USES_PER_GAIN == 0, record.uses % USES_FOR_REVIEW == 0
    raised = min(max(MAX_USE_CONFIDENCE, record.confidence), record.confidence + USE_GAIN)
    return record.replace(
        confidence=raised if proven else record.confidence,
        needs_review=record.needs_review and not reviewed,
    )


def _after_use(record: Knowledge) -> Knowledge | None:
    """What one more use would make of it; None where it would only be counted."""
    used = record.replace(uses=record.uses + 1)
    after = strengthened(used)
    return None if after == used else after


@dataclass(frozen=True, slots=True)
class _Using:
    """One record at a time, so that each change is undone by itself."""

    scope: Scope
    store: Store
    now: datetime

    def counted(self, id: str) -> int:
        """Count the use together with what it proves, as the record stands by now."""

        def count(tx: Transaction) -> int:
            near = reachable(tx, id)
            for each in sorted({id, *near}):
                tx.claim(f"record {each}")
            counted = tx.knowledge.count_use((id,))
            record = tx.knowledge.get(id)
            if not counted or record is None:
                return 0
            proven = strengthened(record)
            if proven != record:
                tx.knowledge.update(proven, Action.UPDATE, {"reason": USED, "uses": record.uses})
                propagate(tx, id, proven.confidence - record.confidence, among=near)
            return 1

        return self.store.write(self.scope, self.now, count)

    def corrected(self, id: str) -> int:
        def begin_anew(tx: Transaction) -> int:
            tx.claim(f"record {id}")
            record = tx.knowledge.get(id)
            if record is None or record.deleted_at is not None:
                return 0
            if record.uses:
                tx.knowledge.update(record.replace(uses=0), Action.UPDATE, {"reason": USE_CORRECTED})
            return 1

        return self.store.write(self.scope, self.now, begin_anew)
