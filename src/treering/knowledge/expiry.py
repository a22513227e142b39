"""Expiry of inferred records that were not used for long or lost their confidence."""

from datetime import datetime, timedelta

from treering.core.confidence import effective_confidence, half_life_days, is_stated
from treering.core.records import Knowledge, Source
from treering.core.settings import Settings

UNUSED, DOUBTED = "unused", "doubted"
LEARNED = frozenset({Source.CONSOLIDATION, Source.OBSERVER_INFERRED})
"""Sources of learned records, which are retired on expiry instead of being deleted."""
_DAY = timedelta(days=1)


def expiry_reason(record: Knowledge, now: datetime, settings: Settings) -> str | None:
    """`unused`: several half-lives passed since the last use. `doubted`: the confidence is close to zero. Else None.

    Only inferred and learned records expire; stated, confirmed and pinned ones never do. A type without a half-life
    does not expire by age.
    """
    if is_stated(record) or record.deleted_at is not None:
        return None
    half_life = half_life_days(record)
    age = (now - record.last_accessed_at) / _DAY
    if half_life is not None and age > settings.forgetting.half_lives * half_life:
        return UNUSED
    return DOUBTED if effective_confidence(record, now, settings.trust) < settings.forgetting.least else None


def past_half_life(record: Knowledge, now: datetime) -> bool:
    """Whether a half-life passed since the last use of an inferred record, so that it may be out of date."""
    half_life = half_life_days(record)
    if is_stated(record) or record.deleted_at is not None or half_life is None:
        return False
    return now - record.last_accessed_at > half_life * _DAY


def was_retired_on_expiry(record: Knowledge) -> bool:
    """Whether a learned record was retired on expiry rather than corrected; it may be learned again."""
    return record.deprecated_at is not None and record.deprecated_at == record.stale_at


def past_grace(deleted_at: datetime | None, now: datetime, settings: Settings) -> bool:
    """Whether the grace period for restoring a deleted record is over."""
    return deleted_at is not None and now - deleted_at > settings.forgetting.grace_days * _DAY
