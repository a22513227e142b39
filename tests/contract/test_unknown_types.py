"""Records of a knowledge type that this process never heard of are kept, found and changed like all others."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import OpenMemory
from treering.core.errors import InvalidInput
from treering.core.payloads import Opaque
from treering.core.records import Knowledge
from treering.memory import Memory

WRITER = """
import sys, treering
from treering.core.payloads import Payload

class Outage(Payload):
    severity: int = 3
    services: tuple[str, ...] = ()
    note: str | None = None

treering.register_knowledge_type("outage", Outage, half_life_days=120)
place, tenant, blobs = sys.argv[1:]
with treering.open(place, project="p", tenant=tenant, blobs=blobs) as memory:
    memory.remember("checkout was down", type="outage", id="told", payload={"severity": 1, "services": ["shop"]})
    memory.remember("checkout was slow", type="outage", id="untold")
    memory.pin("told")
"""
PAYLOAD = {"severity": 1, "services": ["shop"]}


@pytest.fixture
def memory(engine: str, open_memory: OpenMemory, tmp_path: Path, request: pytest.FixtureRequest) -> Memory:
    """With two records of a type that only another process knew."""
    memory = open_memory()
    place = memory.store.location if engine == "sqlite" else request.getfixturevalue("postgres_url")
    blobs = tmp_path / ("memory.db.blobs" if engine == "sqlite" else "blobs")
    subprocess.run([sys.executable, "-c", WRITER, place, memory.scope.tenant, str(blobs)], check=True)
    return memory


def told(memory: Memory) -> Knowledge:
    record = memory.get("told")
    assert isinstance(record, Knowledge)
    return record


def payload_of(record: Knowledge) -> object:
    return json.loads(record.to_json())["payload"]


def test_they_are_found_with_their_payload_as_it_was_written(memory: Memory) -> None:
    assert {hit.id for hit in memory.recall("checkout")} == {"told", "untold"}
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
    assert [hit.id for hit in memory.recall("checkout")] == [{"told": "untold", "untold": "told"}[id]]


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
