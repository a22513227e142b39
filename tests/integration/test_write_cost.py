"""What a write costs on the embedded engine: statements of the write itself, jobs and transactions behind it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

import treering
from tests.samples import NOW
from treering.core.jobs import EMBED, LINK_ENTITIES, JobState
from treering.core.queries import JobFilter
from treering.memory import Memory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with treering.open(tmp_path / "memory.db", project="p", background=False) as memory:
        memory.turn(session="s", role="user", text="The harbour is deep.")
        memory.remember("The lighthouse is red.")
        yield memory


@contextmanager
def statements_of(memory: Memory) -> Iterator[list[str]]:
    found: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if not statement.startswith(("PRAGMA", "BEGIN")):
            found.append(statement)

    engine = memory.store._engine  # type: ignore[attr-defined]
    event.listen(engine, "before_cursor_execute", note)
    yield found
    event.remove(engine, "before_cursor_execute", note)


def queued(memory: Memory, kind: str) -> int:
    with memory.store.reading(memory.scope, NOW) as tx:
        return tx.jobs.count(JobFilter(kinds=(kind,), states=(JobState.QUEUED,)))


def test_a_turn_of_a_known_session_takes_few_statements(memory: Memory) -> None:
    with statements_of(memory) as found:
        memory.turn(session="s", role="user", text="The harbour is full of ships.")
    assert len(found) <= 9


def test_remembering_takes_few_statements(memory: Memory) -> None:
    with statements_of(memory) as found:
        memory.remember("The ferry leaves at noon on working days.")
    assert len(found) <= 12


def test_records_stored_in_a_row_wait_for_one_job_of_each_kind(memory: Memory) -> None:
    for number in range(5):
        memory.turn(session="s", role="user", text=f"Ship {number} has arrived.")
        memory.remember(f"Ship {number} carries grain.")
    assert (queued(memory, LINK_ENTITIES), queued(memory, EMBED)) == (1, 1)
