"""From relevance to score: how fresh, how often used, in which phase, from whom, and how sure a record is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from treering.core.confidence import SOURCE_TRUST, effective_confidence, frequency, recency
from treering.core.phases import PHASE_WEIGHTS, Phase
from treering.core.records import Knowledge

if TYPE_CHECKING:
    from treering.core.settings import Settings
    from treering.search.answer import Remembered

# A record's own weight in its score: what the query finds in it, how lately and how often it was used.
RELEVANCE, RECENCY, FREQUENCY = 0.6, 0.25, 0.15


@dataclass(frozen=True, slots=True)
class Scored:
    """A score, and what multiplied the relevance."""

    score: float
    factors: Mapping[str, float]


def scored(record: Remembered, relevance: float, now: datetime, phase: Phase | None, settings: Settings) -> Scored:
    """What was said or done counts for its relevance alone; what is known also for how far it can be relied on.

    Freshness and use count in proportion to relevance: a record that has nothing to do with the query stays at 0.
    """
    factors: Mapping[str, float] = {}
    if isinstance(record, Knowledge):
        factors = _of_knowledge(record, now, phase, settings)
    elif getattr(record, "tainted", False):
        factors = {"tainted": settings.trust.tainted_factor}
    score = relevance
    for factor in factors.values():
        score *= factor
    return Scored(score, factors)


def _of_knowledge(record: Knowledge, now: datetime, phase: Phase | None, settings: Settings) -> Mapping[str, float]:
    fresh = recency(record.last_accessed_at, now, settings.trust.recency_half_life_days)
    return {
        "use": RELEVANCE + RECENCY * fresh + FREQUENCY * frequency(record.access_count),
        "phase": PHASE_WEIGHTS[phase].get(record.type, 1.0) if phase else 1.0,
        "trust": SOURCE_TRUST[record.source],
        "confidence": effective_confidence(record, now, settings.trust),
    }
