"""Keeps the cache small: what is alike is found and merged, what has no value is taken out of use."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from treering.core.history import Action
from treering.core.patterns import Pattern, PatternStatus
from treering.core.queries import PatternFilter
from treering.core.scope import Scope
from treering.core.settings.patterns import PatternSettings
from treering.patterns.evidence import parts_of, used_by
from treering.patterns.lifecycle import Cause
from treering.patterns.merge import merged
from treering.patterns.pruning import LowValue, low_value
from treering.patterns.similarity import Similar, similar
from treering.patterns.storage import begun, deprecated, stored_pattern
from treering.ports.clock import NewId
from treering.ports.patterns import PatternUse
from treering.ports.store import Store, Transaction

LIVING = (PatternStatus.CANDIDATE, PatternStatus.VALIDATED, PatternStatus.UNDER_REVIEW)


def similar_patterns(tx: Transaction, id: str, most: int) -> list[Similar]:
    known = stored_pattern(tx, id)
    others = tx.patterns.stream(PatternFilter(categories=(known.category,), statuses=LIVING))
    return similar(known, (each for each in others if each.id != id), most=most)


def merge_patterns(scope: Scope, store: Store, now: datetime, new_id: NewId, ids: Sequence[str]) -> Pattern:
    """One pattern in the place of several, with all their evidence; they are deprecated and name it."""
    with store.transaction(scope, now) as tx:
        known = [stored_pattern(tx, id) for id in dict.fromkeys(ids)]
        merge = merged(known, now, new_id())
        detail = {**begun(Cause.MERGE.value), "merged": tuple(each.id for each in known)}
        made = tx.patterns.create(merge.pattern.replace(status_since=now), Action.SUPERSEDE, detail)
        for before, after in zip(known, merge.superseded, strict=True):
            tx.patterns.update(
                after.replace(status_since=now, version=before.version), Action.SUPERSEDE, _merging(before, made)
            )
        return made


def _merging(before: Pattern, made: Pattern) -> dict[str, object]:
    return {
        "cause": Cause.MERGE.value,
        "from": before.status.value,
        "to": PatternStatus.DEPRECATED.value,
        "merged_into": made.id,
    }


def prune_patterns(
    scope: Scope, store: Store, now: datetime, settings: PatternSettings, *, dry_run: bool = False
) -> tuple[LowValue, ...]:
    """Deprecate what is weak, contradicted or long unused; what it would be, with the reasons, where `dry_run`."""
    with store.reading(scope, now) as tx:
        used = tx.applications.used()
        living = [_used(tx, each, used) for each in tx.patterns.stream(PatternFilter(statuses=LIVING))]
        found = tuple(low_value(living, now, settings))
    if dry_run or not found:
        return found
    with store.transaction(scope, now) as tx:
        return tuple(each for each in found if _retire(tx, each, now))


def _used(tx: Transaction, pattern: Pattern, used: Mapping[str, PatternUse]) -> Pattern:
    """As it is known to be used by now."""
    known = used_by({id for id, _ in parts_of(pattern, tx.patterns.get)}, used)
    return pattern if known is None else pattern.replace(last_used_at=known.last_at)


def _retire(tx: Transaction, low: LowValue, now: datetime) -> bool:
    """Whether it is as it was when it was found of low value, and is deprecated now."""
    known = tx.patterns.get(low.pattern.id)
    if known is None or known.version != low.pattern.version or known.status is not low.pattern.status:
        return False
    detail = {"cause": Cause.DEPRECATION.value, "from": known.status.value, "to": "DEPRECATED", "reason": low.why}
    tx.patterns.update(deprecated(known, now, low.why), Action.UPDATE, detail)
    return True
