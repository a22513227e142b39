"""Learning reads what is new: what it costs does not grow with what is stored."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

import treering
from tests.samples import NOW, sample
from treering.adapters.sql import index_state
from treering.core.records import Knowledge
from treering.memory import Memory

TOOLS = ("Redis", "Kafka", "Postgres", "Terraform", "Grafana", "Docker", "Ansible", "Jenkins", "Nginx", "Vault")


class Days:
    """A clock that the test moves on."""

    def __init__(self) -> None:
        self.now = datetime(2026, 5, 8, 10, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def learn(memory: Memory, days: Days, session: str, tools: Iterable[str]) -> None:
    for tool in tools:
        memory.turn(session=session, role="user", text=f"We use {tool}.")
    days.now += timedelta(days=1)
    memory.maintenance.run("consolidate")


def test_documents_are_read_once_however_many_facts_are_learned(tmp_path: Path) -> None:
    asked: list[int] = []

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if statement == index_state.DOCUMENTS:
            asked.append(parameters[0])

    days = Days()
    with treering.open(tmp_path / "memory.db", project="p", clock=days) as memory:
        learn(memory, days, "one", TOOLS[:2])
    with treering.open(tmp_path / "memory.db", project="p", clock=days) as memory:
        event.listen(memory.store._engine, "before_cursor_execute", note)  # type: ignore[attr-defined]
        learn(memory, days, "two", TOOLS[2:6])
        learn(memory, days, "three", TOOLS[6:])
        assert memory.stats().records["knowledge"] == len(TOOLS)
    assert asked.count(0) == 1
    assert len(set(asked)) >= 5


def change_and_take_back(memory: Memory) -> None:
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.index.load("")
        tx.knowledge.create(sample(Knowledge, "lost", content="The lighthouse is green."))
        tx.undo_unit().index.load("")
        raise RuntimeError("taken back")


def test_what_a_transaction_takes_back_was_never_in_the_index(tmp_path: Path) -> None:
    with treering.open(tmp_path / "memory.db", project="p") as memory:
        memory.remember("The lighthouse is red.", id="kept")
        with pytest.raises(RuntimeError, match="taken back"):
            change_and_take_back(memory)
        memory.remember("The harbour is deep.", id="later")
        assert {hit.id for hit in memory.search("lighthouse")} == {"kept"}
        assert "later" in {hit.id for hit in memory.search("harbour deep")}
