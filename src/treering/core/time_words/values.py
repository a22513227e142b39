"""Meaning of the time expressions of a query."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from treering.core.queries import TimeRange
from treering.core.timestamps import timestamp_of

# An event is discussed for some days around the time it was recorded.
AROUND = timedelta(days=3)


class TimeKind(StrEnum):
    """FILTER excludes records outside the spans. BOOST prefers records inside, because the date may be the event's."""

    FILTER = "filter"
    BOOST = "boost"


class TimeDirection(StrEnum):
    BEFORE = "before"
    AFTER = "after"
    WITHIN = "within"


class TimeOrder(StrEnum):
    NEWEST = "newest"
    OLDEST = "oldest"


class TimeRelation(StrEnum):
    BEFORE = "before"
    AFTER = "after"
    DURING = "during"


@dataclass(frozen=True, slots=True)
class Anchor:
    """A time given by an event, whose date is that of the best hit for `phrase`."""

    relation: TimeRelation
    phrase: str


@dataclass(frozen=True, slots=True)
class TimeWords:
    """Time expressions of a query. One of `spans` is enough; `kind` is FILTER only if all are explicit bounds."""

    spans: tuple[TimeRange, ...] = ()
    kind: TimeKind = TimeKind.BOOST
    anchors: tuple[Anchor, ...] = ()
    order: TimeOrder | None = None
    phrases: tuple[str, ...] = ()

    @property
    def phrase(self) -> str:
        """The matched words of the query."""
        return ", ".join(self.phrases)

    @property
    def direction(self) -> TimeDirection | None:
        """BEFORE or AFTER a time, or WITHIN two; None without spans."""
        if not self.spans:
            return None
        if all(span.since is None for span in self.spans):
            return TimeDirection.BEFORE
        return TimeDirection.AFTER if all(span.before is None for span in self.spans) else TimeDirection.WITHIN


def resolve_anchor(anchor: Anchor, at: datetime) -> TimeRange:
    """The span of `anchor` if its event happened `at` this time."""
    at = timestamp_of(at, at)
    match anchor.relation:
        case TimeRelation.BEFORE:
            return TimeRange(before=at)
        case TimeRelation.AFTER:
            return TimeRange(since=at)
        case TimeRelation.DURING:
            return TimeRange(since=_near(at, -AROUND), before=_near(at, AROUND))


def _near(at: datetime, step: timedelta) -> datetime | None:
    try:
        return at + step
    except OverflowError:
        return None
