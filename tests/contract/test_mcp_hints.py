"""What a client may tell its user before a call is true: read-only, destructive, and whether twice is once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.served import agent_of
from tests.served_table import ROWS, Row, filled, repository
from treering.core.errors import NotFound
from treering.core.records import Knowledge
from treering.memory import Memory

READS = (True, False, True)
ADDS = (False, False, False)
HINTS = {
    "search_memory": READS,
    "record_memory": ADDS,
    "remember_fact": ADDS,
    "correct_fact": (False, True, False),
    "confirm_fact": ADDS,
    "forget": (False, True, True),
    "get_session_context": READS,
    "get_entity_info": READS,
    "memory_stats": READS,
    "similar_failures": READS,
    "find_patterns": READS,
    "report_outcome": ADDS,
    "analyze_impact": READS,
    "get_dependencies": READS,
    "related_files": READS,
    "trace_data_flow": READS,
}
"""For every tool: read-only, destructive, idempotent."""


def _rows(wanted: Callable[[tuple[bool, bool, bool]], bool]) -> list[Row]:
    return [row for row in ROWS if wanted(HINTS[row.tool])]


def counts(memory: Memory) -> Any:
    """What the memory holds, without the injections that the audit log notes of each answer."""
    found = memory.stats()
    records = dict(found.records)
    records["audit entries"] -= len(memory.audit(actions=["inject"], limit=1_000))
    return records, found.knowledge, found.states


World = tuple[Memory, dict[str, str], Path]


@pytest.fixture
def world(memory: Memory, tmp_path: Path) -> World:
    return memory, filled(memory), repository(tmp_path / "shop")


def test_every_tool_says_what_it_does_to_memory(memory: Memory) -> None:
    with agent_of(memory) as agent:
        said = {
            tool.name: (
                tool.annotations.read_only_hint,
                tool.annotations.destructive_hint,
                tool.annotations.idempotent_hint,
            )
            for tool in agent.ask("list_tools").tools
        }
        assert said == HINTS
        assert all(tool.annotations.open_world_hint is False for tool in agent.ask("list_tools").tools)


def test_a_tool_that_reads_changes_no_count_no_record_and_no_history(world: World) -> None:
    memory, ids, root = world

    def everything() -> Any:
        return counts(memory), [(memory.get(id), memory.history(id)) for id in ids.values()]

    with agent_of(memory, repository=root) as agent:
        before = everything()
        for row in _rows(lambda hints: hints[0]):
            agent.call(row.tool, **row.arguments(ids))
            assert everything() == before, row.tool


def test_a_tool_that_is_idempotent_leaves_after_two_calls_what_it_left_after_one(world: World) -> None:
    memory, ids, root = world
    with agent_of(memory, repository=root) as agent:
        for row in _rows(lambda hints: hints[2]):
            agent.try_call(row.tool, dict(row.arguments(ids)))
            after_one = counts(memory), _standing(memory, ids)
            agent.try_call(row.tool, dict(row.arguments(ids)))
            assert (counts(memory), _standing(memory, ids)) == after_one, row.tool


def test_a_tool_that_only_adds_takes_nothing_away(world: World) -> None:
    memory, ids, root = world
    with agent_of(memory, repository=root) as agent:
        before = _standing(memory, ids)
        for row in _rows(lambda hints: hints == ADDS):
            agent.call(row.tool, **row.arguments(ids))
            assert _standing(memory, ids) == before, row.tool


def test_a_tool_that_destroys_takes_something_away(world: World) -> None:
    memory, ids, root = world
    with agent_of(memory, repository=root) as agent:
        for row in _rows(lambda hints: hints[1]):
            before = _standing(memory, ids)
            agent.call(row.tool, **row.arguments(ids))
            assert len(_standing(memory, ids)) < len(before), row.tool


def _standing(memory: Memory, ids: dict[str, str]) -> dict[str, Any]:
    """What the records that stand say, by name."""
    return {name: record for name, id in ids.items() if (record := _said(memory, id)) is not None}


def _said(memory: Memory, id: str) -> str | None:
    try:
        record = memory.get(id)
    except NotFound:
        return None
    if not isinstance(record, Knowledge):
        return type(record).__name__
    return record.content if record.deprecated_at is None else None


def test_what_is_gone_already_is_told_so(world: World) -> None:
    memory, ids, _root = world
    with agent_of(memory) as agent:
        agent.call("forget", id=ids["useless"])
        assert "no record with id" in agent.refused("forget", id=ids["useless"])


def test_answers_are_noted_as_injections(world: World) -> None:
    memory, _, root = world
    with agent_of(memory, repository=root) as agent:
        agent.told("search_memory", query="where are orders kept")
        agent.told("get_session_context")
    noted = memory.audit(actions=["inject"])
    assert [entry.detail["via"] for entry in noted] == ["get_session_context", "search_memory"]
    assert all(entry.detail["records"] and entry.detail["tokens"] for entry in noted)
