"""What the time words of a query mean."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from treering.core.queries import TimeRange
from treering.core.timestamps import moment_of

# An event is talked about for some days around the moment it was recorded.
AROUND = timedelta(days=3)


class TimeKind(StrEnum):
    """FILTER leaves out what lies outside. BOOST prefers what lies inside: the date may be the event's."""

    FILTER = "filter"
    BOOST = "boost"


class TimeDirection(StrEnum):
    BEFORE = "before"
    AFTER = "after"
    WITHIN = "within"


class TimeOrder(StrEnum):
    NEWEST = "newest"
    OLDEST = "oldest"


class Relation(StrEnum):
    BEFORE = "before"
    AFTER = "after"
    DURING = "during"


@dataclass(frozen=True, slots=True)
class Anchor:
    """A time told by an event; its date is that of the best hit for `phrase`."""

    relation: Relation
    phrase: str


@dataclass(frozen=True, slots=True)
class TimeWords:
    """Any of `spans` will do. `kind` is FILTER only where every span is an explicit bound."""

    spans: tuple[TimeRange, ...] = ()
    kind: TimeKind = TimeKind.BOOST
    anchors: tuple[Anchor, ...] = ()
    order: TimeOrder | None = None
    phrases: tuple[str, ...] = ()

    @property
    def phrase(self) -> str:
        """The words that were read, as they stand in the query."""
        return ", ".join(self.phrases)

    @property
    def direction(self) -> TimeDirection | None:
        """Where the spans lead: BEFORE or AFTER a moment, or WITHIN two; None without spans."""
        if not self.spans:
            return None
        if all(span.since is None for span in self.spans):
            return TimeDirection.BEFORE
        return TimeDirection.AFTER if all(span.before is None for span in self.spans) else TimeDirection.WITHIN


def resolve_anchor(anchor: Anchor, at: datetime) -> TimeRange:
    """The span that `anchor` means once its event is known to have happened `at`."""
    at = moment_of(at, at)
    match anchor.relation:
        case Relation.BEFORE:
            return TimeRange(before=at)
        case Relation.AFTER:
            return TimeRange(since=at)
        case Relation.DURING:
            return TimeRange(since=_near(at, -AROUND), before=_near(at, AROUND))


def _near(at: datetime, step: timedelta) -> datetime | None:
    try:
        return at + step
    except OverflowError:
        return None
