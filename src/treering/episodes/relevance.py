"""Relevance of an episode as a weighted sum."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from math import exp, log1p
from typing import TYPE_CHECKING

from treering.core.episodes import Episode, OutcomeStatus
from treering.search.answer import ScorePart

if TYPE_CHECKING:
    from treering.core.settings import EpisodeSettings

_DAY = timedelta(days=1)


def relevance_parts(
    episode: Episode,
    likeness: float,
    now: datetime,
    domains: Collection[str],
    settings: EpisodeSettings,
    *,
    by: str = "cosine",
) -> tuple[ScorePart, ...]:
    """Terms: similarity to the query (measured `by`), recency, success, use and domain."""
    age_days = max(0.0, (now - episode.at) / _DAY)
    use = min(log1p(episode.lifecycle.access_count) / settings.use_scale, 1.0)
    return (
        ScorePart(by, likeness, settings.similarity),
        ScorePart("recency", exp(-age_days / settings.recency_days), settings.recency),
        ScorePart("success", float(episode.outcome.status is OutcomeStatus.SUCCESS), settings.success),
        ScorePart("use", use, settings.use),
        ScorePart("domain", float(episode.metadata.domain in domains), settings.domain),
    )
