"""How far a record is to be trusted now: worked out each time it is asked, never written back."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from math import log1p, log2, prod
from types import MappingProxyType

from treering.core.payloads import Stated, knowledge_types
from treering.core.propagation import PROPAGATION, Propagation
from treering.core.records import Knowledge, RelationKind, Source
from treering.core.settings import TrustSettings
from treering.core.statements import ATTRIBUTES

REVIEW_FACTOR = 0.9  # share of its confidence that a record keeps while it waits for review
EXPIRED_FACTOR = 0.1  # what is no longer true still answers what used to be, below whatever holds now

_DAY = timedelta(days=1)
# Past this many uses another one says nothing new.
_WELL_USED = 100
# Along these a change travels both ways: each of the two says something about the other.
_MUTUAL = frozenset({RelationKind.REQUIRED_WITH, RelationKind.CONFLICTS_WITH, RelationKind.DERIVED_FROM})

_STATED = frozenset({Source.USER_TAUGHT, Source.AGENT_EXPLICIT})
# What users say of these is of the moment, unless they ask to keep it.
_OF_THE_MOMENT = frozenset({"did", "plans", "status", "likes", "dislikes", "is", "has"})

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
    nor does a type without a half-life or one that this process does not know. What was stated fades to a floor.
    """
    half_life = half_life_days(record)
    faded = 1.0 if half_life is None else recency(record.last_accessed_at, now, half_life)
    floor = settings.stated_floor if is_stated(record) else 0.0
    return record.confidence * max(faded, floor) * prod(_doubts(record, now, settings))


def is_stated(record: Knowledge) -> bool:
    """Whether a person or an agent asked to keep it, confirmed or pinned it, or a user stated it outright in a turn."""
    return record.pinned or record.user_verified or record.source in _STATED or _is_outright(record)


def _is_outright(record: Knowledge) -> bool:
    said = record.payload
    if record.source is not Source.CONSOLIDATION or record.tainted or not isinstance(said, Stated):
        return False
    return said.value is not None and said.attribute in ATTRIBUTES and said.attribute not in _OF_THE_MOMENT


def half_life_days(record: Knowledge) -> float | None:
    """After how many days without use the record's confidence halves; None: never.

    A fact's is multiplied by 1 + log2(1 + uses): a day's use doubles it, a fortnight's makes it five times as long.
    """
    if record.pinned or record.user_verified or _is_open_work(record):
        return None
    kind = knowledge_types().get(record.type)
    days = kind.half_life_days if kind and record.half_life_days is None else record.half_life_days
    return days * (1 + log2(1 + record.access_count)) if days and kind and kind.raised_by_use else days


def _is_open_work(record: Knowledge) -> bool:
    """The state of a unit of work holds until the unit is closed, which ends its validity."""
    return record.type == "work_state" and record.work_unit is not None and record.valid_until is None


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
        (_has_passed(record.valid_until, now), EXPIRED_FACTOR),
        (record.needs_review and not record.tainted, REVIEW_FACTOR),
        (record.tainted and not record.user_verified, settings.tainted_factor),
    )
    return (factor for is_open, factor in open_doubts if is_open)


def _has_passed(moment: datetime | None, now: datetime) -> bool:
    return moment is not None and moment <= now


def spread(
    id: str, change: float, records: Mapping[str, Knowledge], rules: Propagation = PROPAGATION
) -> Mapping[str, tuple[float, str]]:
    """The new confidence of whatever a change of `id` reaches among `records`, each with the record it came from.

    Only the change travels, weaker with every relation. Each record is reached once, on the shortest way; of several
    ways as short as each other the strongest counts, and among those the one that lowers. What a person confirmed, and
    what no longer stands, neither changes nor passes anything on.
    """
    reached, changed = {id}, dict[str, tuple[float, str]]()
    travelling = {id: change}
    for _ in range(rules.depth):
        arriving: dict[str, list[tuple[float, str]]] = defaultdict(list)
        for origin in sorted(travelling):
            for target, share in _passed_on(origin, travelling[origin], records, rules):
                if target not in reached and target in records and _yields(records[target]):
                    arriving[target].append((share, origin))
        travelling = {}
        for target, shares in arriving.items():
            strongest, origin = min(shares, key=lambda each: (-abs(each[0]), each))
            before = records[target].confidence
            after = _within(before + strongest, before, rules)
            if abs(after - before) > rules.least:
                changed[target] = after, origin
                travelling[target] = after - before
        reached |= arriving.keys()
    return changed


def _within(wanted: float, before: float, rules: Propagation) -> float:
    return min(max(wanted, 0.0), max(before, rules.ceiling))


def _yields(record: Knowledge) -> bool:
    return not record.user_verified and record.deleted_at is None and record.deprecated_at is None


def _passed_on(
    origin: str, change: float, records: Mapping[str, Knowledge], rules: Propagation
) -> Iterator[tuple[str, float]]:
    """What a change of `origin` means for each record that it is related to."""
    for id, record in records.items():
        for relation in record.relations:
            if relation.record is None:
                continue
            forwards = id == origin
            if not forwards and not (relation.record == origin and relation.kind in _MUTUAL):
                continue
            if relation.kind is RelationKind.SUPERSEDES and change < 0:
                continue
            factor: float = getattr(rules, relation.kind.value)
            yield relation.record if forwards else id, change * factor * relation.confidence
