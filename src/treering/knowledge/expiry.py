"""Whether a record has faded: nobody used it for so long, or it is trusted so little, that nobody would miss it."""

from datetime import datetime, timedelta

from treering.core.confidence import effective_confidence, half_life_days, is_stated
from treering.core.records import Knowledge, Source
from treering.core.settings import Settings

UNUSED, DOUBTED = "unused", "doubted"
LEARNED = frozenset({Source.CONSOLIDATION, Source.OBSERVER_INFERRED})
"""Where what was read in conversations comes from: it is retired when it fades, and stays to be asked for."""
_DAY = timedelta(days=1)


def is_faded(record: Knowledge, now: datetime, settings: Settings) -> bool:
    """Whether it may be taken away: see `why_faded`."""
    return why_faded(record, now, settings) is not None


def why_faded(record: Knowledge, now: datetime, settings: Settings) -> str | None:
    """`unused`: three half-lives passed since its last use. `doubted`: hardly anything is left of its confidence.

    Only what was inferred or learned fades. What somebody stated, confirmed or pinned never does, whatever is held
    against it. A type without a half-life does not fade by age, but may be doubted away.
    """
    if is_stated(record) or record.deleted_at is not None:
        return None
    half_life = half_life_days(record)
    age = (now - record.last_accessed_at) / _DAY
    if half_life is not None and age > settings.forgetting.half_lives * half_life:
        return UNUSED
    return DOUBTED if effective_confidence(record, now, settings.trust) < settings.forgetting.least else None


def past_half_life(record: Knowledge, now: datetime) -> bool:
    """Whether nobody used it for as long as it takes its confidence to halve: what it says may be out of date.

    What somebody stated does not become stale by its age.
    """
    half_life = half_life_days(record)
    if is_stated(record) or record.deleted_at is not None or half_life is None:
        return False
    return now - record.last_accessed_at > half_life * _DAY


def has_faded(record: Knowledge) -> bool:
    """Whether a learned record was retired because it faded. Nobody refused it: it may be learned again."""
    return record.deprecated_at is not None and record.deprecated_at == record.stale_at


def past_grace(deleted_at: datetime | None, now: datetime, settings: Settings) -> bool:
    """Whether what was taken away then can no longer be brought back."""
    return deleted_at is not None and now - deleted_at > settings.forgetting.grace_days * _DAY
