"""Words that are known already: what a repetition adds, and what it leaves as it is."""

from datetime import timedelta
from typing import Any

import pytest

from tests.conftest import OpenMemory
from tests.samples import NOW
from treering.core.errors import Conflict, InvalidInput
from treering.core.records import Relation
from treering.core.values import LABELS
from treering.memory import Memory

WORDS = "tea at four"
SAID_BESIDE: dict[str, Any] = {
    "pinned": True,
    "valid_from": NOW,
    "valid_until": NOW + timedelta(days=1),
    "citation": "house rules",
    "level": "session",
    "half_life_days": 3.0,
    "relations": (Relation(kind="validates", record="other"),),
}


@pytest.mark.parametrize("name", SAID_BESIDE)
def test_what_is_said_beside_known_words_is_said_of_their_record(memory: Memory, name: str) -> None:
    first = memory.remember(WORDS)
    again = memory.remember(WORDS, **{name: SAID_BESIDE[name]})
    assert again.id == first.id
    assert getattr(memory.get(first.id), name) == SAID_BESIDE[name]


def test_a_payload_comes_to_known_words_and_relations_add_up(memory: Memory) -> None:
    link = Relation(kind="validates", record="first")
    first = memory.remember(WORDS, type="decision", relations=(link,))
    payload = {"rationale": "it is a habit"}
    other = SAID_BESIDE["relations"]
    again = memory.remember(WORDS, type="decision", payload=payload, relations=(*other, link))
    assert (again.id, again.payload.rationale, again.relations) == (first.id, "it is a habit", (link, *other))


def test_what_was_not_said_again_stays(memory: Memory) -> None:
    first = memory.remember(WORDS, session="s", **SAID_BESIDE)
    again = memory.remember(WORDS, session="t")
    assert {name: getattr(again, name) for name in SAID_BESIDE} == {name: getattr(first, name) for name in SAID_BESIDE}


def test_whoever_names_records_gets_a_record_of_that_name(memory: Memory) -> None:
    unnamed = memory.remember(WORDS)
    named = memory.remember(WORDS, id="mine")
    assert (named.id, named.version) == ("mine", 1)
    assert memory.get(unnamed.id) == unnamed

    assert memory.remember(WORDS, id="mine", tags=["tea"]).tags == ("tea",)
    assert memory.stats().records["knowledge"] == 2


@pytest.mark.parametrize("difference", [{"text": "tea at five"}, {"type": "decision"}, {"visibility": "personal"}])
def test_a_name_that_stands_for_something_else_is_a_conflict(memory: Memory, difference: dict[str, Any]) -> None:
    first = memory.remember(WORDS, id="mine")
    with pytest.raises(Conflict, match="mine"):
        memory.remember(**{"text": WORDS, "id": "mine"} | difference)
    assert memory.get("mine") == first


def test_a_name_that_was_forgotten_is_a_conflict_that_says_how_to_get_it_back(memory: Memory) -> None:
    memory.remember(WORDS, id="mine")
    memory.forget("mine")
    with pytest.raises(Conflict, match="undo"):
        memory.remember(WORDS, id="mine")


def test_one_session_is_one_witness_however_often_it_says_so(memory: Memory) -> None:
    first = memory.remember(WORDS, session="a", tags=["tea"])
    assert memory.remember(WORDS, session="a", tags=["tea"]) == first
    second = memory.remember(WORDS, session="b")
    assert memory.remember(WORDS, session="b") == second
    assert memory.get(first.id) == second
    assert [entry.action.value for entry in memory.history(first.id)] == ["reinforce", "create"]

    tagged = memory.remember(WORDS, session="b", tags=["time"])
    assert (tagged.tags, tagged.access_count) == (("tea", "time"), second.access_count)


def test_a_record_keeps_its_first_and_last_witnesses_and_counts_them_all(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treering.knowledge.reinforcement.MAX_WITNESSES", 2)
    memory = open_memory()
    for number in range(8):
        record = memory.remember(WORDS, session=f"s{number}", source_ids=[f"turn {number}"])
    assert record.provenance_sessions == ("s1", "s2", "s6", "s7")
    assert record.source_ids == ("turn 0", "turn 1", "turn 6", "turn 7")
    assert record.access_count == 7


def test_a_record_full_of_labels_is_still_reinforced(memory: Memory) -> None:
    labels = [f"label {number}" for number in range(LABELS)]
    first = memory.remember(WORDS, tags=labels, provenance_sessions=labels, source_ids=labels)
    again = memory.remember(WORDS, session="one more", tags=["one more"], source_ids=["one more"])
    assert again.id == first.id
    assert again.tags == first.tags
    assert again.provenance_sessions[-1] == again.source_ids[-1] == "one more"


@pytest.mark.parametrize("tainted", [True, False])
def test_only_a_person_clears_a_taint_and_no_repetition_makes_one(memory: Memory, tainted: bool) -> None:
    record = memory.remember(WORDS, tainted=tainted)
    assert memory.remember(WORDS, tainted=not tainted).tainted is tainted
    assert memory.confirm(record.id).tainted is False


def test_the_record_a_duplicate_repeats_knows_it_by_id(memory: Memory) -> None:
    kept, fresh = memory.remember(WORDS), memory.remember("four is tea time")
    assert memory.correct(fresh.id, "duplicate", duplicate_of=kept.id).source_ids == (fresh.id,)


def test_a_repetition_brings_no_id_that_was_never_stored(memory: Memory) -> None:
    memory.remember(WORDS)
    assert memory.remember(WORDS).source_ids == ()


def test_a_second_doubt_weighs_nothing(memory: Memory) -> None:
    record = memory.remember(WORDS, confidence=0.8)
    assert memory.flag(record.id).confidence == memory.flag(record.id, "really?").confidence == 0.4


def test_a_correction_can_itself_be_corrected(memory: Memory) -> None:
    first = memory.remember(WORDS)
    second = memory.correct(first.id, "outdated", text="tea at five")
    third = memory.correct(second.id, "outdated", text="tea at six")
    assert third.deprecated_at is None
    assert [hit.id for hit in memory.search("tea")] == [third.id]


def test_what_replaces_a_retired_record_stands(memory: Memory) -> None:
    retired = memory.correct(memory.remember(WORDS, stale_at=NOW).id, "inaccurate")
    standing = memory.correct(retired.id, "inaccurate", text="tea at five")
    assert (standing.deprecated_at, standing.stale_at) == (None, None)
    assert [hit.id for hit in memory.search("tea")] == [standing.id]


def test_what_was_superseded_is_corrected_through_its_successor(memory: Memory) -> None:
    first = memory.remember(WORDS)
    second = memory.correct(first.id, "outdated", text="tea at five")
    for refused in (
        lambda: memory.correct(first.id, "outdated", text="tea at six"),
        lambda: memory.correct(first.id, "inaccurate"),
        lambda: memory.confirm(first.id),
    ):
        with pytest.raises(InvalidInput, match=second.id):
            refused()
    memory.undo(first.id)
    assert memory.confirm(first.id).user_verified


def test_what_was_retired_is_not_confirmed(memory: Memory) -> None:
    record = memory.remember(WORDS)
    memory.correct(record.id, "inaccurate")
    with pytest.raises(InvalidInput, match="undo"):
        memory.confirm(record.id)
