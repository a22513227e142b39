"""A transaction that the server aborts in favour of another one is run again: no caller sees it, nothing is twice."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import OpenMemory
from treering.adapters.sql import store as sql_store
from treering.compose import now
from treering.core.errors import TransactionAborted
from treering.core.settings import Settings
from treering.memory import Memory
from treering.ports.store import Transaction

STATES = {"deadlock": "40P01", "serialisation failure": "40001"}
pytestmark = pytest.mark.usefixtures("postgres_url")
QUICK = Settings.make(store={"write_attempts": 3, "retry_seconds": 0.0})


def _abort(tx: Any, state: str) -> None:
    """As the server does it: with an error that ends the transaction."""
    tx._context.connection.exec_driver_sql(f"DO $$ BEGIN RAISE EXCEPTION 'aborted' USING ERRCODE = '{state}'; END $$")


@pytest.mark.parametrize("attempts", [1, 2, 3])
@pytest.mark.parametrize("state", STATES.values(), ids=STATES.keys())
def test_work_runs_again_until_it_is_stored_once(open_engine: OpenMemory, state: str, attempts: int) -> None:
    memory = open_engine("postgresql", settings=QUICK)
    runs: list[int] = []

    def work(tx: Transaction) -> str:
        runs.append(len(runs))
        stored = tx.sessions.mark_learned("s", known=0, learned=len(runs))
        if len(runs) < attempts:
            _abort(tx, state)
        return f"run {len(runs)}, {stored}"

    memory.turn(session="s", role="user", text="one")
    assert memory.store.write(memory.scope, now(), work) == f"run {attempts}, True"
    with memory.store.reading(memory.scope, now()) as tx:
        session = tx.sessions.get("s")
    assert session is not None
    assert session.learned == attempts


def test_after_the_last_attempt_the_caller_is_told_and_nothing_is_stored(open_engine: OpenMemory) -> None:
    memory = open_engine("postgresql", settings=QUICK)
    runs: list[int] = []

    def work(tx: Transaction) -> None:
        runs.append(0)
        tx.turns.create_many([])
        _abort(tx, "40P01")

    with pytest.raises(TransactionAborted, match="try again"):
        memory.store.write(memory.scope, now(), work)
    assert len(runs) == 3


def test_another_failure_is_not_tried_again(memory: Memory) -> None:
    runs: list[int] = []

    def work(_tx: Transaction) -> None:
        runs.append(0)
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        memory.store.write(memory.scope, now(), work)
    assert len(runs) == 1


WRITES: dict[str, Callable[[Memory], object]] = {
    "remember": lambda memory: memory.remember("Bob runs the harbour", id="new"),
    "turn": lambda memory: memory.turn(session="s", role="user", text="hello", id="new"),
    "episode": lambda memory: memory.episode("Paint the crane", id="new"),
    "correct": lambda memory: memory.correct("known", "outdated", text="The crane is red"),
    "confirm": lambda memory: memory.confirm("known"),
    "forget": lambda memory: memory.forget("known"),
}


@pytest.mark.parametrize("verb", WRITES)
def test_no_verb_shows_an_abort_or_writes_twice(
    open_engine: OpenMemory, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    memory = open_engine("postgresql", settings=QUICK)
    memory.remember("The crane is green", id="known")
    with memory.store.reading(memory.scope, now()) as tx:
        before = tx.audit.count()
    aborted: list[int] = []
    whole = sql_store.SqlStore._open

    def aborting(self: Any, *given: Any, **named: Any) -> Any:
        """The first two write transactions are aborted when all of their work is done."""
        from contextlib import contextmanager

        @contextmanager
        def opened() -> Any:
            with whole(self, *given, **named) as context:
                yield context
                if named.get("writing") and len(aborted) < 2:
                    aborted.append(0)
                    context.connection.exec_driver_sql(
                        "DO $$ BEGIN RAISE EXCEPTION 'aborted' USING ERRCODE = '40P01'; END $$"
                    )

        return opened()

    monkeypatch.setattr(sql_store.SqlStore, "_open", aborting)
    WRITES[verb](memory)
    assert len(aborted) == 2
    with memory.store.reading(memory.scope, now()) as tx:
        written = tx.audit.count() - before
    assert written == {"correct": 2}.get(verb, 1)
