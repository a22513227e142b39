"""Effective confidence of a record: computed on every read, never stored."""

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
# Further uses do not raise the frequency.
_WELL_USED = 100
# Relations along which changes propagate in both directions.
_MUTUAL = frozenset({RelationKind.REQUIRED_WITH, RelationKind.CONFLICTS_WITH, RelationKind.DERIVED_FROM})

_STATED = frozenset({Source.USER_TAUGHT, Source.AGENT_EXPLICIT})
# Attributes of temporary statements, unless the user asks to keep them.
_TEMPORARY = frozenset({"did", "plans", "status", "likes", "dislikes", "is", "has"})

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
"""Weight of a record by its source."""
TAUGHT_CONFIDENCE = 0.95  # a person's own words start where confirmation ends


def effective_confidence(
    record: Knowledge, now: datetime, settings: TrustSettings, *, accessed: datetime | None = None
) -> float:
    """The stored confidence, decayed since the last access and lowered by every open doubt; never above the stored one.

    It is a pure function of the record and `now`; `accessed` replaces the record's last access. Pinned and confirmed
    records do not decay, nor do types without a half-life or of unknown types. Stated records decay to a floor.
    """
    half_life = half_life_days(record)
    faded = 1.0 if half_life is None else recency(accessed or record.last_accessed_at, now, half_life)
    floor = settings.stated_floor if is_stated(record) else 0.0
    return record.confidence * max(faded, floor) * prod(_doubts(record, now, settings))


def is_stated(record: Knowledge) -> bool:
    """Whether the record was stored explicitly, confirmed, pinned, or learned from an explicit statement."""
    return record.pinned or record.user_verified or record.source in _STATED or _is_explicit_statement(record)


def _is_explicit_statement(record: Knowledge) -> bool:
    fact = record.payload
    if record.source is not Source.CONSOLIDATION or record.tainted or not isinstance(fact, Stated):
        return False
    return fact.value is not None and fact.attribute in ATTRIBUTES and fact.attribute not in _TEMPORARY


def half_life_days(record: Knowledge) -> float | None:
    """Days without use after which the confidence halves; None if it does not decay.

    For facts it is multiplied by 1 + log2(1 + uses): one use doubles it, fifteen make it five times as long.
    """
    if record.pinned or record.user_verified or _is_open_work(record):
        return None
    kind = knowledge_types().get(record.type)
    days = kind.half_life_days if kind and record.half_life_days is None else record.half_life_days
    return days * (1 + log2(1 + record.access_count)) if days and kind and kind.raised_by_use else days


def _is_open_work(record: Knowledge) -> bool:
    """Whether the record is the state of an open unit of work, which does not decay."""
    return record.type == "work_state" and record.work_unit is not None and record.valid_until is None


def recency(moment: datetime, now: datetime, half_life_days: float) -> float:
    """1 up to `moment`, halved after each half-life."""
    days = max(0.0, (now - moment) / _DAY)
    return float(0.5 ** (days / half_life_days))


def frequency(access_count: int) -> float:
    """0 without any use, 1 from a hundred uses on; logarithmic in between."""
    return min(1.0, log1p(access_count) / log1p(_WELL_USED))


def _doubts(record: Knowledge, now: datetime, settings: TrustSettings) -> Iterator[float]:
    """Factor of each open doubt. A person's confirmation lifts the doubt about a taint."""
    open_doubts = (
        (_has_passed(record.stale_at, now), settings.stale_factor),
        (_has_passed(record.valid_until, now), EXPIRED_FACTOR),
        (record.needs_review and not record.tainted, REVIEW_FACTOR),
        (record.tainted and not record.user_verified, settings.tainted_factor),
    )
    return (factor for is_open, factor in open_doubts if is_open)


def _has_passed(moment: datetime | None, now: datetime) -> bool:
    return moment is not None and moment <= now


def propagated_changes(
    id: str, change: float, records: Mapping[str, Knowledge], rules: Propagation = PROPAGATION
) -> Mapping[str, tuple[float, str]]:
    """New confidence of the records that a change of `id` reaches, each with the id that it was reached from.

    The change weakens with every relation. Each record is reached once, on the shortest path; of equally short paths
    the strongest counts, and of equally strong ones the one that lowers. Confirmed, deleted and deprecated records
    neither change nor propagate.
    """
    reached, changed = {id}, dict[str, tuple[float, str]]()
    frontier = {id: change}
    for _ in range(rules.depth):
        arriving: dict[str, list[tuple[float, str]]] = defaultdict(list)
        for origin in sorted(frontier):
            for target, share in _outgoing_changes(origin, frontier[origin], records, rules):
                if target not in reached and target in records and _may_change(records[target]):
                    arriving[target].append((share, origin))
        frontier = {}
        for target, shares in arriving.items():
            strongest, origin = min(shares, key=lambda each: (-abs(each[0]), each))
            before = records[target].confidence
            after = _clamped(before + strongest, before, rules)
            if abs(after - before) > rules.least:
                changed[target] = after, origin
                frontier[target] = after - before
        reached |= arriving.keys()
    return changed


def _clamped(wanted: float, before: float, rules: Propagation) -> float:
    return min(max(wanted, 0.0), max(before, rules.ceiling))


def _may_change(record: Knowledge) -> bool:
    return not record.user_verified and record.deleted_at is None and record.deprecated_at is None


def _outgoing_changes(
    origin: str, change: float, records: Mapping[str, Knowledge], rules: Propagation
) -> Iterator[tuple[str, float]]:
    """Ids related to `origin`, with the change that each receives."""
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
