"""The registry of knowledge types, and a plug-in's own type from registration to recall."""

import json
from collections.abc import Iterator
from datetime import datetime

import pytest

import treering
from tests.samples import NOW
from treering.core import payloads
from treering.core.errors import InvalidInput
from treering.core.payloads import Gotcha, Opaque, Payload, knowledge_type, knowledge_types, register_knowledge_type
from treering.core.records import Knowledge
from treering.core.values import Instant, Labels
from treering.memory import Memory


class Recipe(Payload):
    ingredients: Labels = ()
    cooked_at: Instant | None = None


class OtherRecipe(Payload):
    oven: bool = False


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    """Whatever a test registers is gone after it."""
    before = dict(payloads._TYPES)
    yield
    payloads._TYPES.clear()
    payloads._TYPES.update(before)


def test_the_types_of_the_requirements_are_there() -> None:
    assert set(knowledge_types()) == {
        "gotcha", "decision", "preference", "pattern", "requirement", "error_pattern", "module_insight",
        "prefetch_pattern", "work_state", "causal_dependency", "task_calibration", "e2e_observation", "dead_end",
        "work_unit_outcome", "workflow_recipe", "context_cost", "fact", "reflection",
    }  # fmt: skip


def test_a_plug_in_type_goes_through_the_store_and_back(memory: Memory) -> None:
    treering.register_knowledge_type("recipe", Recipe, half_life_days=30)
    record = memory.remember(
        "soup", type="recipe", payload={"ingredients": ["leek"], "cooked_at": "2026-05-08T12:00:00Z"}
    )
    again = memory.get(record.id)
    assert again == record
    assert isinstance(again, Knowledge)
    assert again.payload == Recipe(ingredients=("leek",), cooked_at=datetime.fromisoformat("2026-05-08T12:00:00Z"))
    assert again.half_life_days == 30
    assert memory.stats().knowledge == {"recipe": 1}


def test_a_type_is_registered_once_and_never_redefined() -> None:
    first = register_knowledge_type("recipe", Recipe)
    assert register_knowledge_type("recipe", Recipe) == first
    for name, payload, half_life in (("recipe", OtherRecipe, None), ("recipe", Recipe, 5.0), ("fact", Recipe, None)):
        with pytest.raises(InvalidInput, match="another definition"):
            register_knowledge_type(name, payload, half_life)


@pytest.mark.parametrize("name", ["", "two words", "a-b", "1st", "x" * 300])
def test_a_type_needs_a_name_that_can_be_stored(name: str) -> None:
    with pytest.raises(InvalidInput, match="not a valid name"):
        register_knowledge_type(name, Recipe)
    assert name not in knowledge_types()


def test_an_unknown_type_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(InvalidInput, match=r"unknown knowledge type 'spell'.*decision.*or register it"):
        knowledge_type("spell")
    with pytest.raises(InvalidInput, match="unknown knowledge type 'spell'"):
        Knowledge.make(id="k", type="spell", content="x", created_at=NOW, updated_at=NOW, last_accessed_at=NOW)


@pytest.mark.parametrize(
    ("payload", "says"),
    [
        (Gotcha(), "is a Gotcha; pass a Fact"),
        ({"subject": 5}, "payload is not a valid Fact: subject"),
        ({"colour": "red"}, "payload is not a valid Fact: colour"),
        ("text", "payload is not a mapping"),
    ],
)
def test_a_payload_belongs_to_its_type(payload: object, says: str) -> None:
    fields = dict.fromkeys(("created_at", "updated_at", "last_accessed_at"), NOW)
    with pytest.raises(InvalidInput, match=says):
        Knowledge.make(id="k", type="fact", content="x", payload=payload, **fields)


def test_a_payload_of_an_unknown_type_is_understood_once_the_type_is_known() -> None:
    unknown = Knowledge.from_json(_written("spell", {"power": 3}))
    assert unknown.payload == Opaque(fields={"power": 3})

    class Spell(Payload):
        power: int

    register_knowledge_type("spell", Spell)
    assert unknown.replace(pinned=True).payload == Spell(power=3)


def _written(type: str, payload: object) -> str:
    moments = dict.fromkeys(("created_at", "updated_at", "last_accessed_at"), "2026-05-08T13:56:00Z")
    return json.dumps({"id": "k", "type": type, "content": "told", "payload": payload, **moments})
