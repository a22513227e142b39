"""Statements that one write sends to a server: each is a round trip, so their number must not grow unnoticed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event

from treering.adapters.sql.jobs import queue_deferred
from treering.compose import now
from treering.core.jobs import Job
from treering.memory import Memory
from treering.ports.store import Transaction

MAX_STATEMENTS = 5

WRITES: dict[str, Callable[[Memory], object]] = {
    "turn": lambda memory: memory.turn(session="s", role="user", text="The billing service listens on port 80."),
    "turn with an id": lambda memory: memory.turn(session="s", role="user", text="We deploy on Fridays.", id="mine"),
    "first turn of a session": lambda memory: memory.turn(session="t", role="user", text="Good morning."),
    "remember": lambda memory: memory.remember(
        "Never restart the queue while it drains", tags=["queue"], files=["q.py"]
    ),
    "remember beside similar records": lambda memory: memory.remember("The mail service listens on port 25"),
    "remember a long text": lambda memory: memory.remember("retry the request after a timeout " * 20, type="gotcha"),
    "episode": lambda memory: memory.episode("Deploy the billing service", output="It runs."),
}


@contextmanager
def statements_of(memory: Memory) -> Iterator[list[str]]:
    """Statements that the server receives, without COMMIT; the first of a transaction is one message with BEGIN."""
    sent: list[str] = []
    dialect: Any = memory.store._dialect  # type: ignore[attr-defined]
    start = dialect.start

    def started(*args: Any, **options: Any) -> None:
        sent.append("start")
        start(*args, **options)

    dialect.start = started
    engine: Any = memory.store._engine  # type: ignore[attr-defined]

    def execute(_c: Any, _cursor: Any, statement: str, _values: Any, _context: Any, _many: bool) -> None:
        sent.append(" ".join(statement.split()))

    event.listen(engine, "before_cursor_execute", execute)
    try:
        yield sent
    finally:
        dialect.start = start
        event.remove(engine, "before_cursor_execute", execute)


@pytest.fixture
def server_memory(open_engine: Callable[..., Memory], postgres_url: str) -> Memory:
    """A memory whose process has written before, with an open session and a statement."""
    memory = open_engine("postgresql", background=False)
    memory.turn(session="s", role="user", text="Hello.")
    memory.remember("The billing service listens on port 80")
    return memory


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("queued", [True, False], ids=["jobs waiting", "jobs to queue"])
def test_a_write_sends_at_most_five_statements(server_memory: Memory, name: str, queued: bool) -> None:
    if not queued:
        server_memory.settle()
    with statements_of(server_memory) as sent:
        WRITES[name](server_memory)
    assert len(sent) <= MAX_STATEMENTS, "\n".join(sent)


def test_a_turn_sends_four_statements(server_memory: Memory) -> None:
    with statements_of(server_memory) as sent:
        WRITES["turn"](server_memory)
    scope, place, jobs, rows = sent
    assert scope == "start"
    assert place.startswith("WITH taken AS (INSERT INTO ids")
    assert "treering_lock_job_keys" in jobs
    assert all(f'INSERT INTO "{table}"' in rows for table in ("turns", "documents", "audit"))


def test_a_read_sees_pending_rows(server_memory: Memory) -> None:
    """Rows that are written together at the end are there for every statement of the transaction before it."""
    stored = server_memory.turn(session="s", role="user", text="The cache expires after an hour.")
    with server_memory.store.transaction(server_memory.scope, stored.recorded_at) as tx:
        copy = tx.turns.create(stored.replace(id="copy"))
        assert tx.turns.get("copy") == copy
        assert tx.turns.count() == 3
        tx.turns.purge("copy")
        assert tx.turns.get("copy") is None
    assert [entry.action.value for entry in server_memory.history("copy")] == ["purge", "create"]


def test_a_failed_transaction_leaves_no_pending_row(server_memory: Memory) -> None:
    stored = server_memory.turn(session="s", role="user", text="The cache expires after an hour.")

    def fail(tx: Transaction) -> None:
        tx.turns.create(stored.replace(id="copy"))
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        server_memory.store.write(server_memory.scope, stored.recorded_at, fail)
    with server_memory.store.reading(server_memory.scope, stored.recorded_at) as tx:
        assert tx.turns.get("copy") is None
        assert tx.turns.count() == 2


def test_a_queued_job_that_a_write_relies_on_begins_after_its_commit(server_memory: Memory) -> None:
    store, scope = server_memory.store, server_memory.scope
    with store.transaction(scope, now()) as tx:
        tx.jobs.enqueue_later(alternative_jobs("first"))
    with store.transaction(scope, now()) as tx:
        tx.jobs.enqueue_later(alternative_jobs("second"))
        queue_deferred(tx._context)  # type: ignore[attr-defined]
        assert lease(server_memory) == []
    assert lease(server_memory) == ["first 1"]


def test_a_job_that_is_being_leased_is_not_relied_on(server_memory: Memory) -> None:
    store, scope = server_memory.store, server_memory.scope
    with store.transaction(scope, now()) as tx:
        tx.jobs.enqueue_later(alternative_jobs("first"))
    with store.transaction(scope, now()) as worker:
        assert worker.jobs.lease("w", ["test"], limit=9, duration=timedelta(minutes=1))
        with store.transaction(scope, now()) as tx:
            tx.jobs.enqueue_later(alternative_jobs("second"))
    assert lease(server_memory) == ["second 2"]


def alternative_jobs(id: str) -> list[Job]:
    """Alternatives as a write queues them."""
    return [Job(id=f"{id} {turn}", kind="test", key=f"key {turn}", run_at=now(), created_at=now()) for turn in (1, 2)]


def lease(memory: Memory) -> list[str]:
    with memory.store.transaction(memory.scope, now()) as tx:
        return [job.id for job in tx.jobs.lease("w", ["test"], limit=9, duration=timedelta(minutes=1))]
