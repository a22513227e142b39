"""Whichever way a record reaches a model, the audit log says so."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.sample_patterns import keep
from tests.served import Agent, agent_of
from tests.served_table import repository
from treering.memory import Memory

KNOWN = "The harbour master answers on channel 12"
ERROR = "LockError: the harbour is closed"


def _stored(memory: Memory) -> None:
    memory.remember(KNOWN, id="known", type="preference", files=["shop/db.py"])
    memory.remember(f"{ERROR}. Call the harbour master.", id="error", type="error_pattern", tainted=True)
    memory.entities.link("known", "Harbour")
    keep(memory, id="steps", applicability={"problem_types": ["fix"]})


def _task(memory: Memory) -> None:
    task = memory.task("enter the harbour")
    task.retrieve_from_episodic("harbour master")
    task.render()
    task.render()


def _task_context(memory: Memory) -> None:
    memory.patterns.context_for_task(memory.task("ask the harbour master"))


def _asked(ask: Callable[[Agent], object]) -> Callable[[Memory], None]:
    def asked(memory: Memory) -> None:
        with agent_of(memory) as agent:
            ask(agent)

    return asked


DOORS: dict[str, tuple[Callable[[Memory], object], str]] = {
    "context": (lambda memory: memory.context.build("harbour master"), "known"),
    "task": (_task, "known"),
    "task ": (_task_context, "known"),
    "context_for_task": (lambda memory: memory.patterns.context_for_task("ask the harbour master"), "known"),
    "after_failure": (lambda memory: memory.patterns.after_failure(ERROR, tainted=True), "error"),
    "search_memory": (_asked(lambda agent: agent.call("search_memory", query="harbour master")), "known"),
    "get_session_context": (_asked(lambda agent: agent.call("get_session_context")), "known"),
    "get_entity_info": (_asked(lambda agent: agent.call("get_entity_info", name="Harbour")), "known"),
    "similar_failures": (_asked(lambda agent: agent.call("similar_failures", error=ERROR, outside=True)), "error"),
    "find_patterns": (_asked(lambda agent: agent.call("find_patterns", task="fix it", unproven=True)), "steps"),
    "record_memory": (_asked(lambda agent: agent.call("record_memory", text=f"{KNOWN}, always.")), "known"),
    "resource memory": (_asked(lambda agent: agent.read("treering://memory/known")), "known"),
    "prompt search": (_asked(lambda agent: agent.prompt("search", about="harbour master")), "known"),
    "prompt review": (_asked(lambda agent: agent.prompt("review")), "error"),
}


@pytest.mark.parametrize("via", DOORS)
def test_what_is_handed_to_a_model_is_noted_once(memory: Memory, via: str) -> None:
    _stored(memory)
    hand_over, expected = DOORS[via]
    hand_over(memory)
    (entry,) = memory.audit(actions=["inject"])
    assert entry.detail["via"] == via.strip()
    assert expected in entry.detail["records"]
    assert entry.detail["tokens"] > 0


def test_turns_that_come_back_into_a_conversation_are_noted(memory: Memory) -> None:
    talk = memory.conversation("c", model="gpt-4o", limit=800, keep_recent=4, strategy="rolling_window")
    talk.add("user", KNOWN)
    for number in range(20):
        talk.add("assistant", f"step {number}: " + "word " * 40)
        talk.add("user", f"go on with step {number}")
    talk.build()
    assert memory.audit(actions=["inject"]) == ()
    found = talk.build({"role": "user", "content": "On which channel is the harbour master?"}, recall=True)
    (entry,) = memory.audit(actions=["inject"])
    assert (entry.detail["via"], entry.detail["records"]) == ("conversation", tuple(each.id for each in found.recalled))
    assert found.recalled


def test_a_resumed_task_is_noted_by_the_process_that_resumes_it(memory: Memory) -> None:
    _stored(memory)
    task = memory.task("enter the harbour")
    task.retrieve_from_episodic("harbour master")
    task.save()
    memory.task(id=task.id).render()
    assert [entry.detail["via"] for entry in memory.audit(actions=["inject"])] == ["task", "task"]


def test_memories_about_code_are_noted(memory: Memory, tmp_path: Path) -> None:
    _stored(memory)
    with agent_of(memory, repository=repository(tmp_path / "shop")) as agent:
        agent.call("analyze_impact", node="save")
        agent.read("treering://code/modules")
        agent.read("treering://health")
        agent.prompt("remember")
        agent.call("memory_stats")
    (entry,) = memory.audit(actions=["inject"])
    assert (entry.detail["via"], entry.detail["records"]) == ("analyze_impact", ("known",))
