"""Every change of a learned record can be taken back, one after the other, with all that belonged to it."""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import OpenMemory
from tests.examples import examples
from tests.samples import NOW, collection, sample
from treering.core.entities import Entity
from treering.core.errors import Conflict, InvalidInput, NotFound, NothingToUndo
from treering.core.patterns import Pattern
from treering.core.queries import KnowledgeFilter
from treering.core.records import Knowledge
from treering.core.values import Record
from treering.memory import Memory

CHANGES: dict[str, Callable[[Memory, str], object]] = {
    "confirm": lambda memory, id: memory.confirm(id),
    "flag": lambda memory, id: memory.flag(id, "doubtful"),
    "pin": lambda memory, id: memory.pin(id),
    "unpin": lambda memory, id: memory.pin(id, pinned=False),
    "correct": lambda memory, id: memory.correct(id, "inaccurate"),
    "correct with a text": lambda memory, id: memory.correct(id, "outdated", text=f"newer than {id}"),
}


def but_for_bookkeeping(record: Any) -> Any:
    return record.replace(version=1, updated_at=NOW)


@examples(15)
@given(names=st.lists(st.sampled_from(sorted(CHANGES)), max_size=6))
def test_stacked_changes_are_taken_back_one_by_one(memory: Memory, names: list[str]) -> None:
    record = memory.remember(f"water {names}", tags=["liquid"])
    states: list[Record] = [record]
    for name in names:
        with suppress(InvalidInput):  # What was corrected is neither confirmed nor corrected again.
            CHANGES[name](memory, record.id)
            states.append(memory.get(record.id))
    for before in reversed(states[:-1]):
        assert but_for_bookkeeping(memory.undo(record.id)) == but_for_bookkeeping(before)
    with pytest.raises(NothingToUndo):
        memory.undo(record.id)
    memory.forget(record.id, hard=True)


@pytest.mark.parametrize("cls", [Knowledge, Pattern, Entity], ids=lambda cls: cls.__name__)
def test_each_learned_kind_undoes_its_changes(cls: Any, memory: Memory) -> None:
    def run(change: Callable[[Any], Any]) -> Any:
        with memory.store.transaction(memory.scope, NOW) as tx:
            return change(collection(tx, cls))

    first = run(lambda inside: inside.create(sample(cls, "x")))
    run(lambda inside: inside.update(first.replace(updated_at=NOW)))
    run(lambda inside: inside.delete("x"))
    (undeleted,) = run(lambda inside: inside.undo("x"))
    assert undeleted.deleted_at is None
    (unchanged,) = run(lambda inside: inside.undo("x"))
    assert unchanged == first.replace(version=unchanged.version)
    with pytest.raises(NothingToUndo):
        run(lambda inside: inside.undo("x"))


def test_a_forgotten_record_comes_back_with_its_tags_and_words(memory: Memory) -> None:
    record = memory.remember("water boils at 100 degrees", tags=["physics"])
    memory.forget(record.id)
    assert not memory.search("boils")
    with pytest.raises(NotFound):
        memory.get(record.id)

    back = memory.undo(record.id)

    assert but_for_bookkeeping(back) == but_for_bookkeeping(record)
    assert [hit.id for hit in memory.search("boils", knowledge=KnowledgeFilter(tags=("physics",)))] == [record.id]


@pytest.mark.parametrize("through", ["old", "new"])
def test_a_correction_is_taken_back_whole_from_either_end(memory: Memory, through: str) -> None:
    old = memory.remember("tea at four")
    new = memory.correct(old.id, "outdated", text="tea at five")

    memory.undo({"old": old.id, "new": new.id}[through])

    assert but_for_bookkeeping(memory.get(old.id)) == but_for_bookkeeping(old)
    with pytest.raises(NotFound):
        memory.get(new.id)
    assert [hit.id for hit in memory.search("tea")] == [old.id]


def test_a_duplicate_gives_its_evidence_back_when_undone(memory: Memory) -> None:
    kept = memory.remember("tea at four", tags=["tea"])
    other = memory.remember("four is tea time", tags=["time"])
    memory.correct(other.id, "duplicate", duplicate_of=kept.id)
    assert memory.get(kept.id).tags == ("tea", "time")

    memory.undo(other.id)

    assert but_for_bookkeeping(memory.get(kept.id)) == but_for_bookkeeping(kept)
    assert but_for_bookkeeping(memory.get(other.id)) == but_for_bookkeeping(other)


def test_undo_waits_for_what_was_built_on_the_change(memory: Memory) -> None:
    old = memory.remember("tea at four")
    new = memory.correct(old.id, "outdated", text="tea at five")
    memory.pin(new.id)

    with pytest.raises(Conflict, match="undo that change first"):
        memory.undo(old.id)
    assert memory.get(old.id).deprecated_at is not None

    memory.undo(new.id)
    memory.undo(old.id)
    assert memory.get(old.id).deprecated_at is None


def test_nothing_is_undone_that_never_changed(memory: Memory) -> None:
    record = memory.remember("fresh")
    said = memory.turn(session="s", role="user", text="fresh")
    for id in (record.id, said.id):
        with pytest.raises(NothingToUndo, match="forget"):
            memory.undo(id)
    with pytest.raises(NotFound):
        memory.undo("missing")


def test_a_forgotten_turn_comes_back(memory: Memory) -> None:
    said = memory.turn(session="s", role="user", text="unforgettable")
    memory.forget(said.id)
    assert not memory.search("unforgettable")
    assert memory.undo(said.id) == said
    assert [hit.id for hit in memory.search("unforgettable")] == [said.id]


def test_nobody_undoes_what_they_could_not_see(open_memory: OpenMemory) -> None:
    ada, bob = open_memory(principal="ada"), open_memory(principal="bob")
    diary = ada.remember("dear diary", visibility="personal")
    with ada.store.transaction(ada.scope, NOW) as tx:
        published = tx.knowledge.update(diary.replace(content="a public word", visibility="project"))

    with pytest.raises(NothingToUndo, match="ada"):
        bob.undo(diary.id)

    assert bob.get(diary.id) == published
    assert but_for_bookkeeping(ada.undo(diary.id)) == but_for_bookkeeping(diary)
    with pytest.raises(NotFound):
        bob.get(diary.id)


LEARNED = (Knowledge, Pattern, Entity)


@pytest.mark.parametrize("through", LEARNED, ids=lambda cls: cls.__name__)
def test_records_of_several_kinds_changed_together_are_taken_back_together(memory: Memory, through: Any) -> None:
    with memory.store.transaction(memory.scope, NOW) as tx:
        for cls in LEARNED:
            collection(tx, cls).create(sample(cls, cls.__name__))
    with memory.store.transaction(memory.scope, NOW) as tx:
        for cls in LEARNED:
            collection(tx, cls).delete(cls.__name__)

    with memory.store.transaction(memory.scope, NOW) as tx:
        undone = collection(tx, through).undo(through.__name__)
        assert {type(record) for record in undone} == set(LEARNED)
        for cls in LEARNED:
            assert collection(tx, cls).get(cls.__name__).deleted_at is None


def test_changes_are_taken_back_in_their_order_whatever_the_clock_said(open_memory: OpenMemory) -> None:
    ids = iter(f"{number:04}" for number in range(9_999, 0, -1))
    memory = open_memory()
    record = memory.remember("one")
    with memory.store.reading(memory.scope, NOW) as tx:
        assert tx.knowledge.get(record.id) == record
    for number, text in enumerate(("two", "three")):
        with memory.store.transaction(memory.scope, NOW - timedelta(days=number)) as tx:
            object.__setattr__(tx._context, "new_id", lambda: next(ids))  # type: ignore[attr-defined]
            tx.knowledge.update(tx.knowledge.get(record.id).replace(content=text))

    assert memory.undo(record.id).content == "two"
    assert memory.undo(record.id).content == "one"


def test_a_record_changed_twice_in_one_transaction_goes_back_to_its_first_state(memory: Memory) -> None:
    record = memory.remember("one")
    with memory.store.transaction(memory.scope, NOW) as tx:
        changed = tx.knowledge.update(record.replace(content="two"))
        tx.knowledge.update(changed.replace(content="three"))
    assert memory.undo(record.id).content == "one"
