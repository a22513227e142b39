"""What is used and not corrected proves itself; what is only shown does not."""

from collections.abc import Iterable
from datetime import datetime

from treering.core.history import Action
from treering.core.records import Knowledge
from treering.core.scope import Scope
from treering.core.settings import Settings, UseSettings
from treering.learn.relations import propagate, reachable
from treering.ports.store import Store

USED, USE_CORRECTED = "used", "use corrected"
"""Why a record changed, as the audit log has it."""


def count_uses(
    scope: Scope, store: Store, now: datetime, ids: Iterable[str], *, corrected: bool, settings: Settings
) -> int:
    """Count one use of each record, all in one transaction; how many of them are here is returned.

    Every fifth use in a row that nobody corrected adds to the confidence, the tenth takes the review flag away. These
    are changes, each by itself, and can be undone. A corrected use begins the count anew.
    """
    wanted = tuple(dict.fromkeys(map(str, ids)))
    with store.transaction(scope, now) as tx:
        for id in sorted(wanted):
            tx.claim(f"record {id}")
        counted = 0 if corrected else tx.knowledge.count_use(wanted)
        used = [each for each in tx.knowledge.get_many(wanted).values() if each.deleted_at is None]
    for record in used:
        after = _begun_anew(record) if corrected else strengthened(record, settings.use)
        if after != record:
            _change(scope, store, now, record, after, corrected=corrected, settings=settings)
    return len(used) if corrected else counted


def strengthened(record: Knowledge, settings: UseSettings) -> Knowledge:
    """The record after a use that brought it to `access_count` uses; the same where they prove nothing new."""
    if record.flagged or record.deprecated_at is not None or record.access_count == 0:
        return record
    proven = record.access_count % settings.uses == 0
    raised = min(max(settings.ceiling, record.confidence), record.confidence + settings.gain)
    return record.replace(
        confidence=raised if proven else record.confidence,
        needs_review=record.needs_review and record.access_count < settings.uses_for_review,
    )


def _begun_anew(record: Knowledge) -> Knowledge:
    return record.replace(access_count=0)


def _change(
    scope: Scope,
    store: Store,
    now: datetime,
    before: Knowledge,
    after: Knowledge,
    *,
    corrected: bool,
    settings: Settings,
) -> None:
    """One record, unless somebody changed it meanwhile: then what it proved is out of date."""
    change = after.confidence - before.confidence
    with store.transaction(scope, now) as tx:
        near = reachable(tx, before.id, settings.relations) if abs(change) > settings.relations.least else {}
        for id in sorted({before.id, *near}):
            tx.claim(f"record {id}")
        current = tx.knowledge.get(before.id)
        if current is None or current.version != before.version or current.deleted_at is not None:
            return
        if corrected:
            tx.knowledge.update(_begun_anew(current), Action.UPDATE, {"reason": USE_CORRECTED})
            return
        proven = current.replace(confidence=after.confidence, needs_review=after.needs_review)
        tx.knowledge.update(proven, Action.REINFORCE, {"reason": USED, "uses": before.access_count})
        if near:
            propagate(tx, before.id, change, settings.relations, among=near)
