"""What an episode reflects on: insights, failures and performance as structures, or as plain texts."""

import json

import pytest

from tests.conftest import OpenMemory
from tests.samples import NOW
from treering.core.episodes import EpisodeFailure, EpisodeInsight, EpisodeReflection, PerformanceAnalysis
from treering.core.errors import InvalidInput
from treering.memory import Memory

LOCKED = "ERROR: relation 4711 is locked"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"[:36]


def kept(memory: Memory, **fields: object) -> EpisodeReflection:
    return memory.episodes.get(memory.episode("Add an index", **fields).id).reflection  # type: ignore[arg-type]


def test_structures_come_back_as_they_were_given(memory: Memory) -> None:
    found = kept(
        memory,
        insights=[{"text": "build concurrently", "confidence": 0.8, "evidence": ["step 3"]}],
        failures=[EpisodeFailure(text=LOCKED, cause="a long transaction", resolution="CREATE INDEX CONCURRENTLY")],
        performance={"text": "slow", "measures": {"seconds": 90}, "bottlenecks": ["the lock"]},
    )
    assert found.insights == (EpisodeInsight(text="build concurrently", confidence=0.8, evidence=("step 3",)),)
    assert (found.failures[0].cause, found.failures[0].resolution) == (
        "a long transaction",
        "CREATE INDEX CONCURRENTLY",
    )
    assert found.performance == PerformanceAnalysis(text="slow", measures={"seconds": 90}, bottlenecks=("the lock",))


def test_a_plain_text_is_enough_and_is_written_as_such(memory: Memory) -> None:
    found = kept(memory, insights=["build concurrently"], failures=[LOCKED], performance="slow")
    assert [str(each) for each in (*found.insights, *found.failures, found.performance)] == [
        "build concurrently",
        LOCKED,
        "slow",
    ]
    written = json.loads(found.to_json())
    assert (written["insights"], written["failures"], written["performance"]) == (
        ["build concurrently"],
        [LOCKED],
        "slow",
    )
    assert EpisodeReflection.from_json(json.dumps(written)) == found


def test_the_same_episode_told_in_texts_and_in_structures_is_one(memory: Memory) -> None:
    first = memory.episode("Add an index", id="e", insights=["build concurrently"])
    assert memory.episode("Add an index", id="e", insights=[{"text": "build concurrently"}]) == first


@pytest.mark.parametrize("wrong", [{"texts": "x"}, {"text": "x", "confidence": 2}, 7, {}])
def test_what_is_no_insight_is_refused(memory: Memory, wrong: object) -> None:
    with pytest.raises(InvalidInput, match="reflection"):
        memory.episode("Add an index", insights=[wrong])


def test_the_resolution_is_shown_to_whoever_meets_the_failure(memory: Memory) -> None:
    memory.episode(
        "Add an index", outcome="FAILURE", failures=[{"text": LOCKED, "resolution": "CREATE INDEX CONCURRENTLY"}]
    )
    (met,) = memory.episodes.similar_failures("ERROR: relation 12 is locked")
    assert (met.same, met.recovery) == (True, ("CREATE INDEX CONCURRENTLY",))


def test_secrets_in_every_part_are_redacted(memory: Memory) -> None:
    found = kept(
        memory,
        insights=[{"text": "x", "evidence": [TOKEN]}],
        failures=[{"text": "x", "cause": TOKEN, "resolution": TOKEN}],
        performance={"text": "x", "measures": {"token": TOKEN}, "bottlenecks": [TOKEN]},
    )
    assert TOKEN not in found.to_json()
    assert found.to_json().count("[redacted:") == 5


def test_insights_are_found_by_their_words(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.episode("Add an index", id="e", insights=[{"text": "vacuum beforehand", "confidence": 0.5}])
    assert [hit.id for hit in memory.episodes.search("vacuum")] == ["e"]


@pytest.mark.parametrize(
    "query",
    ["zanzibar", "quokka", "dingo", "numbat", "wombatctl", "bisection", "payments", "bugfix", "friday", "latency",
     "downtime", "kookaburra", "bandicoot", "wallaby"],
)  # fmt: skip
def test_an_episode_is_found_by_the_words_of_every_part(open_memory: OpenMemory, query: str) -> None:
    memory = open_memory()
    memory.episode(
        {"input": "Repair the export", "goals": ["lower latency"], "constraints": ["no downtime"]},
        id="e",
        failures=[{"text": "zanzibar error 77", "cause": "quokka overflow", "resolution": "restart dingo"}],
        execution={"plan": ["numbat first"], "adaptations": [{"at": NOW, "reason": "kookaburra", "change": "retry"}]},
        outcome={"status": "PARTIAL", "output": "exported", "side_effects": ["the bandicoot cache is empty"]},
        performance="wallaby was slow",
        tools=["wombatctl"],
        strategies=["bisection"],
        domain="payments",
        task_type="bugfix",
        tags=["friday"],
    )
    memory.episode("Write the minutes", id="other")
    assert [hit.id for hit in memory.search(query)] == ["e"]
    assert [hit.id for hit in memory.episodes.search(query)] == ["e"]
