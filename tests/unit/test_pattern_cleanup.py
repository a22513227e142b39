"""Which patterns are alike, and which are not worth keeping: the cases that people argue about."""

from datetime import timedelta
from typing import Any

import pytest

from tests.samples import NOW, sample
from treering.core.patterns import Pattern
from treering.core.settings.patterns import PatternSettings
from treering.patterns.pruning import low_value_patterns
from treering.patterns.similarity import compare_outlines, most_similar, outline_of

SETTINGS = PatternSettings()


def pattern(id: str = "x", **fields: Any) -> Pattern:
    made: Pattern = sample(Pattern, id, **fields)
    return made


def template(*titles: str) -> dict[str, Any]:
    return {"form": "template", "structure": [{"title": title} for title in titles]}


def test_two_wordings_of_one_lesson_are_alike_and_two_lessons_are_not() -> None:
    where = {
        "problem_types": ["fix"],
        "conditions": [{"form": "test", "field": "languages", "operator": "eq", "value": "go"}],
    }
    lesson = pattern("a", name="Reproduce first", summary="Write a failing test before the fix", applicability=where,
                     content=template("Reproduce the bug", "Write a failing test", "Fix it"))  # fmt: skip
    again = pattern("b", name="Reproduce it first", summary="Write failing tests before you fix", applicability=where,
                    content=template("Reproduce the bug", "Write a failing test", "Fix it"))  # fmt: skip
    other = pattern("c", name="Ask the owner", summary="Talk to whoever wrote the module", applicability=where,
                    content=template("Find the owner", "Ask what is meant"))  # fmt: skip
    assert [each.pattern.id for each in most_similar(lesson, [lesson, again, other], SETTINGS)] == ["b"]


def test_the_same_steps_in_another_order_are_less_alike() -> None:
    one, same, turned = (
        outline_of(pattern(str(place), content=template(*titles)))
        for place, titles in enumerate(
            (("plan", "build", "test"), ("plan", "build", "test"), ("test", "build", "plan"))
        )
    )
    assert compare_outlines(one, same, SETTINGS).structure == 1.0
    assert compare_outlines(one, turned, SETTINGS).structure == pytest.approx(3 / 7)


def test_another_form_shares_no_structure() -> None:
    one, other = outline_of(pattern("a")), outline_of(pattern("b", content=template("one at a time")))
    assert compare_outlines(one, other, SETTINGS).structure == 0.0


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"evidence": {"sessions": 5, "confidence": 0.29}}, "low confidence: 0.29 after 5 sessions"),
        ({"evidence": {"sessions": 4, "applications": 99, "confidence": 0.1}}, None),
        ({"evidence": {"sessions": 5, "confidence": 0.3}}, None),
        ({"evidence": {"sessions": 5, "confidence": 0.29, "success_rate": 0.2, "base_rate": 0.1}}, None),
        ({"evidence": {"sessions": 9, "confidence": 0.5, "success_rate": 0.3, "base_rate": 0.8}}, "contradicted: 30%"),
        ({"evidence": {"sessions": 4, "confidence": 0.5, "success_rate": 0.0, "base_rate": 0.9}}, None),
        ({"evidence": {"sessions": 9, "confidence": 0.5, "success_rate": 0.7, "base_rate": 0.8}}, None),
        ({"evidence": {"sessions": 20, "confidence": 0.4, "success_rate": 0.45, "base_rate": 0.07}}, None),
        ({"evidence": {"counter": ["a", "b", "c", "d", "e"], "confidence": 0.5}}, None),
        ({"created_at": NOW - timedelta(days=181)}, "unused: never used in 181 days"),
        ({"created_at": NOW - timedelta(days=400), "last_used_at": NOW - timedelta(days=200)}, "unused: for 200 days"),
        ({"created_at": NOW - timedelta(days=400), "last_used_at": NOW - timedelta(days=10)}, None),
        ({"created_at": NOW - timedelta(days=999), "status": "DEPRECATED"}, None),
        ({"created_at": NOW - timedelta(days=999), "status": "VALIDATED"}, "unused"),
        ({"evidence": {"sessions": 9, "confidence": 0.1}, "status": "VALIDATED", "last_used_at": NOW}, None),
    ],
)  # fmt: skip
def test_low_value_is_said_with_its_reason(fields: dict[str, Any], says: str | None) -> None:
    found = low_value_patterns([pattern(**fields)], NOW, SETTINGS)
    assert (says in found[0].why) if says else not found


def test_those_with_the_most_reasons_come_first() -> None:
    weak = {"sessions": 5, "confidence": 0.1}
    old = NOW - timedelta(days=400)
    found = low_value_patterns(
        [pattern("a", created_at=old), pattern("b", evidence=weak, created_at=old)], NOW, SETTINGS
    )
    assert [each.pattern.id for each in found] == ["b", "a"]
    assert len(found[0].reasons) == 2
