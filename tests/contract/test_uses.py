"""Use is evidence: what is used and not corrected is trusted more, up to a point."""

from datetime import timedelta

import pytest

from tests.conftest import OpenMemory
from tests.samples import NOW
from treering.core.confidence import half_life_days
from treering.core.records import Knowledge
from treering.memory import Memory

DAY = timedelta(days=1)


def known(memory: Memory, id: str) -> Knowledge:
    record = memory.get(id)
    assert isinstance(record, Knowledge)
    return record


def use(memory: Memory, id: str, times: int) -> None:
    for _ in range(times):
        memory.used(id)


def test_a_use_counts_and_is_recent(open_memory: OpenMemory) -> None:
    now = [NOW]
    memory = open_memory(clock=lambda: now[0])
    ids = [memory.remember(text).id for text in ("water is wet", "fire is hot")]
    now[0] = NOW + DAY
    assert memory.used([*ids, ids[0], "nowhere"]) == 2
    for id in ids:
        record = memory.get(id)
        assert (record.access_count, record.last_accessed_at) == (1, now[0])


def test_a_clock_that_runs_behind_makes_no_use_older(open_memory: OpenMemory) -> None:
    now = [NOW]
    memory = open_memory(clock=lambda: now[0])
    record = memory.remember("water is wet")
    now[0] = NOW - DAY
    memory.used(record.id)
    assert memory.get(record.id).last_accessed_at == NOW


def test_a_use_is_no_change_that_could_be_undone(memory: Memory) -> None:
    record = memory.remember("water is wet")
    memory.pin(record.id)
    use(memory, record.id, 3)
    assert [entry.action.value for entry in memory.history(record.id)] == ["pin", "create"]
    assert memory.get(record.id).version == 2
    assert memory.undo(record.id).pinned is False


def test_five_uses_without_correction_add_a_twentieth(memory: Memory) -> None:
    record = memory.remember("water is wet", confidence=0.8)
    use(memory, record.id, 4)
    assert memory.get(record.id).confidence == 0.8
    use(memory, record.id, 1)
    assert memory.get(record.id).confidence == pytest.approx(0.85)
    use(memory, record.id, 20)
    assert memory.get(record.id).confidence == pytest.approx(0.95)
    entry = memory.history(record.id)[0]
    assert (entry.action.value, entry.detail["reason"], entry.detail["uses"]) == ("update", "used", 15)


def test_use_lowers_nothing_that_a_person_is_surer_of(memory: Memory) -> None:
    record = memory.remember("water is wet", confidence=1.0)
    use(memory, record.id, 10)
    assert memory.get(record.id).confidence == 1.0


def test_ten_uses_without_correction_are_as_good_as_a_review(memory: Memory) -> None:
    record = memory.remember("water is wet", needs_review=True)
    use(memory, record.id, 9)
    assert memory.get(record.id).needs_review
    use(memory, record.id, 1)
    assert not memory.get(record.id).needs_review
    assert memory.undo(record.id).needs_review


def test_a_correction_begins_the_count_anew(memory: Memory) -> None:
    record = memory.remember("water is wet", confidence=0.8, needs_review=True)
    use(memory, record.id, 4)
    assert memory.used([record.id], corrected=True) == 1
    assert (memory.get(record.id).uses, memory.get(record.id).access_count) == (0, 4)
    use(memory, record.id, 4)
    assert memory.get(record.id).confidence == 0.8
    use(memory, record.id, 1)
    assert memory.get(record.id).confidence == pytest.approx(0.85)
    use(memory, record.id, 4)
    assert memory.get(record.id).needs_review


def test_what_was_said_again_is_no_use(memory: Memory) -> None:
    record = memory.remember("water is wet", confidence=0.8)
    for session in ("one", "two", "three"):
        memory.remember("water is wet", session=session, confidence=0.8)
    use(memory, record.id, 2)
    assert (memory.get(record.id).access_count, memory.get(record.id).confidence) == (5, 0.8)
    use(memory, record.id, 3)
    assert memory.get(record.id).confidence == pytest.approx(0.85)
    assert memory.maintenance.report().learning["duplicates folded"] == 3


def test_a_use_and_what_it_proves_are_stored_together(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    record = memory.remember("water is wet", confidence=0.8)
    use(memory, record.id, 4)
    with monkeypatch.context() as crash:
        crash.setattr("treering.knowledge.usage.propagate", lambda *_given, **_named: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            memory.used(record.id)
    assert (memory.get(record.id).uses, memory.get(record.id).confidence) == (4, 0.8)
    use(memory, record.id, 4)
    assert memory.get(record.id).confidence == pytest.approx(0.85)


def test_what_several_uses_prove_at_once_is_undone_one_by_one(memory: Memory) -> None:
    ids = [memory.remember(text, confidence=0.8).id for text in ("water is wet", "fire is hot")]
    for _ in range(5):
        assert memory.used(ids) == 2
    memory.undo(ids[0])
    assert [memory.get(id).confidence for id in ids] == pytest.approx([0.8, 0.85])


def test_undo_takes_back_no_use(open_memory: OpenMemory) -> None:
    now = [NOW]
    memory = open_memory(clock=lambda: now[0])
    record = memory.remember("water is wet")
    memory.pin(record.id)
    now[0] = NOW + DAY
    use(memory, record.id, 3)
    undone = memory.undo(record.id)
    assert (undone.pinned, undone.access_count, undone.uses, undone.last_accessed_at) == (False, 3, 3, now[0])
    memory.used(record.id, corrected=True)
    assert memory.undo(record.id).uses == 3


@pytest.mark.parametrize("doubt", ["flagged", "corrected"])
def test_what_is_doubted_does_not_prove_itself(memory: Memory, doubt: str) -> None:
    record = memory.remember("water is wet", confidence=0.8)
    doubted = memory.flag(record.id) if doubt == "flagged" else memory.correct(record.id, "inaccurate")
    use(memory, record.id, 10)
    assert memory.get(record.id).confidence == doubted.confidence


def test_a_fact_lasts_longer_the_more_it_is_used(memory: Memory) -> None:
    record = memory.remember("water is wet")
    lasting = [half_life_days(record)]
    for _ in range(3):
        memory.used(record.id)
        lasting.append(half_life_days(known(memory, record.id)))
    assert lasting == pytest.approx([90, 180, 90 * 2.585, 270], rel=1e-3)
    gotcha = memory.remember("it bites", type="gotcha")
    memory.used(gotcha.id)
    assert half_life_days(known(memory, gotcha.id)) == 60


def test_what_was_forgotten_is_not_used(memory: Memory) -> None:
    record = memory.remember("water is wet")
    memory.forget(record.id)
    assert memory.used(record.id) == 0
    assert memory.undo(record.id).access_count == 0


def test_nobody_uses_what_they_do_not_see(open_memory: OpenMemory) -> None:
    ada, bob = open_memory(principal="ada"), open_memory(principal="bob")
    diary = ada.remember("dear diary", visibility="personal")
    assert bob.used(diary.id) == 0
    assert ada.get(diary.id).access_count == 0


def test_searches_in_a_row_store_what_they_returned_together(open_memory: OpenMemory) -> None:
    now = [NOW]
    memory = open_memory(clock=lambda: now[0])
    wet, hot = (memory.remember(text).id for text in ("water is wet", "fire is hot"))
    now[0] = first = NOW + DAY
    assert [hit.id for hit in memory.search("water", limit=1)] == [wet]
    now[0] = second = first + timedelta(milliseconds=900)
    assert [hit.id for hit in memory.search("fire", limit=1)] == [hot]
    assert [known(memory, id).last_accessed_at for id in (wet, hot)] == [first, NOW]
    now[0] = first + timedelta(seconds=1)
    memory.search("water", limit=1)
    assert [known(memory, id).last_accessed_at for id in (wet, hot)] == [first, second]


def test_what_a_search_returned_is_stored_when_the_memory_is_closed(open_memory: OpenMemory) -> None:
    now = [NOW]
    memory = open_memory(clock=lambda: now[0])
    ids = [memory.remember(text).id for text in ("water is wet", "fire is hot")]
    now[0] = NOW + DAY
    for query in ("water", "fire"):
        memory.search(query, limit=1)
    memory.close()
    again = open_memory(clock=lambda: now[0])
    assert [known(again, id).last_accessed_at for id in ids] == [NOW + DAY] * 2
