"""A new record is compared with those that hold: a person's word supersedes, any other waits for review with them."""

from threading import Barrier, Thread
from typing import Any

import pytest

from tests.conftest import OpenMemory
from tests.samples import knowledge
from tests.served import agent_of
from treering.core.errors import InvalidInput
from treering.core.history import Action
from treering.core.records import Knowledge
from treering.memory import Memory

PERSON: dict[str, Any] = {"source": "user_taught"}


def related(record: Knowledge) -> list[tuple[str, str | None]]:
    return [(each.kind.value, each.record) for each in record.conflicts]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The staging database listens on 5433.", "The staging database listens on 5434."),
        ("The API rate limit is 100 requests per minute", "The API rate limit is now 200 requests per minute"),
        ("The API rate limit is 100 calls per minute", "The rate limit of the API was raised to 200 calls per minute"),
        ("I live in Berlin", "I live in Munich"),
        ("I live in Berlin", "I moved to Munich"),
        ("I'm a nurse", "I was promoted to director"),
        ("The office is in Leeds", "The office is now in York"),
        ("We deploy on Fridays", "We no longer deploy on Fridays"),
        ("We use tabs", "We use spaces instead of tabs"),
        ("We use npm", "We switched from npm to pnpm"),
        ("On utilise npm", "On est passés de npm à pnpm"),
        ("Usiamo npm", "Abbiamo sostituito npm con pnpm"),
        ("Wir nutzen npm", "Wir sind von npm auf pnpm umgestiegen"),
        ("Usamos npm", "Pasamos de npm a pnpm"),
        ("Anna's birthday is 3 May", "Anna's birthday is 5 June"),
        ("Der Zeitraum beträgt 30 Tage", "Der Zeitraum beträgt jetzt 60 Tage"),
    ],
)
def test_a_person_who_states_a_change_supersedes_the_record(memory: Memory, before: str, after: str) -> None:
    old = memory.remember(before, **PERSON)
    assert old.conflicts == ()
    new = memory.remember(after, **PERSON)
    assert related(new) == [("supersedes", old.id)]
    assert new.needs_review is False
    gone = memory.get(old.id)
    assert (gone.content, gone.superseded_by) == (before, new.id)
    assert gone.deprecated_at is not None
    assert old.id not in [hit.id for hit in memory.search(before)]
    assert new.id in [hit.id for hit in memory.search(after)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The API rate limit is 100 requests per minute", "The API rate limit is 200 requests per minute"),
        ("The keynote speaker is Anna Schmidt", "The keynote speaker is Bob"),
        ("Use semicolons", "Don't use semicolons"),
        ("Always write tests", "Never write tests"),
        ("Immer Tests schreiben", "Nie Tests schreiben"),
        ("Never write tests", "Always write tests"),
        ("The cache is enabled", "The cache is disabled"),
        ("Compression disabled", "Compression enabled"),
        ("The favourite colour is blue", "The favourite colour is now green"),
    ],
)
def test_what_may_be_a_contradiction_waits_for_review_on_both_sides(memory: Memory, before: str, after: str) -> None:
    old = memory.remember(before, **PERSON)
    new = memory.remember(after, **PERSON)
    assert related(new) == [("conflicts_with", old.id)]
    doubted = memory.get(old.id)
    assert isinstance(doubted, Knowledge)
    assert related(doubted) == [("conflicts_with", new.id)]
    assert (new.needs_review, doubted.needs_review, doubted.deprecated_at) == (True, True, None)
    assert {each.id for each in memory.context.to_review()} == {old.id, new.id}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I don't eat pork", "I don't eat shellfish"),
        ("Staging uses Node 20", "Production uses Node 22"),
        ("Die CI nutzt Node 20", "Die Produktion nutzt Node 22"),
        ("I'm a nurse", "I'm a translator"),
        ("I work at Siemens", "I work for Meier Dental"),
        ("The API listens on port 8080", "The API listens on port 8443 for TLS"),
        ("My name is Carla", "Call me Caz"),
    ],
)
def test_values_that_hold_side_by_side_contradict_nothing(memory: Memory, before: str, after: str) -> None:
    old = memory.remember(before, **PERSON)
    assert memory.remember(after, **PERSON).conflicts == ()
    assert memory.get(old.id).deprecated_at is None


def test_an_agent_supersedes_nothing(memory: Memory) -> None:
    old = memory.remember("The staging database listens on 5433.", **PERSON)
    new = memory.remember("The staging database listens on 5434.")
    assert related(new) == [("conflicts_with", old.id)]
    assert memory.get(old.id).needs_review is True


def test_text_from_outside_casts_no_doubt_on_what_is_trusted(memory: Memory) -> None:
    old = memory.remember("The staging database listens on 5433.", **PERSON)
    new = memory.remember("The staging database listens on 5434.", tainted=True, **PERSON)
    assert related(new) == [("conflicts_with", old.id)]
    assert memory.get(old.id) == old


def test_typed_facts_are_compared_by_subject_and_attribute(memory: Memory) -> None:
    old = memory.remember("5433 is it", payload={"subject": "Staging DB", "attribute": "port", "value": "5433"})
    new = memory.remember(
        "Connect to 5434", payload={"subject": "the staging db", "attribute": "port", "value": "5434"}, **PERSON
    )
    assert related(new) == [("supersedes", old.id)]
    own = [
        memory.remember(text, payload={"subject": "cart", "attribute": "retries", "value": text}, **PERSON)
        for text in ("three", "five")
    ]
    assert related(own[1]) == [("conflicts_with", own[0].id)]


def test_undo_of_either_brings_back_what_was_superseded(memory: Memory) -> None:
    for name in ("old", "new"):
        old = memory.remember("The staging database listens on 5433.", **PERSON)
        new = memory.remember("The staging database listens on 5434.", **PERSON)
        assert memory.history(old.id)[0].action is Action.SUPERSEDE
        assert memory.history(new.id)[0].action is Action.SUPERSEDE
        memory.undo({"old": old, "new": new}[name].id)
        assert [hit.id for hit in memory.search("staging database")] == [old.id]
        assert memory.get(old.id).superseded_by is None
        memory.forget(old.id, hard=True)


def test_several_records_of_the_old_value_wait_for_review(memory: Memory) -> None:
    said = [
        memory.remember(text, **PERSON)
        for text in ("The staging database listens on 5433.", "The staging database is on port 5433")
    ]
    assert said[1].conflicts == ()
    new = memory.remember("The staging database listens on 5434.", **PERSON)
    assert sorted(related(new)) == sorted(("conflicts_with", each.id) for each in said)


def test_records_of_other_files_or_people_are_left_alone(open_memory: OpenMemory) -> None:
    memory, other = open_memory(principal="ada"), open_memory(principal="bob")
    memory.remember("The timeout is 30 seconds", files=["a.py"], **PERSON)
    assert memory.remember("The timeout is 60 seconds", files=["b.py"], **PERSON).conflicts == ()
    memory.remember("My birthday is 3 May", **PERSON)
    assert other.remember("My birthday is 5 June", **PERSON).conflicts == ()
    memory.remember("The retry limit is 3 attempts", visibility="personal", **PERSON)
    assert other.remember("The retry limit is 4 attempts", **PERSON).conflicts == ()


def test_two_writers_at_the_same_moment_find_each_other(open_memory: OpenMemory) -> None:
    barrier, stored = Barrier(2), list[Knowledge]()

    def write(memory: Memory, port: int) -> None:
        barrier.wait()
        stored.append(memory.remember(f"The staging database listens on {port}.", **PERSON))

    threads = [Thread(target=write, args=(open_memory(), 5433 + number)) for number in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(len(each.conflicts) for each in stored) == [0, 1]


def test_identical_records_among_many_are_stored_once(memory: Memory) -> None:
    memory.remember("Tea is served at four")
    same = [knowledge(f"k{number}", "Luca is allergic to peanuts") for number in range(3)]
    assert (
        memory.remember_many([*same, knowledge("t", "tea is served  at FOUR"), knowledge("o", "something else")]) == 2
    )
    assert memory.remember_many(same) == 0
    assert memory.stats().records["knowledge"] == 3
    assert memory.get("k0").content == "Luca is allergic to peanuts"


def test_many_texts_are_stored_as_facts_and_anything_else_is_refused(memory: Memory) -> None:
    assert memory.remember_many(["Tea is served at four", "tea is served at four", knowledge("k", "something")]) == 2
    assert {hit.record.type for hit in memory.search("tea")} == {"fact"}
    wrong: tuple[Any, ...] = ("Tea is served at five", [7], [None], [{"content": "a"}], 7)
    for records in wrong:
        with pytest.raises(InvalidInput, match="Knowledge values"):
            memory.remember_many(records)
    assert memory.stats().records["knowledge"] == 2


def test_a_record_in_conflict_is_marked_wherever_a_model_reads_it(memory: Memory) -> None:
    rules: dict[str, Any] = {"type": "requirement", "source": "agent_explicit"}
    old = memory.remember("The staging database listens on 5433.", **rules)
    new = memory.remember("The staging database listens on 5434.", **rules)
    mark = f"conflicts with {old.id}, waits for review"
    assert (
        f"requirement ({mark}): The staging database listens on 5434." in memory.context.build("staging database").text
    )
    with agent_of(memory) as agent:
        query = "which port has the staging database"
        found = {each["id"]: each["conflicts"] for each in agent.call("search_memory", query=query)["results"]}
        assert found == {old.id: [new.id], new.id: [old.id]}
        assert mark in agent.told("search_memory", query=query)
        assert mark in agent.told("get_session_context")
    memory.forget(old.id)
    memory.confirm(new.id)
    assert "waits for review" not in memory.context.build("staging database").text


def test_an_agent_is_told_what_its_record_contradicts(memory: Memory) -> None:
    old = memory.remember("The staging database listens on 5433.", **PERSON)
    with agent_of(memory) as agent:
        told = agent.call("remember_fact", fact="The staging database listens on 5434.")
        assert (told["superseded"], told["conflicts"]) == ([], [old.id])
        again = agent.told("record_memory", text="The staging database listens on 5435.", type="fact")
    assert f"it contradicts {told['id']}, {old.id}" in again or f"it contradicts {old.id}, {told['id']}" in again
