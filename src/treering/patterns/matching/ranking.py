"""In which order patterns that apply are worth reading: PT3's formula, with each of its terms to be seen."""

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

CONFIDENCE_WEIGHT = 0.4  # the weights of the order are named by the requirement
SUCCESS_WEIGHT = 0.3
USE_WEIGHT = 0.15  # of log(1 + uses) / USE_SCALE, at most 1
USE_SCALE = 10.0  # use counts in full at e^10, some 22,000 uses
RECENCY_WEIGHT = 0.1
RECENCY_DAYS = 90.0  # days after which a validation counts e times less
MATCH_WEIGHT = 0.05  # for a pattern made for such a task, not for any
MAX_SUGGESTED = 5  # patterns suggested for a task, by requirement

_DAY = timedelta(days=1)
# Sums of the same terms in another order differ by less.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Ranked:
    """A pattern, what it scored, what each term added to that, and the same in words."""

    pattern: Pattern
    score: float
    terms: Mapping[str, float]
    why: str


class Standings:
    """What patterns score at most, whatever the task, for many at a time; each is known by its place."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        evidence = [each.evidence for each in patterns]
        self._confidence = np.array([each.confidence for each in evidence], np.float64)
        self._success = np.array([each.success_rate or 0.0 for each in evidence], np.float64)
        self._use = np.log1p(np.array([each.usage_count for each in patterns], np.float64))
        self._specificity = np.array([specificity(each.applicability) for each in patterns], np.float64)
        # Never is infinitely long ago.
        moments = [each.last_validated_at.timestamp() if each.last_validated_at else -np.inf for each in evidence]
        self._validated_at = np.array(moments, np.float64)

    def highest(self, places: NDArray[np.intp], now: datetime) -> NDArray[np.float64]:
        """What each scores, up to rounding, for a task that meets all it asks for: no task gives it more."""
        days = np.maximum((now.timestamp() - self._validated_at[places]) / _DAY.total_seconds(), 0.0)
        return np.asarray(
            CONFIDENCE_WEIGHT * self._confidence[places]
            + SUCCESS_WEIGHT * self._success[places]
            + USE_WEIGHT * np.minimum(self._use[places] / USE_SCALE, 1.0)
            + RECENCY_WEIGHT * np.exp(-days / RECENCY_DAYS)
            + MATCH_WEIGHT * self._specificity[places]
        )


class Best:
    """The best of the patterns that are offered, as many as are wanted."""

    def __init__(self, features: Mapping[str, Any], now: datetime, most: int) -> None:
        self._features, self._now, self._most = features, now, most
        self._offered: list[tuple[float, str, Pattern]] = []
        self._highest: list[float] = []

    def offer(self, pattern: Pattern) -> None:
        score = sum(terms_of(pattern, self._features, self._now).values())
        self._offered.append((-score, pattern.id, pattern))
        heappush(self._highest, score)
        if len(self._highest) > self._most:
            heappop(self._highest)

    def is_out_of_reach(self, highest: float) -> bool:
        """Whether a pattern that scores this at most stays out."""
        if len(self._highest) < self._most:
            return False
        return not self._most or highest + _ROUNDING < self._highest[0]

    def rows(self) -> list[Ranked]:
        """The best first; of the same score, the smaller id first."""
        first = nsmallest(self._most, self._offered, key=lambda each: each[:2])
        return [self._row(pattern) for _, _, pattern in first]

    def _row(self, pattern: Pattern) -> Ranked:
        terms = terms_of(pattern, self._features, self._now)
        return Ranked(pattern, sum(terms.values()), terms, _why(pattern, terms, self._features, self._now))


def ranked(
    patterns: Iterable[Pattern],
    features: Mapping[str, Any],
    now: datetime,
    *,
    most: int | None = None,
) -> list[Ranked]:
    """The best first, `most` of them (by default `MAX_SUGGESTED`); of the same score, the smaller id first."""
    best = Best(features, now, MAX_SUGGESTED if most is None else most)
    for pattern in patterns:
        best.offer(pattern)
    return best.rows()


def terms_of(pattern: Pattern, features: Mapping[str, Any], now: datetime) -> dict[str, float]:
    """What each term adds to a pattern's score, by name."""
    evidence = pattern.evidence
    return {
        "confidence": CONFIDENCE_WEIGHT * evidence.confidence,
        "success": SUCCESS_WEIGHT * (evidence.success_rate or 0.0),
        "use": USE_WEIGHT * min(log1p(pattern.usage_count) / USE_SCALE, 1.0),
        "recency": RECENCY_WEIGHT * _recency(evidence.last_validated_at, now, RECENCY_DAYS),
        "match": MATCH_WEIGHT * feature_match(pattern.applicability, features),
    }


def feature_match(applicability: Applicability, features: Mapping[str, Any]) -> float:
    """How much a pattern is made for such a task: the share of what could be asked of it that is asked, and is so.

    Problem type, domain, capabilities, complexity and conditions count alike; a pattern for anything matches 0.
    """
    met = (is_asked(applicability) and is_met(applicability, features) for is_asked, is_met in _FACETS)
    return sum(met) / len(_FACETS)


def specificity(applicability: Applicability) -> float:
    """The share of what could be asked of a task that is asked: the highest match there can be."""
    return sum(is_asked(applicability) for is_asked, _ in _FACETS) / len(_FACETS)


def _recency(validated_at: datetime | None, now: datetime, scale_days: float) -> float:
    return 0.0 if validated_at is None else exp(-max((now - validated_at) / _DAY, 0.0) / scale_days)


def _why(pattern: Pattern, terms: Mapping[str, float], features: Mapping[str, Any], now: datetime) -> str:
    evidence = pattern.evidence
    rate = "unknown" if evidence.success_rate is None else f"{evidence.success_rate:.2f}"
    said = {
        "confidence": f"confidence {evidence.confidence:.2f}",
        "success": f"success rate {rate}",
        "use": "used once" if pattern.usage_count == 1 else f"used {pattern.usage_count:,} times",
        "recency": _age(evidence.last_validated_at, now),
        "match": f"features match {feature_match(pattern.applicability, features):.2f}",
    }
    return ", ".join(f"{words} (+{terms[name]:.3f})" for name, words in said.items())


def _age(validated_at: datetime | None, now: datetime) -> str:
    if validated_at is None:
        return "never validated"
    days = max((now - validated_at) // _DAY, 0)
    return {0: "validated today", 1: "validated yesterday"}.get(days, f"validated {days:,} days ago")


def _complexity_is_met(asked: Applicability, features: Mapping[str, Any]) -> bool:
    known = complexity_at(features)
    return known is not None and is_within(asked.complexity_min, asked.complexity_max, known)


_FACETS: tuple[tuple[Callable[[Applicability], bool], Callable[[Applicability, Mapping[str, Any]], bool]], ...] = (
    (
        lambda asked: bool(asked.problem_types),
        lambda asked, features: not labels_at(features, TASK_TYPE).isdisjoint(folded(asked.problem_types)),
    ),
    (
        lambda asked: bool(asked.domains),
        lambda asked, features: not labels_at(features, DOMAIN).isdisjoint(folded(asked.domains)),
    ),
    (
        lambda asked: bool(asked.capabilities),
        lambda asked, features: folded(asked.capabilities) <= capabilities_at(features),
    ),
    (
        lambda asked: (asked.complexity_min, asked.complexity_max) != (0.0, 1.0),
        _complexity_is_met,
    ),
    (
        lambda asked: bool(asked.conditions),
        lambda asked, features: all(holds(condition, features) for condition in asked.conditions),
    ),
)
"""What can be asked of a task: whether a pattern asks it, and whether the task meets it."""
