"""PT3's formula to the letter, with its terms to be seen."""

from datetime import timedelta
from math import exp, log
from typing import Any

import pytest

from tests.samples import NOW, sample
from treering.core.patterns import Applicability, Pattern
from treering.core.settings.patterns import PatternSettings
from treering.patterns.matching.ranking import feature_match, ranked, specificity

SETTINGS = PatternSettings()
TASK = {"task_type": "fix", "domain": "backend", "complexity": 0.4, "tools": ("git",), "languages": ("go",)}
GO = {"form": "test", "field": "languages", "operator": "eq", "value": "go"}


def pattern(id: str = "x", **fields: Any) -> Pattern:
    made: Pattern = sample(Pattern, id, **fields)
    return made


def test_the_score_is_the_sum_of_the_five_terms() -> None:
    given = pattern(
        evidence={"confidence": 0.8, "success_rate": 0.9, "last_validated_at": NOW - timedelta(days=45)},
        usage_count=20,
        applicability={"problem_types": ["fix"], "domains": ["backend"]},
    )
    (row,) = ranked([given], TASK, NOW, SETTINGS)
    expected = {
        "confidence": 0.4 * 0.8,
        "success": 0.3 * 0.9,
        "use": 0.15 * log(21) / 10,
        "recency": 0.1 * exp(-0.5),
        "match": 0.05 * 2 / 5,
    }
    assert row.terms == pytest.approx(expected)
    assert row.score == pytest.approx(sum(expected.values()))
    assert row.why == (
        "confidence 0.80 (+0.320), success rate 0.90 (+0.270), used 20 times (+0.046), "
        "validated 45 days ago (+0.061), features match 0.40 (+0.020)"
    )


def test_what_nobody_validated_or_tried_adds_nothing() -> None:
    (row,) = ranked([pattern()], TASK, NOW, SETTINGS)
    assert row.score == 0.0
    assert "never validated (+0.000)" in row.why
    assert "success rate unknown (+0.000)" in row.why


def test_use_counts_no_more_than_its_weight_and_the_future_no_more_than_today() -> None:
    tomorrow = {"last_validated_at": NOW + timedelta(days=1)}
    (row,) = ranked([pattern(usage_count=10**12, evidence=tomorrow)], TASK, NOW, SETTINGS)
    assert row.terms["use"] == 0.15
    assert row.terms["recency"] == 0.1


def test_of_the_same_score_the_smaller_id_comes_first() -> None:
    rows = ranked([pattern(id) for id in "cadbe"], TASK, NOW, SETTINGS)
    assert [row.pattern.id for row in rows] == list("abcde")


def test_five_are_suggested_unless_more_are_asked_for() -> None:
    many = [pattern(f"p{place}", evidence={"confidence": place / 10}) for place in range(9)]
    assert [row.pattern.id for row in ranked(many, TASK, NOW, SETTINGS)] == ["p8", "p7", "p6", "p5", "p4"]
    assert len(ranked(many, TASK, NOW, SETTINGS, limit=9)) == 9
    assert ranked(many, TASK, NOW, SETTINGS, limit=0) == []


@pytest.mark.parametrize(
    ("asked", "match"),
    [
        ({}, 0.0),
        ({"problem_types": ["FIX"]}, 0.2),
        ({"problem_types": ["docs"]}, 0.0),
        ({"problem_types": ["fix"], "domains": ["Backend", "cli"], "capabilities": ["git", "go"]}, 0.6),
        ({"capabilities": ["git", "docker"]}, 0.0),
        ({"complexity_max": 0.4, "conditions": [GO]}, 0.4),
        ({"complexity_max": 0.3}, 0.0),
        ({"problem_types": ["fix"], "domains": ["backend"], "capabilities": ["go"], "complexity_min": 0.1,
          "conditions": [GO]}, 1.0),
    ],
)  # fmt: skip
def test_a_pattern_made_for_such_a_task_matches_more(asked: dict[str, Any], match: float) -> None:
    applicability = Applicability.make(**asked)
    assert feature_match(applicability, TASK) == pytest.approx(match)
    assert feature_match(applicability, TASK) <= specificity(applicability)
