"""Finds and merges similar patterns, and prunes patterns of low value."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from treering.core.history import Action
from treering.core.patterns import Pattern, PatternStatus
from treering.core.queries import PatternFilter
from treering.core.scope import Scope
from treering.core.settings.patterns import PatternSettings
from treering.patterns.evidence import evidence_parts, total_usage
from treering.patterns.lifecycle import Cause
from treering.patterns.merge import merged
from treering.patterns.pruning import LowValuePattern, low_value_patterns
from treering.patterns.similarity import SimilarPattern, most_similar
from treering.patterns.storage import creation_detail, deprecated, stored_pattern
from treering.ports.clock import NewId
from treering.ports.patterns import PatternUse
from treering.ports.store import Store, Transaction

ACTIVE = (PatternStatus.CANDIDATE, PatternStatus.VALIDATED, PatternStatus.UNDER_REVIEW)


def similar_patterns(tx: Transaction, id: str, settings: PatternSettings, limit: int) -> list[SimilarPattern]:
    known = stored_pattern(tx, id)
    others = tx.patterns.stream(PatternFilter(categories=(known.category,), statuses=ACTIVE))
    return most_similar(known, (each for each in others if each.id != id), settings, limit=limit)


def merge_patterns(scope: Scope, store: Store, now: datetime, new_id: NewId, ids: Sequence[str]) -> Pattern:
    """Replace several patterns by one with all their evidence; they are deprecated and name it."""
    with store.transaction(scope, now) as tx:
        known = [stored_pattern(tx, id) for id in dict.fromkeys(ids)]
        merge = merged(known, now, new_id())
        detail = {**creation_detail(Cause.MERGE.value), "merged": tuple(each.id for each in known)}
        created = tx.patterns.create(merge.pattern.replace(status_since=now), Action.SUPERSEDE, detail)
        for before, after in zip(known, merge.superseded, strict=True):
            tx.patterns.update(
                after.replace(status_since=now, version=before.version),
                Action.SUPERSEDE,
                _merge_detail(before, created),
            )
        return created


def _merge_detail(before: Pattern, merged: Pattern) -> dict[str, object]:
    return {
        "cause": Cause.MERGE.value,
        "from": before.status.value,
        "to": PatternStatus.DEPRECATED.value,
        "merged_into": merged.id,
    }


def prune_patterns(
    scope: Scope, store: Store, now: datetime, settings: PatternSettings, *, dry_run: bool = False
) -> tuple[LowValuePattern, ...]:
    """Deprecate weak, contradicted and long unused patterns, unless `dry_run`; returns them with the reasons."""
    with store.reading(scope, now) as tx:
        used = tx.applications.used()
        active = [_with_last_use(tx, each, used) for each in tx.patterns.stream(PatternFilter(statuses=ACTIVE))]
        found = tuple(low_value_patterns(active, now, settings))
    if dry_run or not found:
        return found
    with store.transaction(scope, now) as tx:
        return tuple(each for each in found if _deprecate(tx, each, now))


def _with_last_use(tx: Transaction, pattern: Pattern, used: Mapping[str, PatternUse]) -> Pattern:
    known = total_usage({id for id, _ in evidence_parts(pattern, tx.patterns.get)}, used)
    return pattern if known is None else pattern.replace(last_used_at=known.last_at)


def _deprecate(tx: Transaction, low: LowValuePattern, now: datetime) -> bool:
    """Deprecate the pattern unless it has changed since it was read; returns whether it was deprecated."""
    known = tx.patterns.get(low.pattern.id)
    if known is None or known.version != low.pattern.version or known.status is not low.pattern.status:
        return False
    detail = {"cause": Cause.DEPRECATION.value, "from": known.status.value, "to": "DEPRECATED", "reason": low.why}
    tx.patterns.update(deprecated(known, now, low.why), Action.UPDATE, detail)
    return True
