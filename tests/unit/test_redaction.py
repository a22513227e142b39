"""Secrets are taken out of a whole value, wherever they stand, and nothing else is touched."""

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from tests.examples import examples
from tests.growth import LINEAR, growth
from tests.property.strategies import RECORDS, values
from tests.samples import knowledge, sample, turn
from treering.core import payloads
from treering.core.episodes import Episode
from treering.core.errors import SecretRefused
from treering.core.history import Revision
from treering.core.patterns import Pattern
from treering.core.payloads import Payload
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
@examples(8)
@given(data=st.data())
def test_redaction_is_idempotent_and_leaves_clean_values_as_they_are(cls: type[Record], data: st.DataObject) -> None:
    value = data.draw(values(cls, "narrow"))
    redacted = without_secrets(value)
    assert redacted.kinds == ()
    assert redacted.value is value


class Endpoint(BaseModel):
    header: str = ""


@dataclass(frozen=True)
class Login:
    note: str = ""


class Anything(Payload):
    """What a plug-in may come up with."""

    digest: str = ""
    before: str = ""
    listed: list[str] = Field(default_factory=list)
    chosen: frozenset[str] = frozenset()
    several: set[str] = Field(default_factory=set)
    named: dict[str, Any] = Field(default_factory=dict)
    endpoint: Endpoint = Endpoint()
    login: Login = Login()
    raw: bytes = b""


@pytest.fixture(autouse=True)
def anything_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The type is gone again after the test."""
    monkeypatch.setattr(payloads, "_TYPES", dict(payloads._TYPES))
    payloads.register_knowledge_type("anything", Anything)


@pytest.mark.parametrize(
    "payload",
    [
        {"digest": TOKEN},
        {"before": TOKEN},
        {"listed": ["fine", TOKEN]},
        {"chosen": {TOKEN}},
        {"several": {TOKEN}},
        {"named": {TOKEN: 1, f"x {TOKEN}": {TOKEN: TOKEN}}},
        {"named": {"deep": [{"password": "hunter2!hunter2"}, TOKEN]}},
        {"endpoint": {"header": TOKEN}},
        {"login": {"note": TOKEN}},
    ],
    ids=str,
)
def test_whatever_a_payload_is_made_of_is_cleaned(payload: dict[str, Any]) -> None:
    redacted = without_secrets(knowledge(type="anything", payload=payload))
    stored = redacted.value.to_json()
    assert TOKEN not in stored
    assert "hunter2" not in stored
    assert redacted.kinds
    assert without_secrets(redacted.value).value == redacted.value


def test_a_secret_in_what_cannot_be_rewritten_is_refused() -> None:
    with pytest.raises(SecretRefused, match="bytes"):
        without_secrets(knowledge(type="anything", payload={"raw": TOKEN.encode()}))


def test_keys_that_are_secrets_stay_as_many_as_they_were() -> None:
    other = TOKEN[:-1] + "x"
    metadata = without_secrets(turn(metadata={TOKEN: 1, other: 2, "plain": 3})).value.metadata
    assert sorted(metadata.values()) == [1, 2, 3]
    assert TOKEN not in str(metadata)
    assert other not in str(metadata)


def test_many_keys_that_are_secrets_are_renamed_in_linear_time() -> None:
    def redacted(count: int) -> None:
        names = (f"ghp_{number:06}{TOKEN[10:]}" for number in range(count))
        assert len(without_secrets(turn(metadata=dict.fromkeys(names, 1))).value.metadata) == count

    assert growth(redacted, 1_000, 4_000) < LINEAR


def test_only_a_revisions_own_snapshot_is_taken_to_be_clean() -> None:
    revision = sample(Revision, "r", before=f'{{"content": "{TOKEN}"}}')
    assert without_secrets(revision).value is revision


PASSWORD = "Zt7-kQ9_vv21xx"


@pytest.mark.parametrize(
    ("content", "stated"),
    [
        ("The login is known.", {"subject": "admin", "attribute": "password"}),
        ("The login is known.", {"subject": "admin password"}),
        ("The admin password.", {}),
        (f"The admin password is {PASSWORD}.", {"attribute": "login"}),
    ],
)
def test_the_value_of_a_statement_is_a_secret_by_what_is_said_of_it(content: str, stated: dict[str, str]) -> None:
    record = knowledge(content=content, type="fact", payload={**stated, "value": PASSWORD})
    cleaned = without_secrets(record)
    assert PASSWORD not in cleaned.value.to_json()
    assert set(cleaned.kinds) == {"password"}
    assert without_secrets(cleaned.value).value == cleaned.value


@pytest.mark.parametrize(
    ("content", "stated"),
    [
        ("The port is 5433.", {"subject": "db", "attribute": "port", "value": "5433"}),
        ("The password is rotated monthly.", {"subject": "password", "attribute": "rotation", "value": "monthly"}),
        ("The token limit is 4096.", {"subject": "model", "attribute": "token limit", "value": "4096 tokens"}),
    ],
)
def test_other_statements_stay_as_they_are(content: str, stated: dict[str, str]) -> None:
    record = knowledge(content=content, type="fact", payload=stated)
    assert without_secrets(record).value is record
