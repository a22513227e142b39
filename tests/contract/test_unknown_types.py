"""Records of a knowledge type that this process never heard of are kept, found and changed like all others."""

import json
from pathlib import Path
from unittest.mock import patch

import pytest

import treering
from tests.conftest import OpenMemory
from treering.core import payloads
from treering.core.errors import InvalidInput
from treering.core.payloads import Opaque, Payload
from treering.core.records import Knowledge
from treering.memory import Memory

PAYLOAD = {"severity": 1, "services": ["shop"]}


class Outage(Payload):
    severity: int = 3
    services: tuple[str, ...] = ()
    note: str | None = None


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    """With two records of a type that was registered only while they were written."""
    with patch.dict(payloads._TYPES):
        treering.register_knowledge_type("outage", Outage, half_life_days=120)
        with open_memory() as writer:
            writer.remember("checkout was down", type="outage", id="told", payload=PAYLOAD)
            writer.remember("checkout was slow", type="outage", id="untold")
            writer.pin("told")
    return open_memory()


def told(memory: Memory) -> Knowledge:
    record = memory.get("told")
    assert isinstance(record, Knowledge)
    return record


def payload_of(record: Knowledge) -> object:
    return json.loads(record.to_json())["payload"]


def test_they_are_found_with_their_payload_as_it_was_written(memory: Memory) -> None:
    assert {hit.id for hit in memory.search("checkout")} == {"told", "untold"}
    assert isinstance(told(memory).payload, Opaque)
    assert payload_of(told(memory)) == PAYLOAD
    assert payload_of(memory.get("untold")) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("id", ["told", "untold"])
def test_they_are_changed_and_put_back_without_losing_anything(memory: Memory, id: str) -> None:
    before = memory.get(id)
    memory.flag(id)
    memory.confirm(id)
    memory.pin(id, pinned=False)
    corrected = memory.correct(id, "outdated", text="checkout is fine")
    assert (corrected.type, payload_of(corrected)) == ("outage", None)
    for _ in range(4):
        memory.undo(id)
    memory.forget(id)
    memory.undo(id)
    assert payload_of(memory.get(id)) == payload_of(before)  # type: ignore[arg-type]
    memory.forget(id, hard=True)
    assert [hit.id for hit in memory.search("checkout")] == [{"told": "untold", "untold": "told"}[id]]


def test_they_travel_through_an_export(memory: Memory, open_memory: OpenMemory, tmp_path: Path) -> None:
    memory.export(tmp_path / "e.jsonl", history=True)
    other = open_memory(project="elsewhere")
    assert other.import_(tmp_path / "e.jsonl").conflicts == ()
    assert told(other) == told(memory)
    assert "checkout was down" in [entry.content_before for entry in other.history("told")]


def test_a_secret_in_such_a_payload_is_redacted(memory: Memory) -> None:
    changed = told(memory).replace(payload=Opaque(fields={"password": "hunter2-Zx81!kq"}))
    with memory.store.transaction(memory.scope, changed.updated_at) as tx:
        tx.knowledge.update(changed)
    assert "hunter2" not in told(memory).to_json()


def test_new_ones_are_refused(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="unknown knowledge type 'outage'"):
        memory.remember("checkout again", type="outage")
    with pytest.raises(InvalidInput, match="unknown knowledge type 'outage'"):
        memory.remember("checkout again", type="outage", payload=PAYLOAD)
