"""Deletes or retires expired records, each as a change that can be undone separately."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

from treering.core.history import Action
from treering.core.queries import AuditFilter, KnowledgeFilter, Order
from treering.core.records import Knowledge, RelationKind
from treering.jobs.stage import StageRun
from treering.knowledge.expiry import DOUBTED, LEARNED, UNUSED, expiry_reason, past_half_life
from treering.ports.store import Transaction

STAGE, FADED, STALE, HALF_LIFE = "forget", "faded", "stale", "half-life passed"
_HISTORY, _SPARED = "kept_as_history", "spared"
OUTCOMES = (UNUSED, DOUBTED, FADED, STALE, _HISTORY, _SPARED)
"""Counters of the possible outcomes."""
_MAX_ROWS = 1_000


def expire_records(run: StageRun, records: Sequence[Knowledge]) -> Mapping[str, int]:
    """Handle expired and aging records in one transaction and return the counts by outcome.

    `unused` and `doubted` records are deleted. Learned ones are retired instead (`faded`), so that searches as of an
    earlier day still find them. Records unused for one half-life become `stale` until their next use.
    """
    aging = {record.id for record in records if _is_aging(record, run)}
    if not aging:
        return {}
    with run.store.reading(run.scope, run.now) as tx:
        spared = _restored(tx, aging, run)
        history = _superseded(tx, [record for record in records if record.id in aging - spared])
    missed = [record for record in records if record.id in spared and expiry_reason(record, run.now, run.settings)]
    counts = Counter({_HISTORY: len(history), _SPARED: len(missed)})
    chosen = sorted(aging - spared - history)
    if not chosen:
        return counts
    opened = run.store.reading if run.dry_run else run.store.transaction
    with opened(run.scope, run.now) as tx:
        if not run.dry_run:
            for id in chosen:
                tx.claim(f"record {id}")
        # Another transaction may have used or confirmed the record before the claim was granted.
        for match in tx.knowledge.readable(chosen):
            counts[_expire(run, tx.undo_unit(), match.value)] += 1
    del counts[""]
    return counts


def _is_aging(record: Knowledge, run: StageRun) -> bool:
    stale = record.stale_at is None and past_half_life(record, run.now)
    return stale or expiry_reason(record, run.now, run.settings) is not None


def _expire(run: StageRun, tx: Transaction, record: Knowledge) -> str:
    """The outcome for one record; empty if nothing changed."""
    why = expiry_reason(record, run.now, run.settings)
    if record.deprecated_at is not None or not _is_aging(record, run):
        return ""
    if why is None:
        if not run.dry_run:
            detail = {"reason": HALF_LIFE, "stage": STAGE}
            tx.knowledge.update(record.replace(stale_at=run.now), Action.UPDATE, detail)
        return STALE
    if record.source in LEARNED:
        if not run.dry_run:
            retired = record.replace(deprecated_at=run.now, stale_at=run.now)
            tx.knowledge.update(retired, Action.UPDATE, {"reason": why, "stage": STAGE, FADED: True})
        return FADED
    if not run.dry_run:
        tx.knowledge.delete(record.id, {"reason": why, "stage": STAGE})
    return why


def _restored(tx: Transaction, ids: Iterable[str], run: StageRun) -> frozenset[str]:
    """Ids of records that were restored within the grace period."""
    since = run.now - timedelta(days=run.settings.forgetting.grace_days)
    undone = AuditFilter(subjects=tuple(ids), actions=(Action.UNDO,))
    log = tx.audit.find(undone, order=Order(by="at"), limit=_MAX_ROWS).items
    return frozenset(entry.subject for entry in log if entry.at >= since)


def _superseded(tx: Transaction, records: Iterable[Knowledge]) -> frozenset[str]:
    """Ids of records with an end of validity that a current record supersedes; they are kept as history."""
    ended = frozenset(record.id for record in records if record.valid_until is not None)
    if not ended:
        return ended
    newer = tx.knowledge.find(KnowledgeFilter(related_to=tuple(ended)), limit=_MAX_ROWS).items
    links = (relation for record in newer for relation in record.relations)
    return ended & frozenset(each.record for each in links if each.kind is RelationKind.SUPERSEDES and each.record)
