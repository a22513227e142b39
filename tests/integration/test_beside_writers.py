"""Readers and writers at the same time: reading waits for nobody, and sessions that begin do not stop each other."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from sqlalchemy import make_url

from tests.conftest import OpenMemory
from tests.integration.crew import Crew
from tests.integration.crew_members import begin_sessions, hold_write_lock, open_place
from tests.integration.written import assert_without_gaps
from tests.lengths import at_length
from treering.compose import now
from treering.core.errors import StoreUnavailable
from treering.core.records import Knowledge
from treering.core.settings import Settings
from treering.memory import Memory
from treering.ports.index import Coverage

PROCESSES = 8
TURNS = at_length(9, full=60)
QUERY = "What colour does the harbour crane have?"


@contextmanager
def nothing_can_be_stored(engine: str, memory: Memory, crew: Crew, url: str) -> Iterator[None]:
    """Another process is in the middle of a transaction for as long as this lasts."""
    if engine == "sqlite":
        before = len(crew.news)
        pid = crew.start(hold_write_lock, path=memory.store.location)
        crew.hear(before + 1)
        yield
        crew.kill(pid)
    else:
        with psycopg.connect(make_url(url).render_as_string(False)) as other:
            other.execute("LOCK TABLE vectors, documents IN SHARE ROW EXCLUSIVE MODE")
            yield


def stored(memory: Memory) -> Coverage:
    """Documents and vectors in the database, whatever this process has in memory."""
    with memory.store.reading(memory.scope, now()) as tx:
        (model,) = tx.index.models() or ("",)
        kept = len(tx.index.unstored_vectors(model))
        covered = tx.index.coverage(model)
    return Coverage(covered.documents, covered.vectors - kept)


def test_a_search_answers_by_meaning_while_another_process_writes(
    engine: str, open_memory: OpenMemory, crew: Crew, postgres_url: str
) -> None:
    # A search that waits for the writer does so until the time limit of the test.
    memory = open_memory(settings=Settings.make(store={"busy_seconds": 3_600.0}), background=False)
    memory.remember("The harbour crane is painted turquoise.", id="crane")
    memory.remember("Lunch is served at noon.", id="lunch")
    with nothing_can_be_stored(engine, memory, crew, postgres_url):
        first = memory.search(QUERY, explain=True)
        second = memory.search(QUERY, explain=True)
        assert stored(memory) == Coverage(2, 0)
    assert [hit.id for hit in first] == [hit.id for hit in second]
    assert first[0].id == "crane"
    assert "meaning of some" not in first.missing
    memory.settle()
    after = memory.search(QUERY, explain=True)
    assert stored(memory) == Coverage(2, 2)
    assert [(hit.id, hit.score) for hit in after] == [(hit.id, hit.score) for hit in first]


def test_vectors_that_could_not_be_stored_are_stored_when_the_memory_is_closed(
    engine: str, open_memory: OpenMemory, crew: Crew, postgres_url: str
) -> None:
    with open_memory(background=False) as memory:
        memory.remember("The harbour crane is painted turquoise.")
        with nothing_can_be_stored(engine, memory, crew, postgres_url):
            memory.search(QUERY)
            assert stored(memory) == Coverage(1, 0)
    assert stored(open_memory(background=False)) == Coverage(1, 1)


@pytest.mark.parametrize(
    ("inline", "seconds", "missing"),
    [
        (100, 0.05, ["200 of 300", "100 of 300", ""]),
        (200, 60.0, ["100 of 300", "", ""]),
        (1_000, 0.0, ["172 of 300", "44 of 300", ""]),
    ],
    ids=["one batch", "number", "time"],
)
def test_an_import_is_searched_at_once_and_says_what_has_no_vector_yet(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch, inline: int, seconds: float, missing: list[str]
) -> None:
    monkeypatch.setattr("treering.search.embedding.INLINE_SECONDS", seconds)
    memory = open_memory(settings=Settings.make(embedder={"inline": inline}), background=False)
    moments = dict.fromkeys(("created_at", "updated_at", "last_accessed_at"), now())
    memory.remember_many(
        Knowledge.make(id=f"k{n}", type="fact", content=f"Crane {n} lifts {n} tons", **moments) for n in range(300)
    )
    found = [memory.search("which crane lifts 7 tons") for _ in range(3)]
    assert [answer[0].id for answer in found] == ["k7"] * 3
    assert [answer.missing.get("meaning of some", "")[:10].strip() for answer in found] == missing


def test_a_search_ends_while_records_keep_coming(open_memory: OpenMemory) -> None:
    memory = open_memory(settings=Settings.make(embedder={"inline": 50}), background=False)
    memory.remember("The harbour crane is painted turquoise.", id="crane")
    with memory.store.reading(memory.scope, now()) as tx:
        embedder = memory.models.embedder(tx.index.models(), hurried=True)
    embed, come = embedder.documents, list[str]()

    def embed_while_more_come(texts: list[str]) -> object:
        come.append(memory.remember(f"Another record comes: {uuid4()}").id)
        return embed(texts)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(embedder), "documents", lambda _self, texts: embed_while_more_come(texts))
        assert memory.search(QUERY)[0].id == "crane"
    assert 1 <= len(come) <= 50


def test_a_writer_that_gives_up_names_the_process_that_writes(tmp_path: Path, crew: Crew) -> None:
    place: dict[str, Any] = {"place": str(tmp_path / "memory.db"), "tenant": "t", "blobs": str(tmp_path / "blobs")}
    with open_place(**place, busy_seconds=0.5) as memory:
        memory.remember("It can be written.")
        pid = crew.start(hold_write_lock, path=place["place"])
        crew.hear(1)
        errors: list[str] = []

        def write() -> None:
            with pytest.raises(StoreUnavailable) as raised:
                memory.remember("It cannot be written.")
            errors.append(str(raised.value))

        threads = [threading.Thread(target=write) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(errors) == 4
        assert all("another process kept the database locked for" in error for error in errors)
        crew.kill(pid)
        assert memory.remember("It can be written again.")


def test_a_writer_that_gives_up_names_the_thread_that_writes(tmp_path: Path) -> None:
    place: dict[str, Any] = {"place": str(tmp_path / "memory.db"), "tenant": "t", "blobs": str(tmp_path / "blobs")}
    with open_place(**place, busy_seconds=0.2) as memory:
        errors: list[BaseException] = []

        def write() -> None:
            try:
                memory.remember("It cannot be written.")
            except StoreUnavailable as exc:
                errors.append(exc)

        with memory.store.transaction(memory.scope, now()):
            other = threading.Thread(target=write)
            other.start()
            other.join()
        assert "another thread of this process has a transaction open" in str(errors[0])


def test_sessions_that_begin_all_the_time_do_not_stop_each_other(
    engine: str, tmp_path: Path, postgres_url: str, crew: Crew
) -> None:
    location = str(tmp_path / "memory.db") if engine == "sqlite" else postgres_url
    place: dict[str, Any] = {"place": location, "tenant": f"t-{uuid4().hex[:12]}", "blobs": str(tmp_path / "blobs")}
    with open_place(**place):
        pass
    pids = [crew.start(begin_sessions, worker=f"w{number}", turns=TURNS, **place) for number in range(PROCESSES)]
    for pid in pids:
        crew.join(pid)
    with open_place(**place) as memory, memory.store.reading(memory.scope, now()) as tx:
        turns = list(tx.turns.stream())
        ended = [session for session in tx.sessions.stream() if session.ended_at is not None]
    assert sorted(turn.text for turn in turns) == sorted(
        f"w{worker} says {number}" for worker in range(PROCESSES) for number in range(TURNS)
    )
    assert_without_gaps((turn.session, turn.seq) for turn in turns)
    assert ended
