"""A change of confidence travels along relations: only the change, weaker each time, and one undo takes it all back."""

import threading
from typing import Any

import pytest

from tests.conftest import OpenMemory
from tests.samples import NOW
from treering.core.errors import NotFound, NothingToUndo, TreeringError
from treering.core.propagation import Propagation
from treering.knowledge.relations import propagate
from treering.memory import Memory


def record(memory: Memory, id: str, confidence: float = 0.5, **relations: str) -> Any:
    links = [{"kind": kind, "record": target} for kind, target in relations.items()]
    return memory.remember(f"this is {id}", type="decision", id=id, confidence=confidence, relations=links)


def confidences(memory: Memory, *ids: str) -> list[float]:
    return [round(memory.get(id).confidence, 4) for id in ids]


@pytest.mark.parametrize(
    ("kind", "felt"),
    [
        ("validates", 0.5 + 0.6 * 0.45),
        ("required_with", 0.5 + 0.3 * 0.45),
        ("conflicts_with", 0.5 - 0.4 * 0.45),
        ("derived_from", 0.5 + 0.5 * 0.45),
        ("supersedes", 0.5 - 0.8 * 0.45),
    ],
)
def test_each_kind_passes_on_its_part_of_the_change(memory: Memory, kind: str, felt: float) -> None:
    record(memory, "b")
    record(memory, "a", 0.5, **{kind: "b"})
    memory.confirm("a")
    assert confidences(memory, "a", "b") == [0.95, round(felt, 4)]
    entry = memory.history("b")[0]
    assert (entry.action.value, entry.detail["reason"], entry.detail["to"]) == ("update", "related", "a")


@pytest.mark.parametrize("kind", ["required_with", "conflicts_with", "derived_from"])
def test_along_some_it_travels_back_as_well(memory: Memory, kind: str) -> None:
    record(memory, "b")
    record(memory, "a", 0.5, **{kind: "b"})
    memory.confirm("b")
    assert confidences(memory, "a") != [0.5]


@pytest.mark.parametrize("kind", ["validates", "supersedes"])
def test_along_others_it_does_not(memory: Memory, kind: str) -> None:
    record(memory, "b")
    record(memory, "a", 0.5, **{kind: "b"})
    memory.confirm("b")
    assert confidences(memory, "a") == [0.5]


def test_a_doubt_about_the_new_does_not_raise_the_old(memory: Memory) -> None:
    record(memory, "old")
    record(memory, "new", supersedes="old")
    memory.flag("new")
    assert confidences(memory, "old") == [0.5]


def test_a_doubt_travels_until_it_is_too_small(memory: Memory) -> None:
    record(memory, "d", 0.8)
    record(memory, "c", 0.8, validates="d")
    record(memory, "b", 0.8, validates="c")
    record(memory, "a", 0.8, validates="b")
    memory.flag("a", "doubtful")
    assert confidences(memory, "a", "b", "c", "d") == [0.4, 0.56, 0.656, 0.7136]


def test_no_further_than_the_depth_and_not_below_the_least(memory: Memory) -> None:
    ids = [f"r{number}" for number in range(6)]
    for later, id in reversed(list(enumerate(ids, 1))):
        record(memory, id, 0.9, **({"validates": ids[later]} if later < len(ids) else {}))
    with memory.store.transaction(memory.scope, NOW) as tx:
        changed = propagate(tx, "r0", -0.9, Propagation(validates=1.0, depth=2))
    assert [each.id for each in changed] == ["r1", "r2"]
    with memory.store.transaction(memory.scope, NOW) as tx:
        assert propagate(tx, "r0", 0.05, Propagation(validates=1.0)) == ()


def test_a_circle_ends(memory: Memory) -> None:
    record(memory, "a", validates="b")
    record(memory, "b", validates="c")
    record(memory, "c", validates="a")
    memory.confirm("a")
    assert confidences(memory, "a", "b", "c") == [0.95, 0.77, 0.662]


def test_one_undo_takes_all_of_it_back(memory: Memory) -> None:
    record(memory, "c")
    record(memory, "b", conflicts_with="c")
    record(memory, "a", validates="b")
    memory.confirm("a")
    assert confidences(memory, "b", "c") == [0.77, 0.392]
    memory.undo("a")
    assert confidences(memory, "a", "b", "c") == [0.5, 0.5, 0.5]
    for id in "abc":
        with pytest.raises(NothingToUndo):
            memory.undo(id)


def test_a_correction_is_felt_and_undone_with_it(memory: Memory) -> None:
    record(memory, "b", 0.8)
    record(memory, "a", 0.8, validates="b")
    memory.correct("a", "inaccurate", text="that is a")
    assert confidences(memory, "b") == [round(0.8 - 0.6 * 0.56, 4)]
    memory.undo("a")
    assert confidences(memory, "a", "b") == [0.8, 0.8]


def test_a_duplicate_takes_nothing_from_the_record_it_repeats(memory: Memory) -> None:
    record(memory, "kept", 0.8)
    record(memory, "again", 0.8)
    memory.correct("again", "duplicate", duplicate_of="kept")
    assert confidences(memory, "kept") == [0.8]


def test_what_a_person_confirmed_stands(memory: Memory) -> None:
    record(memory, "b", 0.8)
    memory.confirm("b")
    record(memory, "a", 0.8, validates="b", conflicts_with="b")
    memory.flag("a")
    assert confidences(memory, "b") == [0.95]


def test_what_no_longer_stands_is_left_alone(memory: Memory) -> None:
    for id in ("retired", "gone"):
        record(memory, id, 0.8)
    record(memory, "a", 0.8, validates="retired", required_with="gone")
    retired = memory.correct("retired", "inaccurate")
    memory.forget("gone")
    memory.confirm("a")
    assert memory.get("retired") == retired
    assert memory.undo("gone").confidence == 0.8


def test_a_relation_that_is_unsure_passes_on_less(memory: Memory) -> None:
    record(memory, "b")
    link = {"kind": "validates", "record": "b", "confidence": 0.5}
    memory.remember(
        "this is a", type="decision", id="a", confidence=0.5, relations=[link, {**link, "record": "nobody"}]
    )
    memory.confirm("a")
    assert confidences(memory, "b") == [round(0.5 + 0.6 * 0.5 * 0.45, 4)]


def test_files_have_no_confidence(memory: Memory) -> None:
    memory.remember("a", id="a", confidence=0.5, relations=[{"kind": "validates", "file": "src/a.py"}])
    assert memory.confirm("a").confidence == 0.95


def test_what_is_shared_moves_nothing_personal_so_that_anybody_can_undo_it(open_memory: OpenMemory) -> None:
    ada, bob = open_memory(principal="ada"), open_memory(principal="bob")
    record(ada, "shared")
    own = {"kind": "derived_from", "record": "shared"}
    ada.remember("my own", type="decision", id="own", visibility="personal", confidence=0.5, relations=[own])
    ada.confirm("shared")
    assert confidences(ada, "own") == [0.5]
    assert bob.undo("shared").confidence == 0.5
    ada.confirm("own")
    assert confidences(ada, "shared") != [0.5]


@pytest.mark.parametrize("id", ["", "nowhere", "x" * 10_000, "a\x00b", "\ud800"])
def test_an_id_that_is_none_is_not_found(memory: Memory, id: str) -> None:
    for verb in (memory.confirm, memory.flag, lambda id: memory.correct(id, "inaccurate"), memory.undo):
        with pytest.raises(NotFound):
            verb(id)
    with pytest.raises(NotFound):
        memory.forget(id, hard=True)
    assert memory.used([id]) == memory.used(id, corrected=True) == 0


def test_nothing_of_somebody_elses_changes(open_memory: OpenMemory) -> None:
    ada, bob = open_memory(principal="ada"), open_memory(principal="bob")
    ada.remember("my own view", type="decision", id="own", visibility="personal", confidence=0.5)
    bob.remember("shared", type="decision", id="a", confidence=0.5, relations=[{"kind": "validates", "record": "own"}])
    bob.confirm("a")
    assert ada.get("own").confidence == 0.5


def test_two_who_change_each_others_records_wait_for_each_other(open_memory: OpenMemory) -> None:
    memory = open_memory(background=False)
    record(memory, "a", required_with="b")
    record(memory, "b", conflicts_with="c")
    record(memory, "c", derived_from="a")
    ready, failed = threading.Barrier(3), list[Exception]()

    def work(id: str) -> None:
        ready.wait(30)
        for _ in range(5):
            try:
                memory.flag(id)
                memory.confirm(id)
            except TreeringError as exc:
                failed.append(exc)

    workers = [threading.Thread(target=work, args=(id,)) for id in "abc"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert failed == []
    assert all(0 <= each <= 1 for each in confidences(memory, "a", "b", "c"))
