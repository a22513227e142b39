"""Every condition has an answer for every task, is the same after a trip through JSON, and says what it means."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from tests.property.condition_words import meaning, understood
from tests.property.strategies import conditions, json_objects, json_values, labels
from treering.core.conditions import (
    AllOf,
    AnyOf,
    Condition,
    Not,
    Operator,
    explain,
    fields_of,
    holds,
    leaves_of,
    value_at,
)
from treering.core.conditions import Test as FieldTest

FIELDS = ("a", "b", "a.b", "a.b.c", "b.c")
SCALARS = st.sampled_from((None, True, False, 0, 1, 1.0, 0.5, "", "x", "X", "xy", "src/x"))
FEW_VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
    max_leaves=4,
)
FEATURES = st.dictionaries(st.sampled_from(FIELDS), FEW_VALUES, max_size=4)
tests = st.builds(FieldTest, field=st.sampled_from(FIELDS), operator=st.sampled_from(Operator), value=FEW_VALUES)
ANY_CONDITION: TypeAdapter[Any] = TypeAdapter(Condition)
# What no JSON holds, but what somebody may pass all the same.
STRANGE = st.sampled_from((object(), float("nan"), float("inf"), b"bytes", {1: 2}, {"x"}, range(3), int))


@given(condition=conditions, features=json_objects)
def test_every_condition_has_an_answer_for_any_features(condition: Condition, features: dict[str, Any]) -> None:
    assert holds(condition, features) in (True, False)
    assert fields_of(condition) == {test.field for test in leaves_of(condition)}


@given(test=tests, strange=STRANGE, listed=st.booleans())
def test_what_is_not_json_is_no_error_either(test: FieldTest, strange: Any, listed: bool) -> None:
    assert holds(test, {test.field: [strange] if listed else strange}) in (True, False)
    assert holds(test, strange) in (True, False)


@given(condition=conditions)
def test_conditions_are_the_same_after_a_trip_through_json(condition: Condition) -> None:
    assert ANY_CONDITION.validate_json(condition.to_json()) == condition


@given(condition=conditions, features=json_objects)
def test_a_condition_read_again_answers_alike(condition: Condition, features: dict[str, Any]) -> None:
    assert holds(ANY_CONDITION.validate_json(condition.to_json()), features) is holds(condition, features)


@given(test=tests, features=FEATURES)
def test_a_missing_field_fails_every_test_but_the_one_for_its_absence(test: FieldTest, features: Any) -> None:
    absent = {name: value for name, value in features.items() if not test.field.startswith(name.split(".")[0])}
    asks_for_absence = test.operator is Operator.EXISTS and test.value is False
    assert holds(test, absent) is asks_for_absence
    assert holds(Not(condition=test), absent) is not asks_for_absence


@given(parts=st.lists(tests, max_size=3), features=FEATURES)
def test_joined_conditions_are_logic(parts: list[FieldTest], features: dict[str, Any]) -> None:
    answers = [holds(part, features) for part in parts]
    every, some = AllOf(conditions=tuple(parts)), AnyOf(conditions=tuple(parts))
    assert holds(every, features) is all(answers)
    assert holds(some, features) is any(answers)
    assert holds(Not(condition=every), features) is not all(answers)
    negated = tuple(Not(condition=part) for part in parts)
    assert holds(Not(condition=some), features) is holds(AllOf(conditions=negated), features)


@given(field=labels, value=json_values)
def test_what_stands_in_a_field_is_equal_to_itself_and_one_of_itself(field: str, value: Any) -> None:
    features = {field: value}
    assert holds(FieldTest(field=field, operator="eq", value=value), features)
    assert holds(FieldTest(field=field, operator="in", value=[value]), features)
    assert holds(FieldTest(field=field, operator="exists"), features) is (value is not None)


@given(members=st.lists(SCALARS, max_size=4), wanted=SCALARS)
def test_a_list_passes_when_any_member_does(members: list[Any], wanted: Any) -> None:
    test = FieldTest(field="f", operator="eq", value=wanted)
    assert holds(test, {"f": members}) is any(holds(test, {"f": each}) for each in members)


@given(low=st.none() | st.integers(-3, 3), high=st.none() | st.integers(-3, 3), number=st.integers(-4, 4))
def test_a_range_holds_its_ends(low: int | None, high: int | None, number: int) -> None:
    test = FieldTest(field="f", operator="range", value=[low, high])
    within = (low is None or number >= low) and (high is None or number <= high)
    assert holds(test, {"f": number}) is within
    assert holds(test, {"f": [number, "text"]}) is within


ODD_FIELDS = st.sampled_from((*FIELDS, "task_type", "task type", "_a", "not", "a_or_b", "1", "b is", "(a)", "always"))
ODD_TEXTS = st.sampled_from(("1", "true", "null", "known", "or", "a", "not", "within", "at", "a b", "x,", "[", "(", ""))
ENDS = st.none() | st.integers(-3, 3) | st.floats(allow_nan=False, allow_infinity=False)
ODD_VALUES: dict[Operator, st.SearchStrategy[Any]] = {
    Operator.EQ: ODD_TEXTS | FEW_VALUES,
    Operator.IN: st.lists(ODD_TEXTS | SCALARS, max_size=4) | FEW_VALUES,
    Operator.RANGE: st.tuples(ENDS, ENDS) | FEW_VALUES,
    Operator.CONTAINS: ODD_TEXTS | FEW_VALUES,
    Operator.PREFIX: ODD_TEXTS | FEW_VALUES,
    Operator.EXISTS: st.sampled_from((None, True, False)) | FEW_VALUES,
}


def odd_tests(operator: Operator) -> st.SearchStrategy[FieldTest]:
    return st.builds(FieldTest, field=ODD_FIELDS, operator=st.just(operator), value=ODD_VALUES[operator])


def joined(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, min_size=2, max_size=3) | st.lists(inner, max_size=3)
    return st.builds(AllOf, conditions=several) | st.builds(AnyOf, conditions=several) | st.builds(Not, condition=inner)


ANY_TEST = st.one_of([odd_tests(operator) for operator in Operator])
ODD_CONDITIONS = joined(joined(ANY_TEST) | ANY_TEST) | st.recursive(ANY_TEST, joined, max_leaves=8)


@pytest.mark.parametrize("negated", [False, True])
@pytest.mark.parametrize("operator", Operator)
@given(data=st.data())
def test_every_test_is_said_in_words_that_mean_it(operator: Operator, negated: bool, data: st.DataObject) -> None:
    """Read back from the words alone, it is the same: operator, value and negation."""
    test = data.draw(odd_tests(operator))
    condition = Not(condition=test) if negated else test
    assert understood(explain(condition)) == meaning(condition)


@given(condition=ODD_CONDITIONS)
def test_joined_conditions_are_said_in_words_that_mean_them(condition: Condition) -> None:
    assert understood(explain(condition)) == meaning(condition)


@given(condition=conditions)
def test_whatever_the_fields_and_values_are_the_words_mean_the_condition(condition: Condition) -> None:
    assert understood(explain(condition)) == meaning(condition)


@given(features=FEATURES, field=st.sampled_from(FIELDS))
def test_a_dotted_name_finds_nested_values(features: dict[str, Any], field: str) -> None:
    nested: Any = features
    for step in field.split("."):
        nested = nested.get(step) if isinstance(nested, dict) else None
    if field in features:
        assert value_at(features, field) is features[field]
    elif nested is not None and not any("." in name for name in features):
        assert value_at(features, field) is nested


def test_deep_features_do_not_exhaust_the_stack() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    assert not holds(FieldTest(field="f", operator="eq", value=[[[1]]]), {"f": deep})
    assert not holds(FieldTest(field="f", operator="contains", value=1), {"f": deep})


@pytest.mark.parametrize("value", ["1", [1], [1, 2, 3], ["a", "b"], [True, 2], {"low": 1}, None])
def test_what_is_no_range_holds_nothing(value: Any) -> None:
    assert not holds(FieldTest(field="f", operator="range", value=value), {"f": 1})
