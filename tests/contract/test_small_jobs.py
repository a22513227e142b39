"""What a process does of its own jobs before it ends: little, quickly, and without losing any."""

from datetime import timedelta
from time import monotonic
from typing import Any

import pytest

from tests.conftest import OpenMemory
from treering.core.jobs import EMBED, LINK_ENTITIES, JobState
from treering.core.queries import JobFilter
from treering.entities import link_jobs as reading
from treering.memory import Memory


def jobs(memory: Memory) -> dict[str, str]:
    """The state of each job by its kind."""
    with memory.store.reading(memory.scope, memory._parts.clock()) as tx:
        return {job.kind: job.state.value for job in tx.jobs.find(JobFilter(), limit=100).items}


def test_small_jobs_are_done_and_others_counted(memory: Memory) -> None:
    memory.remember("Anna works at Initech in Rome")
    left = memory.run_small_jobs(seconds=60)
    assert (left.pending, left.error) == (1, "")
    assert jobs(memory) == {EMBED: "queued", LINK_ENTITIES: "done"}
    with memory.store.reading(memory.scope, memory._parts.clock()) as tx:
        assert {"Anna", "Initech"} <= {entity.name for entity in tx.entities.find(limit=10).items}
    assert memory.settle().waiting == 0
    assert memory.run_small_jobs().pending == 0


def test_a_failing_job_is_reported_and_stays(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_given: Any, **_named: Any) -> bool:
        raise RuntimeError("secret of Anna")

    memory.remember("Anna works at Initech in Rome")
    with monkeypatch.context() as patched:
        patched.setattr(reading, "link_new", fail)
        left = memory.run_small_jobs()
    assert left.pending == 2
    assert "RuntimeError" in left.error
    assert "Anna" not in left.error
    assert jobs(memory)[LINK_ENTITIES] == "queued"
    assert memory.entities.about("Anna").mentions == 1


def test_what_takes_too_long_is_left_to_others(memory: Memory) -> None:
    for number in range(200):
        memory.remember(f"Lamp {number} of Harbour {number} was lit by Guard{number} " * 20)
    began = monotonic()
    left = memory.run_small_jobs(0.01)
    assert monotonic() - began < 2
    assert left.pending >= 2
    assert jobs(memory)[LINK_ENTITIES] == "queued"
    assert memory.settle().waiting == 0
    assert memory.entities.about("Guard199").mentions == 1


def test_no_time_does_nothing(memory: Memory) -> None:
    memory.remember("Anna works at Initech in Rome")
    assert memory.run_small_jobs(0).pending == 2


def test_another_writer_is_not_waited_for(open_memory: OpenMemory) -> None:
    memory = open_memory(project="busy")
    memory.remember("Anna works at Initech in Rome")
    other = open_memory(project="busy")
    with other.store.transaction(other.scope, other._parts.clock()) as tx:
        # On a server a writer holds what it has changed; on SQLite all of the database.
        tx.jobs.lease("other", (LINK_ENTITIES, EMBED), limit=5, duration=timedelta(seconds=60))
        began = monotonic()
        left = memory.run_small_jobs()
        assert monotonic() - began < 3
        assert left == type(left)(2)


def test_what_is_stored_meanwhile_is_not_lost(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    link = reading.link_new

    def link_and_store(*given: Any, **named: Any) -> bool:
        done = link(*given, **named)
        memory.remember("Bertram lives in Oslo")
        return done

    memory.remember("Anna works at Initech in Rome")
    with monkeypatch.context() as patched:
        patched.setattr(reading, "link_new", link_and_store)
        memory.run_small_jobs()
    with memory.store.reading(memory.scope, memory._parts.clock()) as tx:
        assert tx.jobs.count(JobFilter(kinds=(LINK_ENTITIES,), states=(JobState.QUEUED,))) == 1
