"""Takes away what faded: softly, each record so that it is brought back by itself."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

from treering.core.history import Action
from treering.core.queries import AuditFilter, KnowledgeFilter, Order
from treering.core.records import Knowledge, RelationKind
from treering.jobs.stage import StageRun
from treering.knowledge.expiry import DOUBTED, LEARNED, UNUSED, past_half_life, why_faded
from treering.ports.store import Transaction

STAGE, FADED, STALE, HALF_LIFE = "forget", "faded", "stale", "half-life passed"
_HISTORY, _SPARED = "kept_as_history", "spared"
COUNTED = (UNUSED, DOUBTED, FADED, STALE, _HISTORY, _SPARED)
"""What may become of a record."""
_MOST = 1_000


def take_away(run: StageRun, records: Sequence[Knowledge]) -> Mapping[str, int]:
    """What became of those that faded, in one transaction; how many of each is returned.

    `unused` and `doubted` leave. What was learned is retired instead (`faded`): what was believed on a day is asked for
    long after it. What nobody used for one half-life is `stale`, until somebody does.
    """
    aging = {record.id for record in records if _is_aging(record, run)}
    if not aging:
        return {}
    with run.store.reading(run.scope, run.now) as tx:
        spared = _brought_back(tx, aging, run)
        kept = _superseded(tx, [record for record in records if record.id in aging - spared])
    missed = [record for record in records if record.id in spared and why_faded(record, run.now, run.settings)]
    counts = Counter({_HISTORY: len(kept), _SPARED: len(missed)})
    chosen = sorted(aging - spared - kept)
    if not chosen:
        return counts
    opened = run.store.reading if run.dry_run else run.store.transaction
    with opened(run.scope, run.now) as tx:
        if not run.dry_run:
            for id in chosen:
                tx.claim(f"record {id}")
        # Whoever held a claim may have used or confirmed the record.
        for match in tx.knowledge.readable(chosen):
            counts[_taken(run, tx.undo_unit(), match.value)] += 1
    del counts[""]
    return counts


def _is_aging(record: Knowledge, run: StageRun) -> bool:
    stale = record.stale_at is None and past_half_life(record, run.now)
    return stale or why_faded(record, run.now, run.settings) is not None


def _taken(run: StageRun, tx: Transaction, record: Knowledge) -> str:
    """What happened to it; empty where nothing did."""
    why = why_faded(record, run.now, run.settings)
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


def _brought_back(tx: Transaction, ids: Iterable[str], run: StageRun) -> frozenset[str]:
    """Those that somebody missed: an undo within the last grace."""
    since = run.now - timedelta(days=run.settings.forgetting.grace_days)
    undone = AuditFilter(subjects=tuple(ids), actions=(Action.UNDO,))
    log = tx.audit.find(undone, order=Order(by="at"), limit=_MOST).items
    return frozenset(entry.subject for entry in log if entry.at >= since)


def _superseded(tx: Transaction, records: Iterable[Knowledge]) -> frozenset[str]:
    """Those that held before something else: they stay to be asked for as long as that stands."""
    ended = frozenset(record.id for record in records if record.valid_until is not None)
    if not ended:
        return ended
    newer = tx.knowledge.find(KnowledgeFilter(related_to=tuple(ended)), limit=_MOST).items
    links = (relation for record in newer for relation in record.relations)
    return ended & frozenset(each.record for each in links if each.kind is RelationKind.SUPERSEDES and each.record)
