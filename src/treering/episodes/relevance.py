"""Relevance of an episode as a weighted sum."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from math import exp, log1p

from treering.core.episodes import Episode, OutcomeStatus
from treering.search.answer import ScorePart

SIMILARITY_WEIGHT = 0.5  # half of the relevance; the other half is divided below
RECENCY_WEIGHT = 0.2
RECENCY_DAYS = 30.0  # days after which recency has decayed to a third
SUCCESS_WEIGHT = 0.15
USE_WEIGHT = 0.1
USE_SCALE = 10.0  # the logarithm of accesses that counts in full
DOMAIN_WEIGHT = 0.05

_DAY = timedelta(days=1)


def relevance_parts(
    episode: Episode,
    likeness: float,
    now: datetime,
    domains: Collection[str],
    *,
    by: str = "cosine",
) -> tuple[ScorePart, ...]:
    """Terms: similarity to the query (measured `by`), recency, success, use and domain."""
    age_days = max(0.0, (now - episode.at) / _DAY)
    use = min(log1p(episode.lifecycle.access_count) / USE_SCALE, 1.0)
    return (
        ScorePart(by, likeness, SIMILARITY_WEIGHT),
        ScorePart("recency", exp(-age_days / RECENCY_DAYS), RECENCY_WEIGHT),
        ScorePart("success", float(episode.outcome.status is OutcomeStatus.SUCCESS), SUCCESS_WEIGHT),
        ScorePart("use", use, USE_WEIGHT),
        ScorePart("domain", float(episode.metadata.domain in domains), DOMAIN_WEIGHT),
    )
