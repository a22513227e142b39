"""One search: every kind in one ranking, the same at every door, found by all that a record says."""

import json
from typing import Any

import pytest

from tests.conftest import OpenMemory
from tests.samples import NOW
from tests.served import agent_of
from treering.core.errors import InvalidInput
from treering.core.queries import SearchedKind, SearchFilter, TimeRange
from treering.memory import Memory
from treering.search.answer import Answer, Confidence

QUERY = "flaky login test"


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    memory = open_memory(background=False)
    memory.remember("The login test is flaky on Mondays", type="gotcha", id="gotcha", tags=["ci"])
    memory.turn(session="talk", role="user", text="That flaky login test again!", id="turn")
    memory.episode("Fix flaky login test", output="it waits for the cookie now", id="episode")
    memory.patterns.add(
        name="Wait for the cookie",
        category="strategy",
        summary="A flaky login test waits for its cookie",
        content={"form": "strategy", "approach": "Wait for the cookie."},
        id="pattern",
    )
    memory.remember("The shop sells tea", type="fact", id="other")
    return memory


def found(memory: Memory, query: str = QUERY, **options: Any) -> set[str]:
    return {hit.id for hit in memory.search(query, **options)}


def test_every_kind_is_in_one_ranking(memory: Memory) -> None:
    answer = memory.search(QUERY)
    kinds = {hit.id: hit.kind for hit in answer}
    assert (
        kinds.items()
        >= {
            "gotcha": "knowledge",
            "turn": "turn",
            "episode": "episode",
            "pattern": "pattern",
        }.items()
    )
    scores = [hit.score for hit in answer]
    assert scores == sorted(scores, reverse=True)
    assert all(hit.text and hit.source for hit in answer)


@pytest.mark.parametrize("kind", list(SearchedKind))
def test_a_filter_leaves_other_kinds_out(memory: Memory, kind: SearchedKind) -> None:
    assert {hit.kind for hit in memory.search(QUERY, where=SearchFilter(kinds=(kind,)))} == {kind.value}


def test_a_kind_that_lacks_what_is_asked_for_is_left_out(memory: Memory) -> None:
    assert found(memory, where=SearchFilter(types=("gotcha",))) == {"gotcha"}
    assert found(memory, where=SearchFilter(tags=("ci",))) == {"gotcha"}
    assert found(memory, where=SearchFilter(roles=("user",))) == {"turn"}
    assert found(memory, where=SearchFilter(sessions=("talk",))) == {"turn"}
    assert found(memory, where=SearchFilter(time=TimeRange(before=NOW.replace(year=1990)))) == set()


def test_without_a_query_the_newest_of_every_kind_are_listed(memory: Memory) -> None:
    assert {hit.kind for hit in memory.search("")} == {kind.value for kind in SearchedKind}


def test_a_deprecated_pattern_is_no_result_unless_it_is_asked_for(memory: Memory) -> None:
    memory.patterns.deprecate("pattern", "it was the clock")
    assert "pattern" not in found(memory)
    assert "pattern" in found(memory, superseded=True)


def test_what_was_forgotten_is_found_in_no_kind(memory: Memory) -> None:
    for id in ("gotcha", "turn", "episode"):
        memory.forget(id)
    assert found(memory).isdisjoint({"gotcha", "turn", "episode"})


DETAILS: dict[str, dict[str, Any]] = {
    "dead_end": {"approach": "we cached sessions in zookeeper", "reason": "quorum was lost"},
    "gotcha": {"trigger": "a zookeeper restart", "workaround": "wait a minute"},
    "error_pattern": {"message": "zookeeper connection loss", "resolution": "raise the timeout"},
    "module_insight": {"purpose": "talks to zookeeper"},
    "work_state": {"completed": ["moved zookeeper"], "next_step": "drop the old one"},
    "workflow_recipe": {"steps": [{"description": "restart zookeeper"}]},
    "decision": {"rationale": "zookeeper was too slow", "alternatives": ["etcd"]},
    "fact": {"subject": "the queue", "attribute": "host", "value": "zookeeper"},
    "requirement": {"subject": "zookeeper", "value": "three nodes"},
    "preference": {"speaker": "zookeeper"},
}


@pytest.mark.parametrize("type", DETAILS)
def test_a_record_is_found_by_what_its_payload_says_and_shows_it(memory: Memory, type: str) -> None:
    id = memory.remember("It did not work out", type=type, payload=DETAILS[type]).id
    hits = {hit.id: hit.text for hit in memory.search("zookeeper")}
    assert list(hits) == [id]
    assert "zookeeper" in hits[id]
    assert "zookeeper" in memory.context.build("zookeeper").text


@pytest.mark.parametrize("field", ["tags", "files", "modules"])
def test_a_record_is_found_by_its_labels(memory: Memory, field: str) -> None:
    labels: dict[str, Any] = {field: ["zookeeper"]}
    id = memory.remember("It did not work out", **labels).id
    (hit,) = memory.search("zookeeper")
    assert hit.id == id
    assert "zookeeper" in hit.source
    assert "zookeeper" in memory.context.build("zookeeper").text


def test_what_a_type_says_only_when_it_is_given_is_shown(memory: Memory) -> None:
    memory.remember("Tabs for indentation", type="preference", payload={"strength": "never"})
    memory.remember("Spaces for tables", type="preference")
    shown = [hit.text for hit in memory.search("tabs spaces", where=SearchFilter(types=("preference",)))]
    assert sorted(shown) == ["Spaces for tables", "Tabs for indentation (strength: never)"]


def test_what_the_payload_repeats_is_shown_once(memory: Memory) -> None:
    memory.remember("Restart zookeeper first", type="gotcha", payload={"workaround": "restart zookeeper"})
    (hit,) = memory.search("zookeeper")
    assert hit.text == "Restart zookeeper first"


def test_a_filter_is_json(memory: Memory) -> None:
    where = SearchFilter(kinds=(SearchedKind.TURN,), sessions=("talk",))
    assert SearchFilter.make(**json.loads(where.to_json())) == where
    with pytest.raises(InvalidInput):
        SearchFilter.make(kinds=["nothing"])


QUERIES = (QUERY, "cookie", "what does the shop sell", "on which days is the test flaky", "zebra", "")


@pytest.mark.parametrize("query", QUERIES[:-1])
def test_the_library_and_an_agent_get_the_same_results(memory: Memory, query: str) -> None:
    memory.settle()
    with agent_of(memory) as agent:
        told = agent.call("search_memory", query=query, limit=10, budget=8_000)["results"]
    assert [each["id"] for each in told] == [hit.id for hit in memory.search(query, limit=10)]


def test_an_answer_says_that_it_is_only_the_nearest(memory: Memory) -> None:
    memory.remember("Nina moved to Lisbon in March")
    memory.settle()
    assert memory.search("when did Nina move").confidence == "high"
    for query in ("what is the capital of France", "how do I bake bread", "who won the world cup"):
        assert memory.search(query).confidence == "low", query
    with agent_of(memory) as agent:
        assert agent.call("search_memory", query="what is the capital of France")["confidence"] == "low"
        assert agent.call("search_memory", query="when did Nina move")["confidence"] == "high"


def test_greetings_are_no_results(memory: Memory) -> None:
    for text in ("hi", "Hello! How can I help you today?", "thanks a lot"):
        memory.turn(session="s", role="user", text=text)
    memory.settle()
    assert not memory.search("hi")
    assert not memory.search("hello, how are you?")


@pytest.mark.parametrize("query", ["hi", "hello there", "thanks", "yo", "Vielen Dank"])
def test_nothing_answers_a_greeting(memory: Memory, query: str) -> None:
    memory.remember("The shop keeps prices in cents", type="decision")
    memory.turn(session="s", role="user", text="Hi Ana")
    memory.turn(session="s", role="user", text="The deploy takes an hour, thanks to the cache")
    memory.settle()
    answer = memory.search(query)
    assert answer.confidence == "low"
    assert "Hi Ana" not in [hit.text for hit in answer]


def test_an_agent_is_told_that_nothing_is_known_whatever_else_is_missing(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = Answer("zebras", (), missing={"meaning of some": "1 of 6 have no vector yet"}, confidence=Confidence.LOW)
    monkeypatch.setattr(Memory, "search", lambda *_, **__: empty)
    with agent_of(memory) as agent:
        told = agent.told("search_memory", query="zebras")
        assert "No record about this" in told
        assert "1 of 6 have no vector yet" in told
        assert "No record about this" in " ".join(agent.call("search_memory", query="zebras")["notes"])


@pytest.mark.parametrize(
    "query",
    ["what did we decide today", "which decisions did we make today?", "décisions prises aujourd'hui",
     "was haben wir heute entschieden", "decisions today", "what decisions did we reach today",
     "which decisions have been recorded today", "what decisions did we find today"],
)  # fmt: skip
def test_a_question_for_a_type_and_a_day_lists_them(memory: Memory, query: str) -> None:
    today = [memory.remember(text, type="decision").id for text in ("We use Kafka", "Invoices are sent by post")]
    last_year: dict[str, Any] = {"created_at": memory._parts.clock().replace(year=2020)}
    memory.remember("We use RabbitMQ", type="decision", **last_year)
    assert [hit.id for hit in memory.search(query)] == [today[1], today[0]]


def test_a_type_that_was_not_stored_then_is_said_to_be_missing(memory: Memory) -> None:
    memory.remember("We use Kafka", type="decision")
    memory.remember("Kafka loses messages without acks", type="gotcha")
    answer = memory.search("what did we decide yesterday")
    assert answer.confidence == "low"
    assert "decision" in answer.missing["time"]
    assert memory.search("what gotchas did we find today").confidence == "high"
    assert {hit.record.type for hit in memory.search("what gotchas did we find today")} == {"gotcha"}


def test_a_question_for_a_type_a_day_and_a_subject_finds_that(memory: Memory) -> None:
    memory.remember("Invoices are sent by post", type="decision")
    kafka = memory.remember("We use Kafka for events", type="decision").id
    assert memory.search("what did we decide about Kafka today")[0].id == kafka


def test_where_nothing_was_decided_that_day_the_rest_is_searched(memory: Memory) -> None:
    last_year: dict[str, Any] = {"created_at": memory._parts.clock().replace(year=2020)}
    old = memory.remember("We decided to use RabbitMQ", type="decision", **last_year).id
    assert old in {hit.id for hit in memory.search("what did we decide about RabbitMQ today")}


def test_one_filter_object_is_given_or_filters_of_kinds_not_both(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="not both"):
        memory.search(QUERY, where=SearchFilter(tainted=False), turns=None)


def test_a_kind_that_is_not_known_is_named_without_the_inner_types() -> None:
    with pytest.raises(InvalidInput, match=r"kinds\.0: Input should be") as refused:
        SearchFilter.make(kinds=["bogus"])
    assert "[" not in str(refused.value)
