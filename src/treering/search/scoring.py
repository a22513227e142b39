"""From relevance to score: how fresh, how often used, in which phase, from whom, and how sure a record is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import prod
from typing import TYPE_CHECKING

from treering.core.confidence import SOURCE_TRUST, effective_confidence, frequency, is_stated, recency
from treering.core.phases import PHASE_WEIGHTS, Phase
from treering.core.records import Knowledge

if TYPE_CHECKING:
    from treering.core.settings import Settings
    from treering.search.answer import StoredRecord
    from treering.search.ranked_result import Ranked

# A record's own weight in its score: what the query finds in it, how lately and how often it was used.
RELEVANCE, RECENCY, FREQUENCY = 0.6, 0.25, 0.15


@dataclass(frozen=True, slots=True)
class Scored:
    """A score, what multiplied the relevance, and the share of the score that the age of a stated record leaves."""

    score: float
    factors: Mapping[str, float]
    age: float = 1.0


def scored(record: StoredRecord, relevance: float, now: datetime, phase: Phase | None, settings: Settings) -> Scored:
    """What was said or done counts for its relevance alone; what is known also for how far it can be relied on.

    Freshness and use count in proportion to relevance: a record that has nothing to do with the query stays at 0.
    """
    factors: Mapping[str, float] = {}
    age = 1.0
    if isinstance(record, Knowledge):
        factors = _of_knowledge(record, now, phase, settings)
        if is_stated(record):
            fresh = _of_knowledge(record.replace(last_accessed_at=now), now, phase, settings)
            age = prod(factors.values()) / (prod(fresh.values()) or 1.0)
    elif getattr(record, "tainted", False):
        factors = {"tainted": settings.trust.tainted_factor}
    score = relevance
    for factor in factors.values():
        score *= factor
    return Scored(score, factors, age)


def beside_stated(ranked: Sequence[Ranked]) -> Sequence[Ranked]:
    """Turns, episodes and patterns as they score beside stated records.

    Age orders knowledge. It does not put a stated record behind a result of another kind that scores less than the
    record did when it was new: such a result is lowered as much as the record was. Their own order stays.
    """
    aged = [each for each in ranked if each.age < 1]
    return [each if isinstance(each.record, Knowledge) else _aged(each, aged) for each in ranked] if aged else ranked


def _aged(result: Ranked, stated: Iterable[Ranked]) -> Ranked:
    age = min((each.age for each in stated if each.score > result.score * each.age), default=1.0)
    if age == 1:
        return result
    return replace(result, score=result.score * age, factors={**result.factors, "age": age})


def _of_knowledge(record: Knowledge, now: datetime, phase: Phase | None, settings: Settings) -> Mapping[str, float]:
    fresh = recency(record.last_accessed_at, now, settings.trust.recency_half_life_days)
    return {
        "use": RELEVANCE + RECENCY * fresh + FREQUENCY * frequency(record.access_count),
        "phase": PHASE_WEIGHTS[phase].get(record.type, 1.0) if phase else 1.0,
        "trust": SOURCE_TRUST[record.source],
        "confidence": effective_confidence(record, now, settings.trust),
    }
