"""Connections to PostgreSQL: shared by the memories of a process, and what a URL says about prepared statements."""

import gc
import os
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import cast
from uuid import uuid4

import psycopg
import pytest
from sqlalchemy import Engine, event, make_url

import treering
from tests.conftest import own_database
from treering.adapters.sql.store import SqlStore
from treering.core.errors import InvalidInput, StoreUnavailable
from treering.core.runs import RunState
from treering.core.scope import Scope
from treering.core.settings import Settings
from treering.memory import Memory

MEMORIES = 30
Open = Callable[..., Memory]


@pytest.fixture
def url(postgres_admin_url: str) -> Iterator[str]:
    with own_database(postgres_admin_url) as url:
        yield url


@pytest.fixture
def open_at(tmp_path: Path) -> Iterator[Open]:
    with ExitStack() as opened:

        def open_at(url: str, project: str = "p", **options: object) -> Memory:
            memory = treering.open(url, project=project, blobs=tmp_path, **options)  # type: ignore[arg-type]
            opened.callback(memory.close)
            return memory

        yield open_at


@pytest.fixture
def connections(postgres_admin_url: str, url: str) -> Iterator[Callable[[], int]]:
    """Number of connections to the database, as the server counts them."""
    statement = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND backend_type = 'client backend'"
    with psycopg.connect(postgres_admin_url, autocommit=True) as admin:
        yield lambda: admin.execute(statement, [make_url(url).database]).fetchall()[0][0]


def eventually(count: Callable[[], int], expected: int) -> None:
    """The server notices the end of a connection a moment later."""
    for _ in range(500):
        if count() == expected:
            return
        threading.Event().wait(0.02)
    assert count() == expected


def with_query(url: str, **query: str) -> str:
    return make_url(url).update_query_dict(query).render_as_string(hide_password=False)


def test_thirty_memories_share_one_pool(url: str, open_at: Open, connections: Callable[[], int]) -> None:
    memories = [open_at(url, f"p{number}") for number in range(MEMORIES)]
    for number, memory in enumerate(memories):
        memory.remember(f"Stored by {number}.")
        assert [hit.text for hit in memory.search("stored")] == [f"Stored by {number}."]
    assert connections() == 1
    for memory in memories[1:]:
        memory.close()
    assert connections() == 1
    memories[0].remember("Still open.")
    memories[0].close()
    eventually(connections, 0)


def test_threads_of_thirty_memories_stay_below_the_limit(
    url: str, open_at: Open, connections: Callable[[], int]
) -> None:
    few = Settings.make(store={"pool_size": 2})
    memories = [open_at(url, f"p{number}", settings=few) for number in range(MEMORIES)]
    highest = []

    def write(memory: Memory) -> None:
        memory.remember("Stored in a thread.")
        highest.append(connections())

    with ThreadPoolExecutor(MEMORIES) as threads:
        list(threads.map(write, memories))
    assert max(highest) <= 4
    # Background workers may use further connections for a moment.
    eventually(lambda: max(connections(), 2), 2)
    assert all(memory.stats().records["knowledge"] == 1 for memory in memories)


def test_no_verb_waits_for_a_second_connection(url: str, open_at: Open, tmp_path: Path) -> None:
    """Otherwise threads that share a pool could wait for each other while each of them holds a connection."""
    memory = open_at(url, settings=Settings.make(store={"pool_size": 1, "busy_seconds": 2.0}))
    with engine_of(memory).connect():  # one of the two that the pool may open
        record = memory.remember("Ship on Tuesdays.")
        memory.turn(session="s", role="user", text="When do we ship?")
        memory.correct(record.id, text="Ship on Mondays.")
        assert len(memory.search("ship"))
        memory.settle()
        assert all(run.state is RunState.DONE for run in memory.maintenance.run())
        memory.maintenance.report()
        memory.stats()
        memory.doctor()
        memory.forget(memory.remember("Forgotten.").id, hard=True)


def test_memories_opened_and_closed_by_threads_at_once(url: str, open_at: Open, connections: Callable[[], int]) -> None:
    open_at(url).close()

    def use(number: int) -> None:
        memory = open_at(url, f"p{number}")
        memory.remember(f"Stored by {number}.")
        memory.close()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(use, range(40)))
    eventually(connections, 0)


def test_a_memory_dropped_without_being_closed_keeps_no_connection(
    url: str, tmp_path: Path, connections: Callable[[], int]
) -> None:
    memory = treering.open(url, project="p", blobs=tmp_path)
    memory.remember("Stored.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        del memory
        gc.collect()
    eventually(connections, 0)


def test_other_logins_never_share(
    postgres_admin_url: str, url: str, open_at: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the URL, or by the environment where the URL leaves it open."""
    role, owner = f"reader_{uuid4().hex[:8]}", make_url(url).username
    other = make_url(url).set(username=role).render_as_string(hide_password=False)
    open_at(url).remember("Creates the tables.")
    with psycopg.connect(postgres_admin_url, autocommit=True) as admin:
        admin.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'treering'")
        admin.execute(f"GRANT {owner} TO {role}")
    try:
        unnamed = make_url(url)._replace(username=None, password=None).render_as_string(hide_password=False)
        memories = [open_at(url), open_at(other)]
        for user in (owner, role):
            monkeypatch.setenv("PGUSER", str(user))
            memories.append(open_at(unnamed))
        assert [user_of(memory) for memory in memories] == [owner, role, owner, role]
        assert len({id(engine_of(memory)) for memory in memories}) == 4
    finally:
        for memory in memories:
            memory.close()
        with psycopg.connect(postgres_admin_url, autocommit=True) as admin:
            admin.execute(f"DROP ROLE {role}")


def test_other_settings_of_connections_never_share(url: str, open_at: Open) -> None:
    memories = [
        open_at(url),
        open_at(url, settings=Settings.make(store={"pool_size": 3})),
        open_at(with_query(url, prepare_threshold="none")),
        open_at(with_query(url, application_name="other")),
    ]
    assert len({id(engine_of(memory)) for memory in memories}) == 4


def test_a_child_process_uses_no_connection_of_its_parent(
    url: str, open_at: Open, connections: Callable[[], int]
) -> None:
    """Forked while one memory is in the middle of a transaction: the others, and new ones, work in the child."""
    busy, idle = open_at(url, "busy"), open_at(url, "idle")
    idle.remember("Stored by the parent.")
    with busy._parts.store.transaction(Scope(project="busy"), treering.compose.now()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            try:
                idle.remember("Stored by the child.")
                new = open_at(url, "idle")
                assert engine_of(new) is not engine_of(idle)
                assert len(new.search("stored")) == 2
                new.close()
                idle.remember("Stored after another memory was closed.")
                os._exit(0)
            except BaseException as exc:  # noqa: BLE001 - the parent shows it
                os.write(2, f"{type(exc).__name__}: {exc}\n".encode())
            os._exit(1)
        assert os.waitpid(pid, 0)[1] == 0
    busy.remember("The connection of the parent still works.")
    assert idle.stats().records["knowledge"] == 3


def test_connections_that_died_in_the_pool_fail_no_call(url: str, postgres_admin_url: str, open_at: Open) -> None:
    memory = open_at(url, background=False)
    memory.remember("A crane lifts seven tons.")
    memory.settle()
    with ExitStack() as held:
        for _ in range(5):
            held.enter_context(engine_of(memory).connect())
    with psycopg.connect(postgres_admin_url, autocommit=True) as admin:
        ended = admin.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = %s",
            [make_url(url).database],
        )
        assert ended.rowcount >= 5
    assert [len(memory.search("crane")) for _ in range(3)] == [1, 1, 1]
    memory.remember("The crane was painted.")


def test_a_failed_opening_leaves_no_connection(url: str, open_at: Open, connections: Callable[[], int]) -> None:
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("CREATE TABLE knowledge (id int)")
    with pytest.raises(treering.TreeringError):
        open_at(url)
    eventually(connections, 0)


@pytest.mark.parametrize(("given", "prepared"), [(None, "some"), ("0", "some"), ("3", "some"), ("none", "none")])
def test_the_url_decides_about_prepared_statements(url: str, open_at: Open, given: str | None, prepared: str) -> None:
    memory = open_at(url if given is None else with_query(url, prepare_threshold=given))
    thresholds = list[int | None]()
    event.listen(engine_of(memory), "checkout", lambda raw, *_: thresholds.append(raw.prepare_threshold))
    for number in range(8):
        memory.remember(f"Stored {number}.")
    expected = {None: 5, "0": 0, "3": 3, "none": None}[given]
    assert set(thresholds) == {expected}
    with engine_of(memory).connect() as connection:
        statements = connection.exec_driver_sql("SELECT count(*) FROM pg_prepared_statements").scalar_one()
    assert (statements > 0) == (prepared == "some")


@pytest.mark.parametrize("wrong", ["-1", "five", "1.5", "nothing", "٣"])
def test_a_wrong_threshold_is_refused_before_connecting(tmp_path: Path, wrong: str) -> None:
    nowhere = with_query("postgresql://user:secret@/database?host=/nowhere", prepare_threshold=wrong)
    with pytest.raises(InvalidInput, match=r"prepare_threshold=.* write one number from 0") as caught:
        treering.open(nowhere, blobs=tmp_path)
    assert "secret" not in str(caught.value)


def test_the_threshold_does_not_choose_another_folder_of_blobs(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TREERING_DATA_DIR", str(tmp_path))
    places = set()
    for each in (url, with_query(url, prepare_threshold="none")):
        with treering.open(each, project="p") as memory:
            places.add(memory._parts.store.blobs.location)
    assert len(places) == 1


def test_an_unreachable_server_is_reported_as_before(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        treering.open("postgresql:///database?host=/nowhere", project="p", blobs=tmp_path)


def engine_of(memory: Memory) -> Engine:
    return cast(SqlStore, memory._parts.store)._engine


def user_of(memory: Memory) -> str:
    with engine_of(memory).connect() as connection:
        return str(connection.exec_driver_sql("SELECT session_user").scalar_one())
