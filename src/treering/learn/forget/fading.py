"""Whether a record has faded: nobody used it for so long, or it is trusted so little, that nobody would miss it."""

from datetime import datetime, timedelta

from treering.core.confidence import effective_confidence, half_life_days
from treering.core.records import Knowledge
from treering.core.settings import Settings

UNUSED, DOUBTED = "unused", "doubted"
_DAY = timedelta(days=1)


def is_faded(record: Knowledge, now: datetime, settings: Settings) -> bool:
    """Whether it may be taken away: see `why_faded`."""
    return why_faded(record, now, settings) is not None


def why_faded(record: Knowledge, now: datetime, settings: Settings) -> str | None:
    """`unused`: three half-lives passed since its last use. `doubted`: hardly anything is left of its confidence.

    What a person pinned or confirmed never fades, whatever is held against it. A type without a half-life does not
    fade by age, but may be doubted away.
    """
    if record.pinned or record.user_verified or record.deleted_at is not None:
        return None
    half_life = half_life_days(record)
    age = (now - record.last_accessed_at) / _DAY
    if half_life is not None and age > settings.forgetting.half_lives * half_life:
        return UNUSED
    return DOUBTED if effective_confidence(record, now, settings.trust) < settings.forgetting.least else None


def past_grace(deleted_at: datetime | None, now: datetime, settings: Settings) -> bool:
    """Whether what was taken away then can no longer be brought back."""
    return deleted_at is not None and now - deleted_at > settings.forgetting.grace_days * _DAY
