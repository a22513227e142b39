"""What an agent stored is found again by whichever tool it asks: knowledge, a task, the way out of an error."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.sample_patterns import did, keep
from tests.served import Agent, agent_of
from tests.served_table import ERROR, repository
from treering.memory import Memory

LESSON = "Write the migration before the model"


@pytest.fixture
def agent(memory: Memory) -> Iterator[Agent]:
    with agent_of(memory) as found:
        yield found


def _ids(pieces: list[dict[str, Any]]) -> list[str]:
    return [piece["id"] for piece in pieces]


def test_a_corrected_fact_stays_with_its_subject(agent: Agent) -> None:
    fact = {"subject": "Redis", "attribute": "host", "value": "r1"}
    old = agent.call("remember_fact", fact="Redis runs on host r1", **fact)["id"]
    assert _ids(agent.call("get_entity_info", name="Redis")["facts"]) == [old]
    for text in ("Redis runs on host r2", "It moved to host r3."):
        new = agent.call("correct_fact", id=old, text=text)["id"]
        assert _ids(agent.call("get_entity_info", name="Redis")["facts"]) == [new]
        old = new


def test_a_near_twin_is_shown_to_whoever_stores_it_again(agent: Agent) -> None:
    first = agent.call("record_memory", text="The build needs node 22.")["id"]
    second = agent.call("record_memory", text="the build needs Node 22")
    assert _ids(second["similar"]) == [first]
    third = agent.call("record_memory", text="The build needs: node 22!")
    assert set(_ids(third["similar"])) == {first, second["id"]}


def test_a_correction_tells_who_else_says_what_was_retired(memory: Memory, agent: Agent) -> None:
    first, second, other = (
        agent.call("record_memory", text=text)["id"]
        for text in ("The build needs node 22.", "the build needs Node 22", "The build needs python 3.12")
    )
    told = agent.told("correct_fact", id=second, text="The build needs Node 24.")
    assert f"Still said by {first};" in told
    assert other not in told
    again = agent.call("correct_fact", id=first)
    assert again["still_said_by"] == []
    standing = [hit.text for hit in memory.search("which node does the build need", turns=None)]
    assert not any("22" in text for text in standing)


def test_retiring_alone_tells_of_twins_too(agent: Agent) -> None:
    first = agent.call("record_memory", text="The build needs node 22.")["id"]
    second = agent.call("record_memory", text="the build needs Node 22")["id"]
    assert agent.call("correct_fact", id=second, reason="inaccurate")["still_said_by"] == [first]


@pytest.mark.parametrize("type", ["error_pattern", "dead_end", "gotcha"])
def test_an_error_brings_what_was_recorded_about_it(agent: Agent, type: str) -> None:
    kept = agent.call("record_memory", type=type, text=f"{ERROR}. Fix: set busy_timeout to 5000.")["id"]
    agent.call("record_memory", type="decision", text=f"{ERROR} is retried by the job queue.")
    agent.call("record_memory", type=type, text="Importing numpy twice warns.")
    traceback = f"Traceback (most recent call last):\n  File '/tmp/x9/app.py', line 31, in save\n{ERROR}"
    for error in (ERROR, f"{ERROR} in /tmp/x9/app.py:31", traceback, f"{ERROR}\n    at /srv/app/db.py:12"):
        assert _ids(agent.call("similar_failures", error=error)["items"]) == [kept], error
    assert "busy_timeout" in agent.told("similar_failures", error=ERROR)


def test_an_error_tells_in_which_task_and_how_they_got_out(agent: Agent) -> None:
    agent.call(
        "report_outcome",
        task="Upgrade the data pipeline",
        outcome="success",
        summary="Pinned numpy below 3; the wheels match again.",
        lessons=["Upgrade one library at a time"],
        errors=["ImportError: numpy.core failed to import"],
    )
    told = agent.told("similar_failures", error="ImportError: numpy.core failed to import")
    for said in ("data pipeline", "Pinned numpy below 3", "one library at a time"):
        assert said in told


def test_what_usually_comes_next_has_no_id(memory: Memory, agent: Agent) -> None:
    for number in range(6):
        did(memory, f"odd {number}", "!frobnicate", "defrobnicate", "frobnicate")
    found = agent.call("similar_failures", error="error: it broke", limit=2)
    assert any("defrobnicate" in step for step in found["next_steps"])
    assert all(id.startswith("odd ") for id in _ids(found["items"]))
    assert "next-1" not in agent.told("similar_failures", error="error: it broke", limit=2)


def test_tasks_and_their_lessons_are_found_by_a_search(agent: Agent) -> None:
    tables = ("orders", "users", "invoices", "carts")
    ids = {
        agent.call("report_outcome", task=f"Add a column to {name}", outcome="success", lessons=[LESSON])["id"]
        for name in tables
    }
    found = agent.call("search_memory", query=LESSON.lower())["results"]
    assert {each["kind"] for each in found} == {"episode"}
    assert set(_ids(found)) == ids
    told = agent.told("search_memory", query=LESSON.lower())
    assert "- episode: Add a column" in told
    assert LESSON in told
    assert all(id in told for id in _ids(found))


def test_tasks_that_only_share_a_word_stay_out_of_a_search(agent: Agent) -> None:
    agent.call("report_outcome", task="Add a column to orders", outcome="success", lessons=[LESSON])
    known = agent.call("record_memory", text="Orders are kept in PostgreSQL because of row-level security.")["id"]
    for query in ("why are orders kept in PostgreSQL, and with which row-level security", "kubernetes helm chart"):
        assert set(_ids(agent.call("search_memory", query=query)["results"])) <= {known}


def test_tasks_take_no_more_than_was_asked_for_and_no_types(agent: Agent) -> None:
    agent.call("report_outcome", task="Add a column to orders", outcome="success", lessons=[LESSON])
    known = agent.call("record_memory", text=f"{LESSON}, always.", type="decision")["id"]
    assert len(agent.call("search_memory", query=LESSON)["results"]) == 2
    assert len(agent.call("search_memory", query=LESSON, limit=1)["results"]) == 1
    assert _ids(agent.call("search_memory", query=LESSON, types=["decision"])["results"]) == [known]


def test_recipes_are_found_for_a_task(memory: Memory, agent: Agent) -> None:
    recipe = agent.call(
        "record_memory", type="workflow_recipe", text="To fix the login: 1. clear the cookies 2. tag it"
    )["id"]
    agent.call("record_memory", type="gotcha", text="To fix the login takes a day.")
    pattern = keep(memory, id="small-steps").id
    found = agent.call("find_patterns", task="fix the login", unproven=True)
    assert (_ids(found["patterns"]), _ids(found["recipes"])) == ([pattern], [recipe])
    assert "clear the cookies" in agent.told("find_patterns", task="mend a login")
    assert "or recipe" in agent.told("find_patterns", task="paint the shed")


def test_no_part_of_the_session_crowds_out_the_others(memory: Memory, agent: Agent) -> None:
    memory.remember("Answer in British English.", type="preference", session="earlier")
    memory.remember("The checkout is half done.", type="work_state", session="earlier")
    memory.episode("Make the import faster", session="earlier")
    for number in range(30):
        agent.call("record_memory", text=f"Note {number} says that lamp {number} burns.")
    agent.call("record_memory", text="A long story of lamps and ships. " * 2_000)
    for budget in (600, 2_000):
        found = agent.call("get_session_context", budget=budget)
        parts = {item["part"] for item in found["items"]}
        assert parts == {"rule", "in progress", "this session", "task"}
        assert len(found["items"]) + found["left_out"] == 3 + 31


def test_what_the_session_kept_first_is_not_left_out_where_it_is_a_rule(agent: Agent) -> None:
    agent.call("record_memory", text="Answer in British English.", type="preference")
    for number in range(24):
        agent.call("record_memory", text=f"Note {number} says that lamp {number} burns.")
    found = agent.call("get_session_context", budget=10_000)
    assert (len(found["items"]), found["left_out"]) == (21, 4)
    assert "4 more" in agent.told("get_session_context", budget=10_000)


def test_the_files_of_the_code_index_are_counted(memory: Memory, tmp_path: Path) -> None:
    with agent_of(memory, repository=repository(tmp_path / "shop")) as agent:
        assert "No code is indexed" in agent.told("memory_stats")
        agent.call("analyze_impact", node="save")
        assert "Code index: 4 files" in agent.told("memory_stats")
