"""A tool call never reaches another project, whatever ids and words it names."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.exceptions import MCPError

from tests.conftest import OpenMemory
from tests.sample_patterns import keep
from tests.served import Agent, agent_of, text_of
from treering.memory import Memory

MARK = "Zanzibar"
"""Stands in everything of theirs, and nowhere else."""
WORDS = ("harbour", "ledger", "harbour ledger", "Priya", "the harbour ledger is locked")


@dataclass(frozen=True)
class Neighbours:
    """An agent of one project, and the memory of another in the same database."""

    agent: Agent
    mine: Memory
    theirs: Memory
    ids: dict[str, str]

    def snapshot(self) -> Any:
        return [self.theirs.get(id) for id in self.ids.values()], self.theirs.stats().records


def _told(memory: Memory, mark: str) -> dict[str, str]:
    """The same of every kind in both projects, but for a word."""
    gotcha = memory.remember(f"The harbour ledger of {mark} is locked.", type="gotcha", files=["shop/db.py"])
    rule = memory.remember(f"Priya wants {mark} in every harbour ledger.", type="preference", pinned=True)
    work = memory.remember(f"The harbour of {mark} is half built.", type="work_state")
    outside = memory.remember(f"A page says {mark} has a harbour.", tainted=True, session="mcp-test")
    turn = memory.turn(session="mcp-test", role="user", text=f"Priya keeps the harbour ledger in {mark}.")
    task = memory.episode(
        f"Open the harbour ledger of {mark}",
        outcome="FAILURE",
        output=f"the harbour ledger is locked in {mark}",
        failures=[f"the harbour ledger is locked in {mark}"],
        session="mcp-test",
    )
    pattern = keep(memory, f"harbour ledger {mark}", id=f"pattern-{mark}")
    memory.settle()
    kept: dict[str, Any] = {
        "gotcha": gotcha,
        "rule": rule,
        "work": work,
        "outside": outside,
        "turn": turn,
        "task": task,
    }
    return {name: each.id for name, each in kept.items()} | {"pattern": pattern.id}


@pytest.fixture
def neighbours(open_memory: OpenMemory) -> Iterator[Neighbours]:
    mine, theirs = open_memory(project="mine"), open_memory(project="theirs")
    _told(mine, "Lisbon")
    ids = _told(theirs, MARK)
    with agent_of(mine) as agent:
        yield Neighbours(agent, mine, theirs, ids)


ids = st.sampled_from(("gotcha", "rule", "work", "outside", "turn", "task", "pattern"))
words = st.sampled_from(WORDS)
files = st.lists(st.sampled_from(("shop/db.py", "../theirs/shop/db.py")), max_size=1)

CALLS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "search_memory": {"query": words | ids, "limit": st.just(50), "precise": st.booleans(), "files": files},
    "record_memory": {"text": words, "files": files},
    "remember_fact": {"fact": words, "subject": words},
    "correct_fact": {
        "id": ids,
        "text": words | st.none(),
        "duplicate_of": ids | st.none(),
        "reason": st.sampled_from(("outdated", "duplicate")),
    },
    "confirm_fact": {"id": ids, "basis": st.sampled_from(("checked", "user_said"))},
    "forget": {"id": ids},
    "memory_stats": {},
    "get_entity_info": {"name": words | ids | st.just(MARK)},
    "get_session_context": {"budget": st.just(20_000)},
    "similar_failures": {"error": words},
    "find_patterns": {"task": words, "unproven": st.just(True)},
    "report_outcome": {
        "task": words,
        "outcome": st.sampled_from(("success", "failure")),
        "used": st.lists(ids, max_size=2),
        "misled": st.lists(ids, max_size=2),
    },
    "analyze_impact": {"node": words},
    "get_dependencies": {"node": words | ids, "to": words | st.none()},
    "related_files": {"path": words | ids | st.just("shop/db.py")},
    "trace_data_flow": {"node": words | ids},
}
tool_calls = st.sampled_from(sorted(CALLS)).flatmap(
    lambda name: st.tuples(st.just(name), st.fixed_dictionaries(CALLS[name]))
)


@given(asked=st.lists(tool_calls, min_size=1, max_size=3))
def test_no_call_shows_or_changes_anything_of_another_project(
    neighbours: Neighbours, asked: list[tuple[str, dict[str, Any]]]
) -> None:
    before = neighbours.snapshot()
    for name, arguments in asked:
        given = {key: _meant(value, neighbours.ids) for key, value in arguments.items()}
        answer = neighbours.agent.try_call(name, given)
        shown = f"{text_of(answer)} {answer.structured_content}"
        for said in (MARK, *neighbours.ids.values()):
            assert said not in shown or said in str(given), (name, given, shown)
        if "id" in arguments:
            assert answer.is_error
    assert neighbours.snapshot() == before


def _meant(argument: Any, ids: dict[str, str]) -> Any:
    if isinstance(argument, list):
        return [_meant(each, ids) for each in argument]
    return ids.get(argument, argument) if isinstance(argument, str) else argument


def test_no_resource_or_prompt_shows_anything_of_another_project(neighbours: Neighbours) -> None:
    agent = neighbours.agent
    for id in neighbours.ids.values():
        with pytest.raises(MCPError, match="no record with id"):
            agent.read(f"treering://memory/{id}")
    reads: tuple[Callable[[], str], ...] = (
        lambda: agent.read("treering://health"),
        lambda: agent.read("treering://code/modules"),
        lambda: agent.prompt("review"),
        lambda: agent.prompt("remember"),
        *(lambda about=about: agent.prompt("search", about=about) for about in WORDS),
    )
    for read in reads:
        assert MARK not in read()
