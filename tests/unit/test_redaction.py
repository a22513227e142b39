"""Secrets are taken out of a whole value, wherever they stand, and nothing else is touched."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.property.strategies import RECORDS, values
from tests.samples import knowledge, sample, turn
from treering.core.episodes import Episode
from treering.core.errors import SecretRefused
from treering.core.patterns import Pattern
from treering.core.redaction import without_secrets
from treering.core.values import Record

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"[:36]


@pytest.mark.parametrize(
    "value",
    [
        knowledge(content=f"the token is {TOKEN}"),
        knowledge(tags=("fine", TOKEN)),
        knowledge(payload={"subject": f"token {TOKEN}"}),
        turn(text=TOKEN),
        turn(metadata={"deep": [{"er": f"x {TOKEN} y"}]}),
        turn(tool_calls=[{"id": "c", "name": "curl", "arguments": {"header": f"Bearer {TOKEN}"}}]),
        sample(Episode, "e", task={"input": "x", "context": {"env": TOKEN}}),
        sample(Episode, "e", execution={"trace": [{"at": "2026-01-01T00:00:00Z", "action": "x", "output": TOKEN}]}),
        sample(
            Pattern,
            "p",
            content={
                "form": "heuristic",
                "action": "x",
                "condition": {
                    "form": "not",
                    "condition": {"form": "test", "field": "f", "operator": "eq", "value": TOKEN},
                },
            },
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_secret_is_taken_out_at_any_depth(value: Record) -> None:
    redacted = without_secrets(value)
    assert TOKEN not in redacted.value.to_json()
    assert "[redacted:" in redacted.value.to_json()
    assert redacted.kinds
    assert redacted.value.id == value.id
    assert without_secrets(redacted.value).value == redacted.value


@pytest.mark.parametrize("field", ["id", "session", "owner"])
def test_a_secret_in_a_name_is_refused_because_it_cannot_be_replaced(field: str) -> None:
    with pytest.raises(SecretRefused, match=field):
        without_secrets(turn(**{"id": "t", field: TOKEN}))


@pytest.mark.parametrize("cls", RECORDS, ids=lambda cls: cls.__name__)
@settings(max_examples=8)
@given(data=st.data())
def test_redaction_is_idempotent_and_leaves_clean_values_as_they_are(cls: type[Record], data: st.DataObject) -> None:
    value = data.draw(values(cls, "narrow"))
    redacted = without_secrets(value)
    assert redacted.kinds == ()
    assert redacted.value is value
