"""Ranking of applicable patterns by PT3's formula, with the value of each term."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from heapq import heappop, heappush, nsmallest
from math import exp, log1p
from typing import TYPE_CHECKING, Any

import numpy as np

from treering.core.applicability import DOMAIN, TASK_TYPE, capabilities_at, complexity_at, folded, is_within, labels_at
from treering.core.conditions import holds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treering.core.patterns import Applicability, Pattern
    from treering.core.settings.patterns import PatternSettings

_DAY = timedelta(days=1)
# Sums of the same terms in another order differ by less than this.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class RankedPattern:
    """A pattern with its score, the value of each term, and the explanation in words."""

    pattern: Pattern
    score: float
    terms: Mapping[str, float]
    why: str


class ScoreBounds:
    """Upper bounds of the scores of patterns, which are identified by their position."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        evidence = [each.evidence for each in patterns]
        self._confidence = np.array([each.confidence for each in evidence], np.float64)
        self._success = np.array([each.success_rate or 0.0 for each in evidence], np.float64)
        self._use = np.log1p(np.array([each.usage_count for each in patterns], np.float64))
        self._specificity = np.array([specificity(each.applicability) for each in patterns], np.float64)
        # Never validated counts as infinitely long ago.
        moments = [each.last_validated_at.timestamp() if each.last_validated_at else -np.inf for each in evidence]
        self._validated_at = np.array(moments, np.float64)

    def highest(self, places: NDArray[np.intp], now: datetime, settings: PatternSettings) -> NDArray[np.float64]:
        """The score of each, up to rounding, for a task that meets all its requirements, which is the maximum."""
        days = np.maximum((now.timestamp() - self._validated_at[places]) / _DAY.total_seconds(), 0.0)
        return np.asarray(
            settings.rank_confidence * self._confidence[places]
            + settings.rank_success * self._success[places]
            + settings.rank_use * np.minimum(self._use[places] / settings.rank_use_scale, 1.0)
            + settings.rank_recency * np.exp(-days / settings.rank_recency_days)
            + settings.rank_match * self._specificity[places]
        )


class TopPatterns:
    """The `limit` best of the patterns offered."""

    def __init__(self, features: Mapping[str, Any], now: datetime, settings: PatternSettings, limit: int) -> None:
        self._features, self._now, self._settings, self._limit = features, now, settings, limit
        self._offered: list[tuple[float, str, Pattern]] = []
        self._highest: list[float] = []

    def offer(self, pattern: Pattern) -> None:
        score = sum(terms_of(pattern, self._features, self._now, self._settings).values())
        self._offered.append((-score, pattern.id, pattern))
        heappush(self._highest, score)
        if len(self._highest) > self._limit:
            heappop(self._highest)

    def is_out_of_reach(self, highest: float) -> bool:
        """Whether a pattern with this upper bound cannot be among the best."""
        if len(self._highest) < self._limit:
            return False
        return not self._limit or highest + _ROUNDING < self._highest[0]

    def rows(self) -> list[RankedPattern]:
        """Best first, ties by id."""
        first = nsmallest(self._limit, self._offered, key=lambda each: each[:2])
        return [self._row(pattern) for _, _, pattern in first]

    def _row(self, pattern: Pattern) -> RankedPattern:
        terms = terms_of(pattern, self._features, self._now, self._settings)
        return RankedPattern(pattern, sum(terms.values()), terms, _why(pattern, terms, self._features, self._now))


def ranked(
    patterns: Iterable[Pattern],
    features: Mapping[str, Any],
    now: datetime,
    settings: PatternSettings,
    *,
    limit: int | None = None,
) -> list[RankedPattern]:
    """The `limit` best patterns (by default as many as the settings suggest), best first, ties by id."""
    best = TopPatterns(features, now, settings, settings.most_suggested if limit is None else limit)
    for pattern in patterns:
        best.offer(pattern)
    return best.rows()


def terms_of(
    pattern: Pattern, features: Mapping[str, Any], now: datetime, settings: PatternSettings
) -> dict[str, float]:
    """The terms of a pattern's score, by name."""
    evidence = pattern.evidence
    return {
        "confidence": settings.rank_confidence * evidence.confidence,
        "success": settings.rank_success * (evidence.success_rate or 0.0),
        "use": settings.rank_use * min(log1p(pattern.usage_count) / settings.rank_use_scale, 1.0),
        "recency": settings.rank_recency * _recency(evidence.last_validated_at, now, settings.rank_recency_days),
        "match": settings.rank_match * feature_match(pattern.applicability, features),
    }


def feature_match(applicability: Applicability, features: Mapping[str, Any]) -> float:
    """How specifically a pattern fits the task: the share of facets that the pattern restricts and the task meets.

    The facets are problem type, domain, capabilities, complexity and conditions; a pattern without restrictions has 0.
    """
    met = (is_restricted(applicability) and is_met(applicability, features) for is_restricted, is_met in _FACETS)
    return sum(met) / len(_FACETS)


def specificity(applicability: Applicability) -> float:
    """The share of facets that the pattern restricts, which is the highest possible match."""
    return sum(is_restricted(applicability) for is_restricted, _ in _FACETS) / len(_FACETS)


def _recency(validated_at: datetime | None, now: datetime, scale_days: float) -> float:
    return 0.0 if validated_at is None else exp(-max((now - validated_at) / _DAY, 0.0) / scale_days)


def _why(pattern: Pattern, terms: Mapping[str, float], features: Mapping[str, Any], now: datetime) -> str:
    evidence = pattern.evidence
    rate = "unknown" if evidence.success_rate is None else f"{evidence.success_rate:.2f}"
    texts = {
        "confidence": f"confidence {evidence.confidence:.2f}",
        "success": f"success rate {rate}",
        "use": "used once" if pattern.usage_count == 1 else f"used {pattern.usage_count:,} times",
        "recency": _age(evidence.last_validated_at, now),
        "match": f"features match {feature_match(pattern.applicability, features):.2f}",
    }
    return ", ".join(f"{words} (+{terms[name]:.3f})" for name, words in texts.items())


def _age(validated_at: datetime | None, now: datetime) -> str:
    if validated_at is None:
        return "never validated"
    days = max((now - validated_at) // _DAY, 0)
    return {0: "validated today", 1: "validated yesterday"}.get(days, f"validated {days:,} days ago")


def _complexity_is_met(applicability: Applicability, features: Mapping[str, Any]) -> bool:
    known = complexity_at(features)
    return known is not None and is_within(applicability.complexity_min, applicability.complexity_max, known)


_FACETS: tuple[tuple[Callable[[Applicability], bool], Callable[[Applicability, Mapping[str, Any]], bool]], ...] = (
    (
        lambda applicability: bool(applicability.problem_types),
        lambda applicability, features: (
            not labels_at(features, TASK_TYPE).isdisjoint(folded(applicability.problem_types))
        ),
    ),
    (
        lambda applicability: bool(applicability.domains),
        lambda applicability, features: not labels_at(features, DOMAIN).isdisjoint(folded(applicability.domains)),
    ),
    (
        lambda applicability: bool(applicability.capabilities),
        lambda applicability, features: folded(applicability.capabilities) <= capabilities_at(features),
    ),
    (
        lambda applicability: (applicability.complexity_min, applicability.complexity_max) != (0.0, 1.0),
        _complexity_is_met,
    ),
    (
        lambda applicability: bool(applicability.conditions),
        lambda applicability, features: all(holds(condition, features) for condition in applicability.conditions),
    ),
)
"""For each facet: whether a pattern restricts it, and whether a task meets the restriction."""
