"""On a server, every write transaction takes its locks in the declared order, whatever is done in which order."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import event

from tests.conftest import OpenMemory
from tests.examples import examples
from tests.lock_order import CLAIMED, CLAIMS, DERIVED, JOB_KEYS, OBSERVED, TABLES
from tests.observed import failing, observe
from tests.session_events import Session
from treering.core.errors import TreeringError
from treering.memory import Memory
from treering.task.api import Task

_ADVISORY = re.compile(r"\x1f((claim|job) (\S+).*)", re.DOTALL)
# New rows wait where a caller chooses their key (of a record that is its id); other keys are generated.
_WRITES = re.compile(r'^(?:UPDATE|DELETE FROM|INSERT INTO) (?:(?=\w)|"(?=ids"|sessions"))(\w+)')


class Lock(NamedTuple):
    rank: int
    name: str


class Verb(NamedTuple):
    """One thing to do, to the record with this number among those that there are."""

    name: str
    record: int


def _claims(parameters: Any) -> list[Lock]:
    named = [found.groups() for each in _texts(parameters) if (found := _ADVISORY.search(each))]
    return [Lock(JOB_KEYS if kind == "job" else CLAIMS[subject], whole) for whole, kind, subject in named]


def _texts(parameters: Any) -> Iterator[str]:
    """Texts among the parameters, and in lists of them."""
    for value in parameters.values() if isinstance(parameters, dict) else parameters or ():
        yield from (value,) if isinstance(value, str) else _texts(value) if isinstance(value, list) else ()


def _rows(statement: str, transaction: Sequence[Lock]) -> list[Lock]:
    """The rows that a statement may have to wait for."""
    if statement.startswith("WITH taken AS (INSERT INTO ids"):
        return [Lock(TABLES["ids"], "ids"), Lock(TABLES["sessions"], "sessions")]
    written = _WRITES.match(statement)
    locked = re.search(r"FROM (\w+)", statement) if " FOR UPDATE" in statement else None
    found = written or locked
    waits = found and "SKIP LOCKED" not in statement and ("INSERT" not in statement or "ON CONFLICT" in statement)
    if not found or not waits or found.group(1) in DERIVED | OBSERVED:
        return []
    table = found.group(1)
    if table in CLAIMED and any(lock.name.startswith(("claim record", "claim learning")) for lock in transaction):
        return []
    return [Lock(TABLES[table], table)]


@contextmanager
def watched(memory: Memory) -> Iterator[list[list[Lock]]]:
    """The locks of each transaction, in the order in which they are asked for."""
    transactions: list[list[Lock]] = []
    engine: Any = memory.store._engine  # type: ignore[attr-defined]

    def begin(_connection: Any) -> None:
        transactions.append([])

    def execute(_c: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, _many: bool) -> None:
        words = " ".join(statement.split())
        advisory = "pg_advisory_xact_lock(" in words or "treering_lock_job_keys(" in words
        for lock in _claims(parameters) if advisory else _rows(words, transactions[-1]):
            # Whoever holds a lock does not wait for it again.
            if lock.name in TABLES or lock not in transactions[-1]:
                transactions[-1].append(lock)

    dialect: Any = memory.store._dialect  # type: ignore[attr-defined]
    start = dialect.start

    def started(connection: Any, scope: Any, **options: Any) -> None:
        start(connection, scope, **options)
        transactions[-1] += _claims([f"\x1f{lock}" for lock in options.get("locks", ())])

    dialect.start = started
    event.listen(engine, "begin", begin)
    event.listen(engine, "before_cursor_execute", execute)
    try:
        yield transactions
    finally:
        dialect.start = start
        event.remove(engine, "begin", begin)
        event.remove(engine, "before_cursor_execute", execute)


def _work_on(task: Task) -> None:
    """Leave entries, and move them out to the store."""
    task.start("step")
    task.add_intermediate("step", "output " * 50)
    task.complete("step")
    task.prune()


def _synthesise(memory: Memory, n: int) -> None:
    """Reach a trigger of a module, with outcomes of subtasks that are renewed."""
    for number in range(5):
        status = {"subtask": f"t{number % 2}", "status": "failed" if n % 2 else "completed"}
        session = (
            Session().edit("tides/tide.go").edit("tides/table.go").event("subtask", text="Move it", metadata=status)
        )
        observe(memory, f"y{n % 3}-{number}", session.edit("moon/phase.go").prompt("Go on."))
    memory.settle()


VERBS: dict[str, Callable[[Memory, str, int], object]] = {
    "remember": lambda memory, _id, n: memory.remember(f"Alice Miller runs the billing service {n % 5} on port {n}"),
    "turn": lambda memory, _id, n: memory.turn(
        session=f"s{n % 3}", role="user", text=f"The billing service {n % 5} listens on port {8000 + n}."
    ),
    "episode": lambda memory, _id, n: memory.episode(f"Deploy the billing service {n}", session=f"s{n % 3}"),
    "settle": lambda memory, _id, _n: memory.settle(),
    "confirm": lambda memory, id, _n: memory.confirm(id),
    "flag": lambda memory, id, _n: memory.flag(id, "doubtful"),
    "correct": lambda memory, id, n: memory.correct(id, "outdated", text=f"The billing service moved to port {n}"),
    "forget": lambda memory, id, _n: memory.forget(id),
    "purge": lambda memory, id, _n: memory.forget(id, hard=True),
    "undo": lambda memory, id, _n: memory.undo(id),
    "converse": lambda memory, _id, n: memory.conversation(f"c{n % 2}", model="gpt-4o").add(
        {"role": "user", "content": f"We deploy the billing service {n}"}
    ),
    "rename": lambda memory, _id, n: memory.entities.rename("Alice Miller", f"Alice Miller {n}"),
    "merge": lambda memory, _id, n: memory.entities.merge(f"billing service {n % 5}", into="Alice Miller"),
    "link": lambda memory, id, n: memory.entities.link(id, f"Team {n % 3}"),
    "pattern": lambda memory, _id, n: memory.patterns.add(
        name=f"Deploy {n}", category="strategy", content={"form": "strategy", "approach": "Deploy it."}
    ),
    "observe": lambda memory, _id, n: observe(
        memory, f"o{n % 4}", failing().prompt(f"Always run `make check-{n % 3}` before a commit.")
    ),
    "synthesise": lambda memory, _id, n: _synthesise(memory, n),
    "task": lambda memory, _id, n: _work_on(memory.task(f"Deploy the billing service {n}")),
}


def _ids(memory: Memory) -> list[str]:
    with memory.store.reading(memory.scope, memory._parts.clock()) as tx:
        kinds = (tx.knowledge.stream(), tx.turns.stream(), tx.episodes.stream())
        return sorted(record.id for records in kinds for record in records)


def _learns(claims: Sequence[Lock]) -> bool:
    """Learning finds the records that it changes one after the other."""
    return any(lock.name.startswith("claim facts") for lock in claims)


@examples(15)
@given(done=st.lists(st.builds(Verb, st.sampled_from(sorted(VERBS)), st.integers(0, 50)), min_size=3, max_size=12))
def test_locks_are_taken_in_the_declared_order(open_engine: OpenMemory, done: list[Verb]) -> None:
    with open_engine("postgresql", background=False) as memory:
        for begun in ("remember", "turn", "episode"):
            VERBS[begun](memory, "", 1)
        with watched(memory) as transactions:
            for verb in done:
                ids = _ids(memory) or ["none left"]
                try:
                    VERBS[verb.name](memory, ids[verb.record % len(ids)], verb.record)
                except TreeringError:
                    continue  # refused: a wrong kind of record, or one that was corrected already
    for locks in transactions:
        assert [lock.rank for lock in locks] == sorted(lock.rank for lock in locks), locks
        claims = [lock for lock in locks if lock.name not in TABLES]
        assert _learns(claims) or claims == sorted(claims), claims


def test_related_records_are_claimed_in_the_order_of_their_ids(open_engine: OpenMemory) -> None:
    """Claims of one rank: two changes that reach the same records would otherwise wait for each other."""
    with open_engine("postgresql", background=False) as memory:
        memory.remember("The gateway limits requests", id="b")
        for id in ("c", "a"):
            relation = {"kind": "required_with", "record": "b"}
            memory.remember(f"The client {id} retries requests", id=id, relations=[relation])
        with watched(memory) as transactions:
            memory.flag("b", "doubtful")
    claims = [[lock.name for lock in locks if lock.name.startswith("claim record")] for locks in transactions]
    assert ["claim record a", "claim record b", "claim record c"] in claims


def test_a_transaction_of_every_kind_is_watched(open_engine: OpenMemory) -> None:
    """The property above would hold of nothing at all."""
    with open_engine("postgresql", background=False) as memory, watched(memory) as transactions:
        record = memory.remember("Alice Miller runs the billing service")
        memory.turn(session="s", role="user", text="The billing service listens on port 80.")
        memory.settle()
        memory.forget(record.id, hard=True)
    seen = {" ".join(lock.name.split()[:2]) for locks in transactions for lock in locks}
    assert {"claim text", "ids", "claim record", "claim entities", "sessions", "job embed"} <= seen
