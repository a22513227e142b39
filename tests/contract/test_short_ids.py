"""Records are found by the beginning or end of their id, as citations give it."""

import pytest

from tests.conftest import OpenMemory
from treering.core.errors import InvalidInput, NotFound
from treering.core.text_marks import short_id
from treering.memory import Memory


def test_a_record_of_any_kind_is_found_by_its_short_id(memory: Memory) -> None:
    record = memory.remember("The harbour master answers on channel 12")
    turn = memory.turn(session="s", role="user", text="Which channel?")
    episode = memory.episode("ask the harbour master")
    for each in (record, turn, episode):
        assert memory.knowledge.resolve(each.id) == each.id
        assert memory.knowledge.resolve(short_id(each.id)) == each.id
        assert memory.knowledge.resolve(each.id[:-2]) == each.id


def test_an_ambiguous_one_lists_the_candidates_and_an_exact_one_is_never_ambiguous(memory: Memory) -> None:
    for id in ("gate-1", "gate-12", "old-gate"):
        memory.remember(f"The {id} is open", id=id)
    assert memory.knowledge.resolve("gate-1") == "gate-1"
    with pytest.raises(InvalidInput, match=r"several ids; pass one of gate-1, gate-12, old-gate$"):
        memory.knowledge.resolve("gate")
    for number in range(20):
        memory.remember(f"Lock {number} is shut", id=f"lock-{number:02}")
    with pytest.raises(InvalidInput, match=r"lock-00, .*, lock-09, …$"):
        memory.knowledge.resolve("lock")


@pytest.mark.parametrize("short", ["", "ate", "%ate", "g_te", "nothing", "\0", "gate\ud800"])
def test_what_names_no_record_is_not_found(memory: Memory, short: str) -> None:
    memory.remember("The gate is open", id="gate")
    with pytest.raises(NotFound):
        memory.knowledge.resolve(short)


def test_forgotten_records_and_those_of_other_projects_are_not_found(open_memory: OpenMemory) -> None:
    with open_memory(project="north") as north, open_memory(project="south") as south:
        north.remember("The gate is open", id="north-gate")
        with pytest.raises(NotFound):
            south.knowledge.resolve("north")
        north.forget("north-gate")
        with pytest.raises(NotFound):
            north.knowledge.resolve("north")
