"""What the verbs promise, on both engines."""

import pytest

from treering.core.errors import Conflict, NotFound
from treering.memory import Memory


def test_a_remembered_text_is_recalled_with_its_source(memory: Memory) -> None:
    record = memory.remember("We use Postgres 16, not MySQL", type="decision", tags=["db"], files=["src/db.py"])

    hits = memory.recall("which postgres version")

    assert [hit.id for hit in hits] == [record.id]
    assert hits[0].source.startswith("decision, agent_explicit in src/db.py")


def test_a_corrected_record_gives_way_and_undo_brings_it_back(memory: Memory) -> None:
    old = memory.remember("We use Postgres 16", type="decision")
    new = memory.correct(old.id, "outdated", text="We use Postgres 18")
    assert [hit.id for hit in memory.recall("postgres")] == [new.id]

    memory.undo(new.id)

    assert [hit.id for hit in memory.recall("postgres")] == [old.id]
    with pytest.raises(NotFound):
        memory.get(new.id)


def test_a_turn_delivered_twice_is_stored_once(memory: Memory) -> None:
    first = memory.turn(session="s", role="user", text="hello", id="t1")
    assert memory.turn(session="s", role="user", text="hello", id="t1") == first
    with pytest.raises(Conflict):
        memory.turn(session="s", role="user", text="other", id="t1")
    assert memory.stats().records["turns"] == 1
