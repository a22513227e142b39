"""Where a pattern fails, and how that becomes a condition: only where the failures really lie apart."""

import random
from typing import Any

import pytest

from tests.samples import NOW
from treering.core.conditions import Operator
from treering.core.conditions import Test as FieldTest
from treering.core.patterns import Applicability, Application
from treering.core.settings.patterns import PatternSettings
from treering.patterns.refinement import Refinement, refine

SETTINGS = PatternSettings()
BEFORE = Applicability(conditions=(FieldTest(field="domain", operator=Operator.EQ, value="backend"),))


def seen(times: int, outcome: str, session: str | None = None, **features: Any) -> list[dict[str, Any]]:
    return [{"outcome": outcome, "session": session, "features": features}] * times


def refined(*groups: list[dict[str, Any]]) -> Refinement:
    applications = [
        Application.make(id=str(i), pattern="p", at=NOW, **each)
        for i, each in enumerate(one for group in groups for one in group)
    ]
    return refine(BEFORE, applications, SETTINGS, evidence=1)


def added(found: Refinement) -> tuple[str, FieldTest]:
    """Whether a condition or an anti-condition was added, and which."""
    assert found.applicability is not None
    assert found.applicability.conditions[0] == BEFORE.conditions[0]
    (test,) = (*found.applicability.conditions[1:], *found.applicability.anti_conditions)
    assert isinstance(test, FieldTest)
    return ("not" if found.applicability.anti_conditions else "only"), test


def test_failures_of_one_kind_become_an_anti_condition() -> None:
    kinds = [seen(6, "SUCCESS", os=name) for name in ("linux", "mac", "bsd")]
    found = refined(*kinds, seen(8, "FAILURE", os="windows"), seen(1, "SUCCESS", os="windows"))
    assert added(found) == ("not", FieldTest(field="os", operator=Operator.EQ, value="windows"))
    assert found.changes == ("not where os is windows",)
    assert "18 of 18 succeeded, of the excluded ones 1 of 9" in found.reason
    assert found.evidence == 2


def test_successes_of_one_kind_become_a_condition() -> None:
    kinds = [seen(6, "FAILURE", os=name) for name in ("linux", "mac", "bsd")]
    found = refined(*kinds, seen(9, "SUCCESS", os="windows"))
    assert added(found) == ("only", FieldTest(field="os", operator=Operator.EQ, value="windows"))


def test_several_kinds_go_together() -> None:
    good = [seen(7, "SUCCESS", os=name) for name in ("linux", "mac", "bsd")]
    bad = [seen(7, "FAILURE", os=name) for name in ("nt", "dos")]
    kind, test = added(refined(*good, *bad))
    assert (kind, test.operator) == ("not", Operator.IN)
    assert set(test.value) == {"nt", "dos"}


def test_a_number_is_cut_where_failures_begin() -> None:
    good = [seen(1, "SUCCESS", complexity=i / 40) for i in range(16)]
    bad = [seen(1, "FAILURE", complexity=0.6 + i / 40) for i in range(12)]
    kind, test = added(refined(*good, *bad))
    assert test.operator is Operator.RANGE
    low, high = test.value
    if kind == "only":
        assert low is None
        assert 0.375 < high < 0.6
    else:
        assert high is None
        assert 0.375 < low < 0.6
    assert len(str(high if low is None else low)) <= 4


def test_what_a_list_contains_and_what_lies_deeper_are_asked_too() -> None:
    found = refined(
        seen(10, "SUCCESS", tools=("editor", "shell")), seen(9, "FAILURE", tools=("editor", "browser", "shell"))
    )
    assert added(found) == ("not", FieldTest(field="tools", operator=Operator.CONTAINS, value="browser"))
    found = refined(
        seen(10, "SUCCESS", context={"branch": "main", "x": 1}), seen(9, "FAILURE", context={"branch": "old", "x": 1})
    )
    assert added(found)[1].field == "context.branch"


def test_a_field_that_failures_lack_becomes_a_condition() -> None:
    found = refined(seen(10, "SUCCESS", lock="x", kind="a"), seen(10, "FAILURE", kind="a"))
    assert added(found) == ("only", FieldTest(field="lock", operator=Operator.EXISTS))


def test_what_was_forgotten_teaches_nothing() -> None:
    found = refined(seen(10, "SUCCESS", lock="x"), seen(10, "FAILURE"))
    assert (found.applicability, found.reason) == (
        None,
        "no application failed: there is nothing to separate",
    )


@pytest.mark.parametrize("value", ["web", "db"])
def test_what_is_parted_already_is_not_parted_again(value: str) -> None:
    told = [*seen(10, "SUCCESS", domain="web"), *seen(10, "FAILURE", domain="db")]
    applications = [Application.make(id=str(i), pattern="p", at=NOW, **each) for i, each in enumerate(told)]
    assert refine(Applicability(), applications, SETTINGS, evidence=1).applicability is not None
    known = Applicability(conditions=(FieldTest(field="domain", operator=Operator.EQ, value=value),))
    assert refine(known, applications, SETTINGS, evidence=1).applicability is None


def test_one_session_that_fails_a_hundred_times_is_one_failure() -> None:
    good = seen(12, "SUCCESS", os="linux")
    assert refined(good, seen(100, "FAILURE", "s", os="windows")).applicability is None
    apart = [seen(1, "FAILURE", f"s{i}", os="windows") for i in range(10)]
    assert refined(good, *apart).applicability is not None


def test_noise_is_not_fitted() -> None:
    """Twenty features that decide nothing, a hundred times: one in twenty may be fitted, and fewer are."""
    fitted = 0
    for seed in range(100):
        pick = random.Random(seed)
        noise = [
            seen(1, pick.choice(("SUCCESS", "FAILURE")), **{f"f{i}": pick.choice("abc") for i in range(20)})
            for _ in range(40)
        ]
        fitted += refined(*noise).applicability is not None
    assert fitted <= 5


def test_a_true_split_is_found_among_noise() -> None:
    hit = 0
    for seed in range(20):
        pick = random.Random(seed)
        told = []
        for _ in range(60):
            features = {f"f{i}": pick.choice("abc") for i in range(20)}
            good = pick.random() < (0.1 if features["f7"] == "b" else 0.9)
            told.append(seen(1, "SUCCESS" if good else "FAILURE", **features))
        found = refined(*told)
        hit += found.applicability is not None and added(found) == (
            "not",
            FieldTest(field="f7", operator=Operator.EQ, value="b"),
        )
    assert hit >= 18


@pytest.mark.parametrize(
    ("groups", "reason"),
    [
        ([], "no application with known features succeeded"),
        ([seen(9, "SUCCESS", os="linux")], "no application failed"),
        ([seen(9, "FAILURE", os="linux")], "no application succeeded"),
        ([seen(9, "SUCCESS"), seen(9, "FAILURE")], "no application with known features succeeded"),
        ([seen(2, "SUCCESS", os="a"), seen(2, "FAILURE", os="b")], "none of"),
        ([seen(12, "SUCCESS", x="a"), seen(28, "FAILURE", x="a"), seen(60, "FAILURE", x="b")], "even at its best"),
    ],
)
def test_where_nothing_separates_the_reason_is_told(groups: list[list[dict[str, Any]]], reason: str) -> None:
    found = refined(*groups)
    assert found.applicability is None
    assert found.evidence == 1
    assert found.reason.startswith(reason)


def test_odd_features_break_nothing() -> None:
    odd: dict[str, Any] = {
        "": 1,
        "\n": "x",
        "n" * 300: "x",
        "big": 10**400,
        "none": None,
        "deep": {"": {"x": [1, None]}},
    }
    found = refined(
        [{"outcome": "SUCCESS", "features": odd | {"os": "a"}}] * 9,
        [{"outcome": "FAILURE", "features": odd | {"os": "b"}}] * 9,
    )
    assert added(found)[1].field == "os"
