"""Score of a record: relevance times recency, usage, phase, source and confidence."""

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
    from treering.search.ranked_result import RankedResult

# Shares of relevance, of the last access and of the number of accesses in the usage factor.
RELEVANCE, RECENCY, FREQUENCY = 0.6, 0.25, 0.15


@dataclass(frozen=True, slots=True)
class RecordScore:
    """A score, the factors applied to the relevance, and the factor due to the age of a stated record."""

    score: float
    factors: Mapping[str, float]
    age: float = 1.0


def score_record(
    record: StoredRecord, relevance: float, now: datetime, phase: Phase | None, settings: Settings
) -> RecordScore:
    """Score of a record: turns, episodes and patterns by relevance alone, knowledge also by its reliability.

    Recency and usage multiply the relevance, so that a record unrelated to the query keeps a score of 0.
    """
    factors: Mapping[str, float] = {}
    age = 1.0
    if isinstance(record, Knowledge):
        factors = _knowledge_factors(record, record.last_accessed_at, now, phase, settings)
        if is_stated(record):
            fresh = _knowledge_factors(record, now, now, phase, settings)
            age = prod(factors.values()) / (prod(fresh.values()) or 1.0)
    elif getattr(record, "tainted", False):
        factors = {"tainted": settings.trust.tainted_factor}
    score = relevance
    for factor in factors.values():
        score *= factor
    return RecordScore(score, factors, age)


def lower_with_age(ranked: Sequence[RankedResult]) -> Sequence[RankedResult]:
    """The results, with turns, episodes and patterns lowered in line with aged stated records.

    Age orders knowledge only. A result of another kind that scored below a stated record when the record was new is
    lowered by the same factor as the record, so that it does not overtake it. The order within each kind stays.
    """
    aged = [each for each in ranked if each.age < 1]
    return [each if isinstance(each.record, Knowledge) else _lowered(each, aged) for each in ranked] if aged else ranked


def _lowered(result: RankedResult, stated: Iterable[RankedResult]) -> RankedResult:
    age = min((each.age for each in stated if each.score > result.score * each.age), default=1.0)
    if age == 1:
        return result
    return replace(result, score=result.score * age, factors={**result.factors, "age": age})


def _knowledge_factors(
    record: Knowledge, accessed: datetime, now: datetime, phase: Phase | None, settings: Settings
) -> Mapping[str, float]:
    fresh = recency(accessed, now, settings.trust.recency_half_life_days)
    return {
        "use": RELEVANCE + RECENCY * fresh + FREQUENCY * frequency(record.access_count),
        "phase": PHASE_WEIGHTS[phase].get(record.type, 1.0) if phase else 1.0,
        "trust": SOURCE_TRUST[record.source],
        "confidence": effective_confidence(record, now, settings.trust, accessed=accessed),
    }
