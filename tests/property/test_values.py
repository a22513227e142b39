"""What every value promises: loss-free JSON, frozen, pickled whole, and errors that name the field."""

import json
import pickle
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.examples import examples
from tests.property.model import typed
from tests.property.strategies import FILTERS, PAYLOADS, RECORDS, VALUES, json_objects, knowledge, values
from treering.core.conditions import Not
from treering.core.conditions import Test as FieldTest
from treering.core.errors import InvalidInput
from treering.core.payloads import Opaque, Stated, knowledge_types
from treering.core.scope import Scope
from treering.core.turns import Turn
from treering.core.values import NESTING, FrozenDict, Value

EXAMPLES = examples(4)
every_value = pytest.mark.parametrize("cls", VALUES, ids=lambda cls: cls.__name__)
NOW = datetime(2026, 5, 8, tzinfo=UTC)


def inside(value: Any) -> Iterator[Any]:
    """Every part of a value, at any depth."""
    yield value
    parts = (
        value.__dict__.values() if isinstance(value, Value) else value.values() if isinstance(value, Mapping) else ()
    )
    for part in (*parts, *(value if isinstance(value, tuple) else ())):
        yield from inside(part)


def turn(**fields: Any) -> Turn:
    return Turn.make(**{"id": "t", "session": "s", "role": "user", "text": "x", "at": NOW, "recorded_at": NOW} | fields)


def test_the_models_hold_every_kind_the_requirements_name() -> None:
    assert len(knowledge_types()) == 18
    assert {cls.__name__ for cls in RECORDS} >= {
        "Knowledge", "Turn", "Session", "Episode", "Pattern", "Entity", "EntityLink",
        "CoAccessEdge", "ObservedSession", "SavedScratchpad", "SignalEvidence", "AuditEntry", "Revision", "Job",
    }  # fmt: skip
    assert len(FILTERS) == len(RECORDS)
    assert set(PAYLOADS) == {Opaque, Stated, *(kind.payload for kind in knowledge_types().values())}


@every_value
@EXAMPLES
@given(data=st.data())
def test_a_trip_through_json_loses_nothing(cls: type[Value], data: st.DataObject) -> None:
    value = data.draw(values(cls))
    again = cls.from_json(value.to_json())
    assert again == value
    assert typed(again) == typed(value)


@pytest.mark.parametrize("name", sorted(knowledge_types()))
@EXAMPLES
@given(data=st.data())
def test_knowledge_of_each_type_keeps_its_payload_through_json(name: str, data: st.DataObject) -> None:
    record = data.draw(knowledge(name))
    again = type(record).from_json(record.to_json())
    assert typed(again) == typed(record)
    assert type(again.payload) is type(record.payload)


@every_value
@EXAMPLES
@given(data=st.data())
def test_values_are_equal_after_replacing_nothing_and_after_pickling(cls: type[Value], data: st.DataObject) -> None:
    value = data.draw(values(cls))
    assert typed(value.replace()) == typed(value)
    assert typed(pickle.loads(pickle.dumps(value))) == typed(value)
    assert hash(value.replace()) == hash(value)


@every_value
@EXAMPLES
@given(data=st.data())
def test_nothing_inside_a_value_can_be_changed(cls: type[Value], data: st.DataObject) -> None:
    value = data.draw(values(cls))
    for name in cls.model_fields:
        with pytest.raises(ValidationError, match="frozen"):
            setattr(value, name, getattr(value, name))
    for part in inside(value):
        hash(part)
        assert not isinstance(part, (list, dict, set, bytearray))


@given(json_objects)
def test_a_frozen_mapping_refuses_every_change(items: dict[str, Any]) -> None:
    mapping = FrozenDict(items)
    for change in ("__setitem__", "__delitem__", "pop", "update", "clear", "setdefault"):
        assert not hasattr(mapping, change)
    with pytest.raises(AttributeError):
        mapping.extra = 1  # type: ignore[attr-defined]


@every_value
@examples(3)
@given(data=st.data())
def test_a_bad_value_is_invalid_input_that_names_its_field(cls: type[Value], data: st.DataObject) -> None:
    value = data.draw(values(cls))
    for name in cls.model_fields:
        with pytest.raises(InvalidInput, match=name):
            value.replace(**{name: object()})
    with pytest.raises(InvalidInput, match="no_such_field"):
        cls.make(**value.__dict__, no_such_field=1)


def nested(depth: int) -> list[Any]:
    inner: list[Any] = []
    for _ in range(depth):
        inner = [inner]
    return inner


@pytest.mark.parametrize(
    ("field", "bad", "says"),
    [
        ("id", "", "empty"),
        ("id", "   ", "empty"),
        ("id", "a\nb", "printable"),
        ("id", "é" * 101, "202 bytes; the limit is 200"),
        ("speaker", "x" * 257, "the limit is 256"),
        ("text", "a\x00b", "NUL"),
        ("text", "\ud800", "text"),
        ("at", datetime(2026, 1, 1), "timezone"),
        ("at", datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14))), "years 1 to 9999"),
        ("at", datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-5))), "years 1 to 9999"),
        ("seq", -1, "greater than or equal to 0"),
        ("seq", 2**63, "less than"),
        ("role", "bystander", "'user'"),
        ("metadata", {"a": float("nan")}, "not JSON"),
        ("metadata", {"a": float("inf")}, "not JSON"),
        ("metadata", {"a": {1, 2}}, "set is not JSON"),
        ("metadata", {"a": b"x"}, "bytes is not JSON"),
        ("metadata", {"a": "\x00"}, "NUL"),
        ("metadata", {"\ud800": 1}, "surrogate"),
        ("metadata", {"a": 10**5000}, "digits"),
        ("metadata", {"a": nested(NESTING)}, "nested deeper"),
        ("metadata", {"a": nested(100_000)}, "nested deeper"),
        ("metadata", [1], "mapping"),
    ],
)
def test_what_cannot_be_stored_is_refused_with_its_reason(field: str, bad: Any, says: str) -> None:
    with pytest.raises(InvalidInput, match=says) as refusal:
        turn(**{field: bad})
    assert field in str(refusal.value)


def test_what_lies_just_within_the_limits_is_kept() -> None:
    kept = turn(id="é" * 100, seq=2**63 - 1, metadata={"a": nested(NESTING - 2), "b": 10**3900})
    assert Turn.from_json(kept.to_json()) == kept
    assert json.loads(kept.to_json())["metadata"]["b"] == 10**3900


def test_conditions_nest_only_as_deep_as_they_can_be_read_again() -> None:
    condition: Any = FieldTest(field="f", operator="eq")
    for _ in range(NESTING - 1):
        condition = Not.make(condition=condition)
    assert Not.from_json(condition.to_json()) == condition
    with pytest.raises(InvalidInput, match="nest deeper"):
        Not.make(condition=condition)


@given(st.text(max_size=8) | st.sampled_from(["é" * 100, "é" * 101, "x" * 200, "x" * 201, "\ud800", "a\x00b", " ", ""]))
def test_a_scope_by_names_is_the_one_that_is_validated(name: str) -> None:
    names = {"tenant": "local", "project": name, "principal": "me"}
    try:
        made = Scope.make(**names)
    except InvalidInput as exc:
        with pytest.raises(InvalidInput, match=re.escape(str(exc))):
            Scope.named(**names)
        return
    assert Scope.named(**names) == made
    assert Scope.named(**names).model_fields_set == made.model_fields_set
    assert hash(Scope.named(**names)) == hash(made)
