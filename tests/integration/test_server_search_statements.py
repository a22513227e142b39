"""Statements that one search sends to a server: each is a round trip, so their number must not grow unnoticed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from sqlalchemy import event

from treering.compose import now
from treering.core.queries import SearchedKind, SearchFilter
from treering.memory import Memory
from treering.search.answer import Answer

MAX_STATEMENTS = 6
QUERY = "how is a pending request cancelled"

SEARCHES: dict[str, Callable[[Memory], Answer]] = {
    "plain": lambda memory: memory.search(QUERY),
    "few results": lambda memory: memory.search(QUERY, limit=3),
    "explained": lambda memory: memory.search(QUERY, explain=True),
    "superseded records too": lambda memory: memory.search(QUERY, superseded=True),
    "as of a day": lambda memory: memory.search(QUERY, as_of="2030-01-01"),
    "one kind": lambda memory: memory.search(QUERY, where=SearchFilter(kinds=(SearchedKind.TURN,))),
    "roles": lambda memory: memory.search(QUERY, where=SearchFilter(roles=("user",)), limit=3),
    "an entity": lambda memory: memory.search("what did Ana Schmidt tell?"),
    "a name that is no entity": lambda memory: memory.search("what did Zacharias say about the request?"),
    "a question in another language": lambda memory: memory.search("wie wird eine Anfrage abgebrochen?"),
    "a question about the past": lambda memory: memory.search("how was a request cancelled before?"),
}


@dataclass
class Sent:
    """What the server receives: statements, and messages that begin a transaction and set its scope."""

    statements: list[str] = field(default_factory=list)
    transactions: int = 0


@contextmanager
def sent_by(memory: Memory) -> Iterator[Sent]:
    sent, engine = Sent(), cast("Any", memory.store)._engine

    def execute(_c: Any, _cursor: Any, statement: str, _values: Any, _context: Any, _many: bool) -> None:
        sent.statements.append(" ".join(statement.split()))

    def begin(_connection: Any) -> None:
        sent.transactions += 1

    event.listen(engine, "before_cursor_execute", execute)
    event.listen(engine, "begin", begin)
    try:
        yield sent
    finally:
        event.remove(engine, "before_cursor_execute", execute)
        event.remove(engine, "begin", begin)


@pytest.fixture
def server_memory(open_engine: Callable[..., Memory], postgres_url: str, tmp_path: Path) -> Memory:
    """A memory with every kind of record, entities and code, whose process has searched before."""
    memory = open_engine("postgresql", background=False)
    for number in range(12):
        memory.remember(f"Request {number} is cancelled by closing its socket", type="gotcha")
        memory.turn(session="s", role="user", text=f"Please cancel the pending request {number} now")
        memory.turn(session="s", role="assistant", text=f"I cancelled {number}; the socket is closed")
        memory.episode(f"Cancel the pending request {number}", output="its socket was closed")
    memory.turn(session="s", role="user", text="My colleague Ana Schmidt told me about the launch in Berlin")
    memory.patterns.add(
        name="Close the socket",
        category="strategy",
        summary="A pending request is cancelled by its socket",
        content={"form": "strategy", "approach": "Close the socket."},
    )
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "request.py").write_text("def cancel(request):\n    request.socket.close()\n")
    memory.code.index(tmp_path / "code")
    memory.settle()
    assert memory.entities.find("Ana Schmidt")
    for search in SEARCHES.values():
        search(memory)
    return memory


def test_a_search_sends_at_most_six_statements(server_memory: Memory) -> None:
    for name, search in SEARCHES.items():
        with sent_by(server_memory) as sent:
            assert search(server_memory), name
        assert len(sent.statements) <= MAX_STATEMENTS, "\n".join((name, *sent.statements))
        assert sent.transactions == 1, name


def test_a_search_after_a_stored_write_sends_at_most_six_statements(server_memory: Memory) -> None:
    """Once a worker has embedded what was written; a search that embeds it itself needs further statements."""
    server_memory.remember("A pending request is cancelled by a signal")
    server_memory.turn(session="s", role="user", text="Cancel that pending request with a signal")
    server_memory.settle()
    with sent_by(server_memory) as sent:
        found = server_memory.search("cancelled by a signal")
    assert "signal" in found[0].text
    assert len(sent.statements) <= MAX_STATEMENTS, "\n".join(sent.statements)


def test_another_process_is_never_missed(server_memory: Memory, open_engine: Callable[..., Memory]) -> None:
    """What a process caches is completed by what it reads in each transaction."""
    other = open_engine("postgresql", background=False)
    for number in range(3):
        other.remember(f"The zebra number {number} sleeps", id=f"zebra-{number}")
        other.settle()
        assert f"zebra-{number}" in {hit.id for hit in server_memory.search("where does the zebra sleep?")}
    other.forget("zebra-0", hard=True)
    assert "zebra-0" not in {hit.id for hit in server_memory.search("where does the zebra sleep?")}


def test_documents_and_counts_are_read_once(open_engine: Callable[..., Memory]) -> None:
    """Until a document is stored, a search again reads the summary, the candidates and their records."""
    memory = open_engine("postgresql", background=False)
    for number in range(12):
        memory.remember(f"Request {number} is cancelled by closing its socket", type="gotcha")
    memory.settle()
    first = memory.search(QUERY)
    with sent_by(memory) as sent:
        again = memory.search(QUERY)
    assert [hit.id for hit in again] == [hit.id for hit in first]
    assert len(sent.statements) == 3, "\n".join(sent.statements)


def test_cached_documents_and_counts_do_not_change_a_ranking(
    server_memory: Memory, open_engine: Callable[..., Memory]
) -> None:
    """After another process has stored, corrected and removed records."""
    other = open_engine("postgresql", background=False)
    other.remember("A socket is closed when its request is cancelled by a signal", id="new")
    other.remember("The socket of a request times out after a minute", id="old")
    other.settle()
    server_memory.search(QUERY)
    other.correct("old", text="The socket of a pending request times out after two minutes")
    other.forget("new", hard=True)
    other.remember("A pending request is cancelled by the supervisor")
    other.settle()
    fresh = open_engine("postgresql", background=False)
    found, expected = (each.search(QUERY, explain=True) for each in (server_memory, fresh))
    assert [hit.id for hit in found] == [hit.id for hit in expected]
    assert [hit.score for hit in found] == pytest.approx([hit.score for hit in expected], abs=1e-3)


def test_a_search_right_after_a_write_sends_few_statements_more(server_memory: Memory) -> None:
    """It embeds what was written, and leaves the vector in memory until the background stores it."""
    server_memory.remember("A pending request is cancelled by a flag")
    with sent_by(server_memory) as sent:
        found = server_memory.search("cancelled by a flag")
    assert "flag" in found[0].text
    assert len(sent.statements) <= MAX_STATEMENTS + 2, "\n".join(sent.statements)
    assert sent.transactions == 1


def test_a_search_during_a_removal_leaves_no_outdated_counts(server_memory: Memory) -> None:
    server_memory.remember("The pending request is gone soon.", id="removed")
    server_memory.settle()
    before = documents_of(server_memory)
    with server_memory.store.transaction(server_memory.scope, now()) as tx:
        tx.knowledge.purge("removed")
        assert documents_of(server_memory) == before
    assert documents_of(server_memory) == before - 1


def documents_of(memory: Memory) -> int:
    with memory.store.reading(memory.scope, now()) as tx:
        return tx.index.coverage("any model").documents


def test_only_searches_restrict_the_planner(server_memory: Memory) -> None:
    def restricted(tx: Any) -> bool:
        return bool(tx._context.connection.exec_driver_sql("SHOW enable_seqscan").scalar_one() == "off")

    store, scope = server_memory.store, server_memory.scope
    with store.reading(scope, now(), for_search=True) as tx:
        assert restricted(tx)
    with store.reading(scope, now()) as tx:
        assert not restricted(tx)
        assert tx.index.models()
        assert restricted(tx)
