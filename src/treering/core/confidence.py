"""How far a record is to be trusted now: worked out each time it is asked, never written back."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from math import log1p, prod
from types import MappingProxyType

from treering.core.payloads import knowledge_types
from treering.core.records import Knowledge, Source
from treering.core.settings import TrustSettings

_DAY = timedelta(days=1)
# Past this many uses another one says nothing new.
_WELL_USED = 100

SOURCE_TRUST: Mapping[Source, float] = MappingProxyType(
    {
        Source.USER_TAUGHT: 1.4,
        Source.AGENT_EXPLICIT: 1.2,
        Source.QA_AUTO: 1.1,
        Source.MCP_AUTO: 1.0,
        Source.COMMIT_AUTO: 1.0,
        Source.CONSOLIDATION: 1.0,
        Source.OBSERVER_INFERRED: 0.85,
    }
)
"""How much more (or less) a record counts because of who says so."""


def effective_confidence(record: Knowledge, now: datetime, settings: TrustSettings) -> float:
    """The stored confidence, faded since the last access and lowered by every open doubt; never above the stored one.

    It falls as `now` goes on, and is the same however often it is asked. What is pinned or confirmed does not fade,
    nor does a type without a half-life or one that this process does not know.
    """
    half_life = half_life_days(record)
    faded = 1.0 if half_life is None else recency(record.last_accessed_at, now, half_life)
    return record.confidence * faded * prod(_doubts(record, now, settings))


def half_life_days(record: Knowledge) -> float | None:
    """After how many days without use the record's confidence halves; None: never."""
    if record.pinned or record.user_verified:
        return None
    if record.half_life_days is not None:
        return record.half_life_days
    kind = knowledge_types().get(record.type)
    return kind.half_life_days if kind else None


def recency(moment: datetime, now: datetime, half_life_days: float) -> float:
    """1 at `moment` and before it, half as much after each half-life."""
    days = max(0.0, (now - moment) / _DAY)
    return float(0.5 ** (days / half_life_days))


def frequency(access_count: int) -> float:
    """0 for what was never used, 1 from a hundred uses on; the first uses count most."""
    return min(1.0, log1p(access_count) / log1p(_WELL_USED))


def _doubts(record: Knowledge, now: datetime, settings: TrustSettings) -> Iterator[float]:
    """What each open doubt leaves of the confidence. A person's word lifts the doubt about where a record came from."""
    open_doubts = (
        (_has_passed(record.stale_at, now), settings.stale_factor),
        (_has_passed(record.valid_until, now), settings.expired_factor),
        (record.needs_review, settings.review_factor),
        (record.tainted and not record.user_verified, settings.tainted_factor),
    )
    return (factor for is_open, factor in open_doubts if is_open)


def _has_passed(moment: datetime | None, now: datetime) -> bool:
    return moment is not None and moment <= now
