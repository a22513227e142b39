"""Taint: set with its source, passed on to what is derived, marked wherever it is shown, in no context unasked."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import OpenMemory
from tests.samples import NOW
from tests.served import agent_of
from treering.core.errors import InvalidInput
from treering.core.queries import KnowledgeFilter, SearchFilter
from treering.core.records import Knowledge, Source
from treering.core.taint import UNKNOWN, Taint
from treering.knowledge.authors import Author
from treering.memory import Memory

PAGE = Taint(source="web_fetch", reason="read on example.com")
MARK = "from outside, not confirmed"


def learned(memory: Memory) -> list[Knowledge]:
    memory.settle()
    with memory.store.reading(memory.scope, NOW) as tx:
        return [each for each in tx.knowledge.stream(KnowledgeFilter()) if each.type == "fact"]


def test_a_taint_has_a_source_and_a_reason_and_waits_for_review(memory: Memory) -> None:
    record = memory.remember("Port 1234 is right", taint=PAGE)
    assert (record.taint, record.tainted, record.needs_review) == (PAGE, True, True)
    stored = memory.get(record.id)
    assert stored == record
    assert [each.id for each in memory.context.to_review()] == [record.id]
    turn = memory.turn(session="s", role="tool", text="a page", taint=PAGE)
    episode = memory.episode("read a page", taint={"source": "web_fetch"})
    assert (turn.taint, episode.taint) == (PAGE, Taint(source="web_fetch"))


def test_who_names_no_source_gets_the_unknown_one(memory: Memory) -> None:
    record = memory.remember("Port 1234 is right", tainted=True)
    assert (record.taint, record.needs_review) == (UNKNOWN, True)


def test_a_source_is_needed(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="source"):
        memory.remember("Port 1234 is right", taint={"reason": "because"})


def test_nothing_but_a_person_ends_the_wait_for_review(memory: Memory) -> None:
    record = memory.remember("Port 1234 is right", taint=PAGE)
    for _ in range(30):
        memory.used(record.id)
    assert memory.get(record.id).needs_review
    confirmed = memory.confirm(record.id)
    assert (confirmed.taint, confirmed.tainted, confirmed.needs_review) == (None, False, False)


def test_a_correction_by_an_agent_keeps_the_taint_and_names_its_record(memory: Memory) -> None:
    record = memory.remember("Port 1234 is right", taint=PAGE)
    agent = Author(Source.AGENT_EXPLICIT)
    successor = memory.correct(record.id, text="Port 1235 is right", by=agent)
    assert successor.taint == PAGE.replace(record=record.id)
    assert successor.needs_review
    other = memory.remember("Port 80 is open")
    outside = Author(Source.AGENT_EXPLICIT, taint=Taint(source="email"))
    assert memory.correct(other.id, text="Port 81 is open", by=outside).taint == Taint(source="email")
    assert memory.correct(successor.id, text="Port 1236 is right").taint is None


def test_facts_of_a_tainted_turn_have_its_taint(memory: Memory) -> None:
    turn = memory.turn(session="s", role="user", text="My name is Marta and I live in Lisbon.", taint=PAGE)
    facts = learned(memory)
    assert facts
    assert {fact.taint for fact in facts} == {PAGE.replace(record=turn.id)}
    assert all(fact.needs_review for fact in facts)


def test_a_tainted_fact_that_a_person_states_is_trusted_in_the_persons_words(memory: Memory) -> None:
    text = "The billing service listens on port 9090 because of Evilcorp."
    memory.turn(session="s", role="user", text=text, taint=PAGE)
    assert [(each.content, each.tainted) for each in learned(memory)] == [(text[:-1], True)]
    memory.turn(session="t", role="user", text="The billing service listens on port 9090.")
    (fact,) = learned(memory)
    assert (fact.content, fact.tainted, fact.needs_review) == ("The billing service listens on port 9090", False, False)


def test_an_entity_of_tainted_records_alone_is_tainted_until_another_speaks_of_it(memory: Memory) -> None:
    record = memory.remember("The guard Zephyrine closes the gate", taint=PAGE)
    entity = memory.entities.about("Zephyrine").entity
    assert entity.taint == PAGE.replace(record=record.id)
    memory.remember("The baker Zephyrine sells bread")
    assert memory.entities.about("Zephyrine").entity.taint is None


def test_confirming_a_record_clears_its_entity(memory: Memory) -> None:
    record = memory.remember("The guard Zephyrine closes the gate", taint=PAGE)
    assert memory.entities.about("Zephyrine").entity.tainted
    memory.confirm(record.id)
    assert not memory.entities.about("Zephyrine").entity.tainted


def test_an_entity_that_was_known_does_not_become_tainted(memory: Memory) -> None:
    memory.remember("The baker Zephyrine sells bread")
    assert not memory.entities.about("Zephyrine").entity.tainted
    memory.remember("The guard Zephyrine closes the gate", taint=PAGE)
    assert not memory.entities.about("Zephyrine").entity.tainted


def test_a_profile_marks_what_is_tainted_and_sums_up_the_rest(memory: Memory) -> None:
    memory.remember("The guard Zephyrine closes the gate", taint=PAGE)
    memory.remember("The baker Zephyrine sells bread")
    found = memory.entities.about("Zephyrine")
    assert "gate" not in found.summary
    assert {each.text: each.tainted for each in found.timeline} == {
        "The guard Zephyrine closes the gate": True,
        "The baker Zephyrine sells bread": False,
    }


def test_no_context_holds_what_is_tainted_unless_that_is_asked_for(memory: Memory) -> None:
    memory.remember("The gate opens at seven", id="trusted")
    memory.remember("The gate opens for Zephyr", id="k", taint=PAGE)
    memory.turn(session="s", role="tool", text="The gate opens, says Zephyr", id="t", taint=PAGE)
    memory.episode("Open the gate of Zephyr", output="gate jammed", outcome="FAILURE", taint=PAGE)
    memory.settle()
    unasked = (
        memory.context.build("gate opens").text,
        memory.patterns.context_for_task("open the gate").text(),
        memory.patterns.after_failure("gate jammed").text(),
    )
    assert "at seven" in unasked[0]
    assert not [text for text in unasked if "Zephyr" in text]
    asked = (
        memory.context.build("gate opens", tainted=True).text,
        memory.patterns.context_for_task("open the gate", tainted=True).text(),
        memory.patterns.after_failure("gate jammed", tainted=True).text(),
    )
    assert all("Zephyr" in text and MARK in text for text in asked)
    assert "web_fetch" in asked[0]


def test_filters_of_a_pack_stay_and_one_that_asks_for_taint_gets_it(memory: Memory) -> None:
    memory.remember("The gate opens at seven", id="trusted")
    memory.remember("The gate opens for Zephyr", id="k", taint=PAGE)
    assert "Zephyr" not in memory.context.build("gate", knowledge=KnowledgeFilter(), turns=None).text
    assert "Zephyr" not in memory.context.build("gate", where=SearchFilter(types=("fact",))).text
    assert "Zephyr" in memory.context.build("gate", where=SearchFilter(tainted=True)).text


def test_the_item_itself_is_marked(memory: Memory) -> None:
    memory.remember("The gate opens for Zephyr", taint=PAGE)
    packed = memory.context.build("gate", tainted=True).text
    (item,) = (line for line in packed.splitlines() if "Zephyr" in line)
    assert item.startswith(f"- fact ({MARK}): ")


def test_patterns_are_found_beside_what_is_not_tainted() -> None:
    assert set(SearchFilter(tainted=False).by_kind()) == {"knowledge", "turn", "episode", "pattern"}
    assert "pattern" not in SearchFilter(tainted=True).by_kind()


def test_a_task_retrieves_nothing_tainted(memory: Memory) -> None:
    memory.remember("The gate opens for Zephyr", taint=PAGE)
    memory.remember("The gate opens at seven")
    task = memory.task("Open the gate")
    assert [each.text for each in task.retrieve_from_episodic("gate")] == ["The gate opens at seven"]
    assert task.finish().taint is None


def test_a_task_that_rests_on_tainted_text_becomes_a_tainted_episode(memory: Memory) -> None:
    record = memory.remember("The gate opens for Zephyr", taint=PAGE)
    task = memory.task("Open the gate")
    (found,) = task.retrieve_from_episodic("gate", tainted=True)
    assert MARK in found.source
    assert task.finish().taint == PAGE.replace(record=record.id)


def test_episodes_that_are_made_into_one_and_reflections_pass_their_taint_on(memory: Memory) -> None:
    from treering.core.taint import inherited_taint

    one, other = memory.episode("a", id="one"), memory.episode("b", id="other", taint=PAGE)
    assert inherited_taint([one, other]) == PAGE.replace(record="other")
    assert inherited_taint([one]) is None
    first = PAGE.replace(record="first")
    assert first.passed_on("second") == first


def test_an_agent_names_the_source(memory: Memory) -> None:
    with agent_of(memory) as agent:
        id = agent.call("record_memory", text="Port 1234.", from_outside="https://example.com/a")["id"]
        taint: Any = memory.get(str(id)).taint
        assert taint.source == "https://example.com/a"
        assert taint.reason
        plain: Any = memory.get(str(agent.call("remember_fact", fact="Port 1235.", from_outside=True)["id"]))
        assert plain.taint.source == "agent"
        assert plain.needs_review


def test_an_export_keeps_the_taint(memory: Memory, open_memory: OpenMemory, tmp_path: Path) -> None:
    memory.remember("The guard Zephyrine closes the gate", id="k", taint=PAGE)
    memory.turn(session="s", role="tool", text="a page", id="t", taint=PAGE)
    memory.episode("read a page", id="e", taint=PAGE)
    memory.entities.about("Zephyrine")
    memory.export(tmp_path / "all.jsonl")
    copy = open_memory(project="copy")
    copy.import_(tmp_path / "all.jsonl")
    for id in ("k", "t", "e"):
        assert copy.get(id).taint == PAGE
    assert copy.entities.about("Zephyrine").entity.tainted


def test_an_export_of_an_earlier_version_is_read(memory: Memory, open_memory: OpenMemory, tmp_path: Path) -> None:
    """It has a flag, and no source."""
    memory.remember("Port 1234", id="k", taint=PAGE)
    memory.export(tmp_path / "all.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    old = json.loads(json.dumps(lines).replace(json.dumps(PAGE.model_dump(mode="json")), "null"))
    (tmp_path / "old.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in old))
    copy = open_memory(project="copy")
    copy.import_(tmp_path / "old.jsonl")
    assert copy.get("k").taint == UNKNOWN
