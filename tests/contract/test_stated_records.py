"""What somebody asked to keep is kept: its age lowers its rank, and nothing else."""

from datetime import datetime, timedelta

import pytest

from tests.conftest import OpenMemory
from tests.contract.test_forgetting import forgotten
from tests.samples import NOW
from treering.core.confidence import effective_confidence
from treering.memory import Memory

DAY = timedelta(days=1)


class Clock:
    def __init__(self) -> None:
        self.now: datetime = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(open_memory: OpenMemory, clock: Clock) -> Memory:
    return open_memory(clock=clock, background=False)


@pytest.mark.parametrize("type", ["fact", "gotcha", "error_pattern", "dead_end", "work_state", "decision"])
@pytest.mark.parametrize("source", ["user_taught", "agent_explicit"])
def test_what_was_stated_is_found_after_years(memory: Memory, clock: Clock, type: str, source: str) -> None:
    record = memory.remember("Luca is allergic to peanuts", type=type, source=source, confidence=0.05)
    for days in (8, 22, 60, 400, 5_000):
        assert forgotten(memory, days) == {}
    clock.now = NOW + 5_000 * DAY
    assert memory.get(record.id) == record
    assert [hit.id for hit in memory.search("Who is allergic to peanuts?")] == [record.id]


def test_age_leaves_three_tenths_of_its_confidence(memory: Memory) -> None:
    record = memory.remember("Luca is allergic to peanuts", confidence=0.8)
    trust = memory.settings.trust
    assert effective_confidence(record, NOW + 90 * DAY, trust) == pytest.approx(0.4)
    assert effective_confidence(record, NOW + 9_000 * DAY, trust) == pytest.approx(0.24)


def test_what_an_earlier_version_took_away_by_its_age_comes_back(memory: Memory) -> None:
    stated, forgotten_by_hand = (memory.remember(text).id for text in ("Luca is allergic", "Luca likes tea"))
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.undo_unit().knowledge.delete(stated, {"reason": "unused", "stage": "forget"})
    memory.forget(forgotten_by_hand)
    assert forgotten(memory, 1, dry_run=True) == {"restored": 1}
    assert forgotten(memory, 40, dry_run=True) == {"restored": 1, "removed": 1}
    assert forgotten(memory, 1) == {"restored": 1}
    assert memory.get(stated).content == "Luca is allergic"
    assert forgotten(memory, 2) == {}
    assert forgotten(memory, 40) == {"removed": 1}
    assert memory.get(stated)


def test_what_a_search_returns_does_not_fade(memory: Memory, clock: Clock) -> None:
    returned = memory.remember("The staging server is called otter", source="observer_inferred")
    memory.remember("Nobody asks for the weather", source="observer_inferred")
    for day in range(0, 400, 40):
        clock.now = NOW + day * DAY
        assert [hit.id for hit in memory.search("staging server otter", limit=1)] == [returned.id]
    assert forgotten(memory, 400) == {"faded": 1}
    found = memory.get(returned.id)
    assert (found.access_count, found.uses, found.version) == (0, 0, returned.version)
    assert found.last_accessed_at == NOW + 360 * DAY


def test_a_search_of_the_past_is_no_access(memory: Memory, clock: Clock) -> None:
    record = memory.remember("The staging server is called otter")
    clock.now = NOW + 40 * DAY
    assert memory.search("staging server", as_of=NOW + 2 * DAY)
    assert memory.get(record.id).last_accessed_at == NOW


def test_an_access_waits_for_nobody_and_is_stored_later(open_memory: OpenMemory, clock: Clock) -> None:
    memory, other = (open_memory(clock=clock, background=False) for _ in range(2))
    record = memory.remember("The staging server is called otter")
    memory.settle()
    clock.now = NOW + 40 * DAY
    with other.store.transaction(other.scope, clock.now) as tx:
        tx.knowledge.update(tx.knowledge.get(record.id).replace(pinned=True))
        assert [hit.id for hit in memory.search("staging server")] == [record.id]
    assert other.get(record.id).last_accessed_at == NOW
    memory.close()
    assert other.get(record.id).last_accessed_at == NOW + 40 * DAY


def test_age_alone_puts_no_stated_record_behind_what_was_said_beside_it(memory: Memory, clock: Clock) -> None:
    record = memory.remember("Luca is allergic to peanuts", source="user_taught")
    for number, text in enumerate(("Luca called about the invoice", "Peanuts are cheap at the market", "Luca is late")):
        memory.turn(session=f"s{number}", role="user", text=text)
    memory.episode("Find out who is allergic")
    for days in (0, 100, 400):
        clock.now += days * DAY
        assert memory.search("Luca allergic peanuts")[0].id == record.id
