"""Precise recall on both engines: only what a query is really about, and nothing that may not be seen."""

from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import OpenMemory
from tests.samples import NOW, put, sample
from treering.core.entities import Entity, EntityLink
from treering.core.errors import InvalidInput
from treering.core.queries import KnowledgeFilter, TurnFilter
from treering.core.scope import Visibility
from treering.core.settings import Settings
from treering.memory import Memory

BY_WORDS = Settings.make(embedder={"provider": "none"})
FILLING = (
    "The bakery opens at six",
    "Gulls nest on the roof of the customs house",
    "Payroll runs on the last Friday",
    "The north gate is repainted each spring",
    "Visitors park behind the chapel",
    "Radio channel nine is for emergencies",
)


def name(memory: Memory, record: str, called: str, *aliases: str, kind: str = "knowledge", **fields: Any) -> None:
    """Link a record with an entity of its own."""
    of = f"of-{record}-{called}"
    with memory.store.transaction(memory.scope, NOW) as tx:
        put(tx, [sample(Entity, of, name=called, aliases=aliases, kind="other", **fields)])
        put(tx, [sample(EntityLink, of, entity=of, record=record, record_kind=kind, mention=called, **fields)])


def know(memory: Memory, id: str, text: str, *names: str, **fields: Any) -> None:
    memory.remember(text, id=id, **fields)
    if names:
        name(memory, id, *names)


def found(memory: Memory, query: str, **options: Any) -> set[str]:
    return {hit.id for hit in memory.search(query, precise=True, **options)}


def passed(memory: Memory, query: str) -> dict[str, str]:
    told = memory.search(query, precise=True, explain=True).explanation
    assert told is not None
    return {reasons.id: reasons.passed for reasons in told.results}


@pytest.fixture
def harbour(open_memory: OpenMemory) -> Memory:
    memory = open_memory(clock=lambda: NOW, settings=BY_WORDS)
    for place, text in enumerate(FILLING):
        memory.remember(text, id=f"filling-{place}")
    know(memory, "crane", "Lifts forty tonnes since the overhaul", "Big Bertha", "gantry crane", "BB-1")
    know(memory, "tides", "Read them off the mole, not the web", "tide table")
    know(memory, "ferry", "Leaves from pier three", "Three.ferry", "the ferry")
    return memory


# Names


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("how much can big bertha lift?", {"crane"}),
        ("Is the GantryCrane free?", {"crane"}),
        ("gantry cranes", {"crane"}),
        ("what does bb1 weigh", {"crane"}),
        ("bb 1 status", {"crane"}),
        ("where are the tide-tables", {"tides"}),
        ("three ferry", {"ferry"}),
        ("threeferry", {"ferry"}),
        ("Does the gantry crane load the ferry?", {"crane", "ferry"}),
        ("crane duty: BB-1/tide-table", {"crane", "tides"}),
        ("a tide-table-based plan", {"tides"}),
        ("is the moon full?", set()),
    ],
)
def test_what_a_query_names_is_found_however_it_is_written(harbour: Memory, query: str, ids: set[str]) -> None:
    assert found(harbour, query) == ids


@pytest.mark.parametrize("query", ["is big berhta free", "big bertah", "big bert", "gantyr crane"])
def test_one_slip_in_a_long_word_is_forgiven(harbour: Memory, query: str) -> None:
    assert found(harbour, query) == ({"crane"} if query != "big bert" else set())


def test_a_word_that_others_write_is_no_slip(harbour: Memory) -> None:
    know(harbour, "quay", "Closed in winter", "Wharf")
    assert found(harbour, "wharv") == {"quay"}
    harbour.remember("Wharv & Sons sell rope by the yard", id="sons")
    assert found(harbour, "wharv") == {"sons"}


def test_an_exact_name_wins_over_one_with_a_slip(harbour: Memory) -> None:
    know(harbour, "bertho", "A dog", "bertho")
    know(harbour, "berthe", "A cat", "berthe")
    assert found(harbour, "feed bertho") == {"bertho"}


def test_a_whole_message_is_read(harbour: Memory) -> None:
    rambling = " ".join(f"and then number {place} came by" for place in range(30))
    assert found(harbour, f"{rambling}, so where does Big Bertha stand now?") == {"crane"}


def test_a_name_inside_a_longer_one_does_not_count(harbour: Memory) -> None:
    know(harbour, "table", "Of oak", "table")
    assert found(harbour, "tide table") == {"tides"}
    assert found(harbour, "the tide table lies on the table") == {"tides", "table"}


def test_words_of_grammar_name_nothing(harbour: Memory) -> None:
    know(harbour, "it", "Two people and a printer", "IT")
    assert found(harbour, "what is it") == set()


def test_an_entity_that_everything_speaks_of_names_nothing(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treering.search.entity_names.MAX_LINKS", 3)
    memory = open_memory(settings=BY_WORDS)
    for place in range(4):
        know(memory, f"k{place}", f"{FILLING[place]}")
    with memory.store.transaction(memory.scope, NOW) as tx:
        put(tx, [sample(Entity, "port", name="port", kind="other")])
        put(tx, [sample(EntityLink, f"l{place}", entity="port", record=f"k{place}") for place in range(4)])
    assert found(memory, "tell me about the port") == set()


@pytest.mark.parametrize(("confidence", "ids"), [(0.3, set()), (0.5, set()), (0.51, {"filling-0"})])
def test_a_link_is_followed_if_it_is_likelier_than_not(harbour: Memory, confidence: float, ids: set[str]) -> None:
    with harbour.store.transaction(harbour.scope, NOW) as tx:
        put(tx, [sample(Entity, "e", name="Dredger", kind="other")])
        put(tx, [sample(EntityLink, "l", entity="e", record="filling-0", confidence=confidence)])
    assert found(harbour, "dredger") == ids


def test_a_name_mentioned_in_passing_is_not_proof(harbour: Memory) -> None:
    """Records are linked in the background once stored; a guessed name must not pass where its one word would not."""
    harbour.remember("Brings every tanker in since March", id="pilot")
    harbour.entities.link("pilot", "Edda", aliases=("harbour pilot",))
    harbour.remember("The old lighthouse has a stove that Edda lights in autumn", id="stove")
    harbour.remember("Edda wants the radar mast moved", id="mast")
    assert harbour.settle().waiting == 0
    assert found(harbour, "Which tanker will Edda bring in at noon tomorrow?") == {"pilot", "mast"}
    assert found(harbour, "the lighthouse stove") == {"stove"}


def test_files_are_names(harbour: Memory) -> None:
    harbour.remember("Rebuilt in May", id="rebuilt", files=("plans/mole.svg",))
    assert found(harbour, "who drew plans/mole.svg?") == {"rebuilt"}


def test_turns_are_named_too(harbour: Memory) -> None:
    harbour.turn(session="s", role="user", text="she squeaks again", id="said", at=NOW)
    name(harbour, "said", "winch", kind="turn")
    assert found(harbour, "the winch") == {"said"}
    assert found(harbour, "the winch", turns=None) == set()


# Words


def test_most_of_the_query_is_enough_and_one_of_several_words_is_not(harbour: Memory) -> None:
    assert found(harbour, "where do visitors park their cars?") == {"filling-4"}
    assert found(harbour, "chapel") == {"filling-4"}
    assert found(harbour, "visitors need helmets in the engine hall") == set()
    assert found(harbour, "please tell me what you think") == set()


def test_a_compound_is_one_word_however_many_parts_it_has(harbour: Memory) -> None:
    harbour.remember("LockKeeper is down on Mondays", id="keeper")
    assert found(harbour, "LockKeeper") == {"keeper"}
    assert found(harbour, "how is LockKeeper licensed?") == set()
    assert found(harbour, "is LockKeeper down?") == {"keeper"}
    assert found(harbour, "lock_keeper Mondays") == {"keeper"}


def test_a_common_word_is_not_enough(open_memory: OpenMemory) -> None:
    memory = open_memory(settings=BY_WORDS)
    for place in range(20):
        memory.remember(f"boat number {place}", id=f"b{place}")
    memory.remember("a lighthouse", id="light")
    assert found(memory, "boats") == set()
    assert found(memory, "lighthouse") == {"light"}


@pytest.mark.parametrize("query", ["", "   ", "\n\t"])
def test_without_words_there_is_nothing_to_be_about(harbour: Memory, query: str) -> None:
    assert found(harbour, query) == set()


def test_an_empty_memory_has_nothing(memory: Memory) -> None:
    assert found(memory, "tide table") == set()


def test_likeness_alone_is_no_proof(open_memory: OpenMemory) -> None:
    memory = open_memory()
    for text in (*FILLING, "Vessels are unloaded by night"):
        memory.remember(text)
    assert memory.search("when do ships discharge their cargo?")[0].text == "Vessels are unloaded by night"
    assert found(memory, "when do ships discharge their cargo?") == set()


# Relations


def test_relations_lead_one_hop_from_what_is_named(harbour: Memory) -> None:
    tied = [{"kind": "required_with", "record": "crane"}]
    harbour.remember("Needs two riggers", id="riggers", relations=tied)
    harbour.remember("Ask Tom", id="second hop", relations=[{"kind": "required_with", "record": "riggers"}])
    harbour.remember("No lifting at all", id="conflict", relations=[{"kind": "conflicts_with", "record": "crane"}])
    assert passed(harbour, "Big Bertha") == {
        "crane": "named: Big Bertha",
        "riggers": "related: required_with crane",
    }


def test_what_was_superseded_leads_to_what_took_its_place(harbour: Memory) -> None:
    successor = harbour.correct("crane", "outdated", text="Lifts thirty tonnes")
    assert found(harbour, "Big Bertha") == {successor.id}


# What never passes


def test_what_was_corrected_flagged_or_is_over_never_passes(harbour: Memory) -> None:
    harbour.correct("crane", "outdated")
    harbour.flag("tides")
    know(harbour, "regatta", "Pier three is closed", "regatta", valid_until="2026-05-01T00:00:00Z")
    harbour.forget("ferry")
    for query in ("gantry crane", "tide table", "the ferry", "regatta"):
        assert found(harbour, query) == set()


def test_asking_for_both_is_refused(harbour: Memory) -> None:
    with pytest.raises(InvalidInput, match="superseded"):
        harbour.search("crane", precise=True, superseded=True)
    with pytest.raises(InvalidInput, match="deprecated or flagged"):
        harbour.search("crane", precise=True, knowledge=KnowledgeFilter(deprecated=True))


def test_filters_hold_for_every_way(harbour: Memory) -> None:
    tied = [{"kind": "required_with", "record": "hoist"}]
    know(harbour, "hoist", "For the chandlery", "hoist", tags=("east",))
    harbour.remember("Check the hoist of the chandlery", id="check", tags=("west",), relations=tied)
    east, west = (KnowledgeFilter(tags=(side,)) for side in ("east", "west"))
    assert found(harbour, "hoist chandlery") == {"hoist", "check"}
    assert found(harbour, "hoist", knowledge=east) == {"hoist"}
    assert found(harbour, "is the hoist free", knowledge=west) == set()
    assert found(harbour, "hoist chandlery", knowledge=west) == {"check"}
    assert found(harbour, "hoist chandlery", knowledge=KnowledgeFilter(tags=("south",))) == set()


def test_a_filter_does_not_hide_what_stands_behind_many_others(open_memory: OpenMemory) -> None:
    memory = open_memory(settings=BY_WORDS.replace(search=BY_WORDS.search.replace(candidates=10)))
    for place in range(12):
        memory.remember(f"ebb flood {place}", id=f"k{place}")
    memory.remember("ebb and flood at the mole after dark, as the pilots say", id="far", tags=("far",))
    for place in range(200):
        memory.remember(f"filling number {place}", id=f"f{place}")
    assert found(memory, "ebb flood", knowledge=KnowledgeFilter(tags=("far",))) == {"far"}


def test_the_explanation_says_why_each_passed(harbour: Memory) -> None:
    assert passed(harbour, "the tide table") == {"tides": "named: tide table"}
    assert passed(harbour, "gantyr crane") == {"crane": "named: gantyr crane (Big Bertha)"}
    assert passed(harbour, "do visitors park here") == {"filling-4": "words: visitors, park"}


def test_a_pack_may_be_precise(harbour: Memory) -> None:
    assert [item.id for item in harbour.context.build("big bertha", precise=True).items] == ["crane"]
    assert harbour.context.build("is the moon full?", precise=True).items == ()


# Isolation


def test_names_of_other_people_and_projects_name_nothing_here(open_memory: OpenMemory) -> None:
    ada, bob = open_memory(principal="ada"), open_memory(principal="bob")
    elsewhere = open_memory(project="elsewhere", principal="ada")
    personal = {"owner": "ada", "visibility": Visibility.PERSONAL}
    ada.remember("Kept under the stairs", id="secret", visibility="personal")
    name(ada, "secret", "strongbox", **personal)
    ada.remember("Open to all", id="shared")
    name(ada, "shared", "boathouse")
    name(ada, "shared", "rendezvous", **personal)
    assert found(ada, "the strongbox") == {"secret"}
    assert found(ada, "our rendezvous") == {"shared"}
    for other in (bob, elsewhere):
        assert found(other, "the strongbox") == set()
        assert found(other, "our rendezvous") == set()
    assert found(bob, "boathouse") == {"shared"}
    assert found(elsewhere, "boathouse") == set()


WORDS = ("anchor", "buoy", "capstan", "davit", "eddy", "fender")
TAGS = ("east", "west")
PROJECTS = count()


@given(
    records=st.lists(
        st.tuples(st.sampled_from(WORDS), st.sampled_from(WORDS), st.sampled_from(TAGS), st.booleans()),
        min_size=1,
        max_size=6,
    ),
    query=st.lists(st.sampled_from((*WORDS, "anchr", "the", "buoys")), min_size=1, max_size=4).map(" ".join),
    tag=st.sampled_from(TAGS),
)
def test_nothing_passes_that_the_filters_or_the_scope_refuse(
    open_memory: OpenMemory, records: list[tuple[str, str, str, bool]], query: str, tag: str
) -> None:
    project = f"p{next(PROJECTS)}"
    ada, bob = (open_memory(project=project, principal=who, settings=BY_WORDS) for who in ("ada", "bob"))
    for place, (called, text, side, mine) in enumerate(records):
        id = f"k{place}"
        fields: dict[str, Any] = {"owner": "ada", "visibility": "personal" if mine else "project"}
        ada.remember(f"{text} {place}", id=id, tags=(side,), **fields)
        name(ada, id, called, **fields)
    shared = {f"k{place}" for place, (_, _, _, mine) in enumerate(records) if not mine}
    tagged = {f"k{place}" for place, (_, _, side, _) in enumerate(records) if side == tag}
    options = {"knowledge": KnowledgeFilter(tags=(tag,)), "turns": TurnFilter()}
    assert found(ada, query, **options) <= tagged
    assert found(bob, query, **options) <= tagged & shared
    ada.close()
    bob.close()


def test_a_small_memory_in_which_most_say_the_same_finds_them(open_memory: OpenMemory) -> None:
    memory = open_memory(settings=BY_WORDS)
    said = ("The build needs node 22.", "the build needs Node 22", "The build needs: node 22!")
    kept = {memory.remember(text, type="gotcha").id for text in said}
    found = memory.search("the build needs node 22", precise=True, repeated=True)
    assert {hit.id for hit in found} == kept


# Many candidates


@pytest.mark.parametrize("candidates", [10, 200])
def test_excluded_candidates_leave_room_for_others(open_memory: OpenMemory, candidates: int) -> None:
    """Better matches that the filter excludes do not displace others, however few candidates are examined."""
    settings = Settings.make(embedder={"provider": "none"}, search={"candidates": candidates})
    memory = open_memory(clock=lambda: NOW, settings=settings)
    memory.remember_many([f"berth {place} has a bollard" for place in range(140)])
    memory.remember_many([f"bollard torque {place}" for place in range(11)])
    memory.remember(f"bollard torque, {' '.join(FILLING)}", id="long", tags=["kept"])
    assert len(found(memory, "bollard torque", limit=50)) == min(candidates, 12)
    assert found(memory, "bollard torque", limit=50, knowledge=KnowledgeFilter(tags=("kept",))) == {"long"}
