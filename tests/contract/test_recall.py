"""What recall promises, on both engines."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from math import prod
from typing import Any

import pytest

from tests.conftest import OpenMemory
from tests.samples import NOW, knowledge, turn
from treering.core.queries import KnowledgeFilter, SearchFilter, TurnFilter
from treering.core.settings import Settings
from treering.core.turns import Turn
from treering.memory import Memory
from treering.search.answer import Answer, Explanation, RankExplanation

BY_WORDS = Settings.make(embedder={"provider": "none"})
DEPLOYS = {f"2024-{month:02}-10": f"deploys of the {month}th month went to the cluster" for month in range(3, 8)}


def say(memory: Memory, turns: Iterator[Turn]) -> None:
    """Many turns in one transaction."""
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.turns.create_many(turns)


def ids(answer: Answer) -> list[str]:
    return [hit.id for hit in answer]


def explained(answer: Answer) -> Explanation:
    assert answer.explanation is not None
    return answer.explanation


def reasons_for(answer: Answer, id: str) -> RankExplanation:
    return next(each for each in explained(answer).results if each.id == id)


# Filters


def interleaved(pairs: int) -> Iterator[Turn]:
    """Each assistant turn holds one word of the query; the user turns around it hold all the others."""
    for place in range(pairs):
        at = NOW - timedelta(days=1) + timedelta(minutes=place)
        asked = f"zulu tango whiskey foxtrot number {place}"
        yield turn(f"user-{place}", asked, role="user", at=at)
        answered = f"alpha was noted under {place}"
        yield turn(f"assistant-{place}", answered, role="assistant", at=at + timedelta(seconds=30))


def test_a_filter_finds_turns_that_stand_between_better_matches(memory: Memory) -> None:
    say(memory, interleaved(300))
    said_by_assistant = TurnFilter(roles=("assistant",))

    for limit in (1, 10, 50):
        answer = memory.search("alpha zulu tango whiskey foxtrot", limit=limit, turns=said_by_assistant)
        assert len(answer) == limit
        assert {hit.id.split("-")[0] for hit in answer} == {"assistant"}


def test_a_filter_that_few_pass_finds_all_of_them(memory: Memory) -> None:
    say(memory, interleaved(110))
    wanted = ("assistant-3", "assistant-50", "assistant-109")

    answer = memory.search("alpha zulu tango whiskey foxtrot", turns=TurnFilter(ids=wanted))

    assert sorted(ids(answer)) == sorted(wanted)


def test_context_leaves_out_what_the_current_session_said_and_kept(memory: Memory) -> None:
    for session in ("now", "before"):
        memory.turn(session=session, role="user", text=f"the blue kettle drips, said {session}", id=f"turn-{session}")
        memory.remember(f"blue kettles drip, kept {session}", session=session, id=f"fact-{session}")
        memory.episode(f"Mend the blue kettle that drips, tried {session}", session=session, id=f"task-{session}")
    memory.remember("blue kettles are never in a session", id="fact-alone")

    def packed(**options: Any) -> set[str]:
        return {item.id for item in memory.context.build("blue kettle drips", **options).items}

    others = {"turn-before", "fact-before", "task-before", "fact-alone"}
    assert packed() == {*others, "turn-now", "fact-now", "task-now"}
    assert packed(session="now") == others
    assert packed(session="now", where=SearchFilter(kinds=("turn", "episode"))) == {"turn-before", "task-before"}
    assert packed(session="now", where=SearchFilter(not_sessions=("before",))) == {"fact-alone"}
    assert packed(session="now", turns=None) == {"fact-before", "fact-alone"}
    assert packed(session="now", knowledge=KnowledgeFilter(), turns=None) == {"fact-before", "fact-alone"}


# What others keep to themselves


def test_what_another_principal_keeps_personal_lends_nothing_to_my_results(open_memory: OpenMemory) -> None:
    mine = open_memory(principal="me", clock=lambda: NOW)
    her = open_memory(principal="her", clock=lambda: NOW)
    mine.turn(session="s", role="user", text="when is the launch of alpha", id="t1", at=NOW)
    secret = "alpha launch alpha launch was moved because of the rocket"
    her.turn(session="s", role="user", text=secret, id="hers", at=NOW, visibility="personal")
    mine.turn(session="s", role="assistant", text="it was put off to friday for alpha", id="t2", at=NOW)

    for query in ("alpha launch moved", "rocket launch of alpha"):
        told = explained(mine.search(query, explain=True))
        reasons = {each.id: {part.name for part in each.parts} for each in (*told.results, *told.runners_up)}
        assert set(reasons) <= {"t1", "t2"}
        assert not reasons["t1"] & {"words_after", "meaning_after"}
        assert not reasons.get("t2", set()) & {"words_before", "meaning_before", "answers"}


def test_her_own_answer_holds_what_she_keeps_personal(open_memory: OpenMemory) -> None:
    her = open_memory(principal="her")
    her.turn(session="s", role="user", text="the alpha launch was moved", id="hers", visibility="personal")

    assert ids(her.search("alpha launch moved")) == ["hers"]
    assert ids(open_memory(principal="me").search("alpha launch moved")) == []


# What changes is seen at once


def test_what_is_forgotten_is_gone_at_once_in_every_open_memory_and_undo_brings_it_back(
    open_memory: OpenMemory,
) -> None:
    here, there = open_memory(), open_memory()
    record, said = here.remember("the kettle is blue"), here.turn(session="s", role="user", text="the kettle broke")
    assert sorted(ids(there.search("kettle"))) == sorted((record.id, said.id))

    here.forget(record.id)
    assert [ids(memory.search("kettle")) for memory in (here, there)] == [[said.id]] * 2

    here.forget(said.id)
    assert [ids(memory.search("kettle")) for memory in (here, there)] == [[]] * 2

    here.undo(record.id)
    assert [ids(memory.search("kettle")) for memory in (here, there)] == [[record.id]] * 2


def test_what_is_purged_is_gone_at_once_in_every_open_memory(open_memory: OpenMemory) -> None:
    here, there = open_memory(), open_memory()
    gone, kept = here.remember("the kettle is blue"), here.remember("the kettle whistles")
    assert len(there.search("kettle")) == 2

    here.forget(gone.id, hard=True)

    assert [ids(memory.search("kettle")) for memory in (here, there)] == [[kept.id]] * 2


def test_what_is_corrected_is_found_by_its_new_words_only_in_every_open_memory(open_memory: OpenMemory) -> None:
    here, there = open_memory(settings=BY_WORDS), open_memory(settings=BY_WORDS)
    old = here.remember("deploys run on jenkins")
    assert ids(there.search("jenkins")) == [old.id]

    new = here.correct(old.id, "outdated", text="deploys run on buildkite")

    for memory in (here, there):
        assert ids(memory.search("jenkins")) == []
        assert ids(memory.search("buildkite")) == [new.id]


def test_what_is_new_after_forgetting_is_found_by_meaning_at_once(memory: Memory) -> None:
    topics = ("database", "invoice", "holiday", "garden", "football", "violin")
    records = [memory.remember(f"notes about the {topic}") for topic in topics]
    for record in records[:3]:
        memory.forget(record.id)
    memory.search("violin")
    new = memory.remember("Her automobile stands in the garage")

    answer = memory.search("car parking", explain=True)

    assert answer[0].id == new.id
    assert "words" not in reasons_for(answer, new.id).ranks
    assert not [name for name in answer.missing if name.startswith("meaning")]


# Times


def tell_of_deploys(memory: Memory) -> None:
    for day, text in DEPLOYS.items():
        memory.turn(session="s", role="user", text=text, id=day, at=f"{day}T12:00:00+00:00")


def test_words_of_time_leave_out_what_was_said_before(memory: Memory) -> None:
    tell_of_deploys(memory)

    answer = memory.search("deploys since 2 May 2024")

    assert sorted(ids(answer)) == ["2024-05-10", "2024-06-10", "2024-07-10"]
    assert "time" not in answer.missing


def test_a_time_in_which_nothing_was_said_gives_the_best_anyway_and_says_so(open_memory: OpenMemory) -> None:
    memory = open_memory(clock=lambda: NOW)
    tell_of_deploys(memory)

    answer = memory.search("deploys since May 2025")

    assert sorted(ids(answer)) == sorted(DEPLOYS)
    assert answer.missing["time"]


# Words


def test_words_that_nothing_holds_do_not_hide_what_holds_another(memory: Memory) -> None:
    holding = {memory.remember(f"the alpha channel of picture {name}").id for name in ("one", "two", "three")}
    memory.remember("water boils at a hundred degrees")

    found = ids(memory.search("alpha zulu tango whiskey foxtrot"))

    assert set(found[:3]) == holding


# Explanations


def explained_answer(memory: Memory) -> Answer:
    memory.remember("deploys go through the staging cluster", type="decision", source="user_taught")
    memory.remember("the cluster loses deploys at night", type="gotcha", confidence=0.6)
    memory.remember("a cluster has nine nodes", source="observer_inferred")
    memory.turn(session="s", role="user", text="who watches deploys on the cluster")
    memory.turn(session="s", role="assistant", text="the cluster watches itself", tainted=True)
    return memory.search("deploys cluster", limit=3, explain=True)


def test_an_explanation_adds_up(memory: Memory) -> None:
    told = explained(explained_answer(memory))
    everything = (*told.results, *told.runners_up)
    totals = {each.id: sum(part.added for part in each.parts) for each in everything}

    assert max(each.relevance for each in everything) == pytest.approx(1.0)
    for each in everything:
        assert each.parts
        assert each.relevance == pytest.approx(totals[each.id] / max(totals.values()), abs=1e-6)
        assert prod(each.factors.values()) * each.relevance == pytest.approx(each.score, abs=1e-6)


def test_an_explanation_tells_of_the_results_in_their_order_and_what_others_lost_by(memory: Memory) -> None:
    answer = explained_answer(memory)
    told = explained(answer)

    assert [each.id for each in told.results] == ids(answer)
    assert len(told.results) == 3
    assert not any(each.lost for each in told.results)
    assert len(told.runners_up) == 2
    assert all(each.lost for each in told.runners_up)


def test_the_best_result_has_score_1_and_none_is_above_the_one_before(memory: Memory) -> None:
    scores = [hit.score for hit in explained_answer(memory)]

    assert scores[0] == 1.0
    assert scores == sorted(scores, reverse=True)


# Duplicates


def test_records_of_the_same_words_become_one_result_that_names_the_other(memory: Memory) -> None:
    both = {memory.remember("the kettle is blue", id=id).id for id in ("one", "two")}
    memory.remember("the teapot is green")

    answer = memory.search("blue kettle", explain=True)

    assert {answer[0].id, *answer[0].also} == both
    assert both.isdisjoint(ids(answer)[1:])
    folded = next(each for each in explained(answer).runners_up if each.id == answer[0].also[0])
    assert answer[0].id in folded.lost


def test_turns_of_the_same_words_on_different_days_stay_apart(memory: Memory) -> None:
    for id, day in (("one", 3), ("two", 4)):
        memory.turn(session="s", role="user", text="the kettle is blue", id=id, at=datetime(2026, 3, day, tzinfo=UTC))

    answer = memory.search("blue kettle")

    assert sorted(ids(answer)) == ["one", "two"]
    assert [hit.also for hit in answer] == [(), ()]


# Order


def test_equal_input_gives_equal_results_whatever_the_ids(open_memory: OpenMemory) -> None:
    """Turns that tie, and facts that are learned from turns, have the same places in every database."""
    said = ["We drink green tea.", "I live in Berlin.", "We drink green tea.", "I work at Siemens in Berlin."] * 3
    names = [f"t{place:02}" for place in range(len(said))]
    found = []
    for project, named in (("one", names), ("two", names[::-1])):
        memory = open_memory(project=project)
        for day, (id, text) in enumerate(zip(named, said, strict=True), start=1):
            at = datetime(2026, 3, day, tzinfo=UTC)
            memory.turn(session=f"s{day}", role="user", text=text, id=id, at=at)
        memory.settle()
        answers = [memory.search(query, limit=20) for query in ("green tea", "Berlin", "where does the user live")]
        found.append([[(hit.kind, hit.text, hit.source) for hit in answer] for answer in answers])

    assert found[0] == found[1]
    assert {kind for answer in found[0] for kind, *_ in answer} == {"knowledge", "turn"}


def test_a_memory_that_has_long_been_open_ranks_like_one_opened_now(open_memory: OpenMemory) -> None:
    things = ("kettle", "teapot", "saucer", "ladle", "oven", "fridge", "toaster", "whisk", "grater")
    texts = [f"The {one} stands beside the {other}." for one in things for other in things if one != other]
    long_open = open_memory()
    for place, text in enumerate(texts):
        long_open.turn(session=f"s{place}", role="user", text=text, id=f"t{place}", at=NOW)
        long_open.search("something to drink from")

    just_opened = open_memory()
    for query in ("something to drink from", "where is the stove", "cold milk"):
        before, after = long_open.search(query, limit=20), just_opened.search(query, limit=20)
        assert ids(before) == ids(after)
        assert [hit.score for hit in before] == pytest.approx([hit.score for hit in after])


# Trust and phases


@pytest.mark.parametrize("order", [("user_taught", "observer_inferred"), ("observer_inferred", "user_taught")])
def test_what_a_person_taught_outranks_what_was_inferred(memory: Memory, order: tuple[str, str]) -> None:
    for source in order:
        memory.remember("the kettle is blue", id=source, source=source, created_at=NOW)

    answer = memory.search("blue kettle")

    assert [(hit.id, hit.also) for hit in answer] == [("user_taught", ("observer_inferred",))]


@pytest.mark.parametrize("name", ["implement", "coding"])
def test_a_phase_lifts_what_matters_in_it(open_memory: OpenMemory, name: str) -> None:
    memory = open_memory(settings=BY_WORDS)
    memory.remember("the kettle drips sometimes", id="fact", type="fact", confidence=0.8)
    memory.remember("the kettle drips overnight", id="gotcha", type="gotcha", confidence=0.7)

    plain, implementing = (memory.search("kettle drips", phase=phase, explain=True) for phase in (None, name))

    assert ids(plain) == ["fact", "gotcha"]
    assert ids(implementing) == ["gotcha", "fact"]
    assert [each.relevance for each in explained(implementing).results] == pytest.approx([1.0, 1.0])


# Ends of the scale


def test_an_empty_memory_answers_nothing(memory: Memory) -> None:
    assert ids(memory.search("anything", explain=True)) == []
    assert ids(memory.search("")) == []


def test_an_empty_query_gives_the_newest(memory: Memory) -> None:
    memory.remember_many(knowledge(f"k{day}", f"day {day}", created_at=NOW + timedelta(days=day)) for day in range(3))

    assert ids(memory.search("", limit=2)) == ["k2", "k1"]
    assert len(memory.search("  \n ")) == 3


def test_as_many_as_there_are_come_where_the_most_are_asked_for(memory: Memory) -> None:
    memory.remember_many(knowledge(f"k{place}", f"kettle {place} of shelf {place * 7}") for place in range(250))

    assert len(memory.search("kettle", limit=1_000)) == 250


@pytest.mark.parametrize("query", ["kettle " * 14_286, "x" * 100_000, " ".join(f"w{n}" for n in range(15_000))])
def test_a_very_long_query_is_no_error(memory: Memory, query: str) -> None:
    record = memory.remember("the kettle is blue")

    answer = memory.search(query[:100_000], explain=True)

    assert ids(answer) in ([], [record.id])


def test_what_says_the_same_stands_for_itself_where_that_is_asked_for(memory: Memory) -> None:
    both = {memory.remember(text, type="gotcha").id for text in ("The build needs node 22.", "the build needs Node 22")}
    folded = memory.search("build node", turns=None)
    assert {hit.id for hit in folded} | set(folded[0].also) == both
    assert len(folded) == 1
    repeated = memory.search("build node", turns=None, repeated=True)
    assert {hit.id for hit in repeated} == both
    assert [hit.also for hit in repeated] == [(), ()]
    assert len(memory.search("build node", turns=None, repeated=True, limit=1)) == 1
