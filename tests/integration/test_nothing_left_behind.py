"""After close, after a kill, after a fork: no file, lock, thread or connection stays behind."""

import gc
import os
import threading
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

import treering
from tests.conftest import OpenMemory
from tests.integration.crew import Crew
from tests.integration.crew_members import hold_transaction, open_place, remember_one
from tests.integration.written import assert_healthy
from tests.samples import knowledge
from treering.compose import now
from treering.core.errors import StoreUnavailable
from treering.memory import Memory

_IN_TRANSACTION = "StoreUnavailable: this memory was in the middle of a transaction when its process forked; "
FORKED_IN_TRANSACTION = {"sqlite": _IN_TRANSACTION, "postgresql": "written by the child"}
"""By engine, how the answer of a child begins if its parent was in a transaction: a server takes new connections."""


def _open_files(beside: Path) -> list[str]:
    links = (f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd"))
    targets = (os.readlink(link) for link in links if os.path.islink(link))
    return [target for target in targets if target.startswith(str(beside))]


def _in_child(work: Callable[[], str]) -> str:
    """What `work` says in a forked child."""
    heard, told = os.pipe()
    with warnings.catch_warnings():
        # Newer Pythons warn of forks beside threads; here that is the point.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        try:
            said = work()
        except BaseException as exc:  # noqa: BLE001 - whatever it is, the parent shows it
            said = f"{type(exc).__name__}: {exc}"
        os.write(told, said.encode())
        os._exit(0)
    os.close(told)
    with os.fdopen(heard) as answer:
        said = answer.read()
    assert os.waitpid(pid, 0)[1] == 0
    return said


def test_close_leaves_no_open_file_no_thread_and_no_log(tmp_path: Path) -> None:
    threads = threading.active_count()
    with treering.open(tmp_path / "memory.db") as memory:
        workers = [threading.Thread(target=memory.remember, args=(f"from thread {n}",)) for n in range(12)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert _open_files(tmp_path)
    assert _open_files(tmp_path) == []
    assert threading.active_count() == threads
    assert [path.name for path in tmp_path.iterdir()] == ["memory.db"]


def test_an_open_that_fails_leaves_no_open_file(tmp_path: Path) -> None:
    (tmp_path / "notes.db").write_text("only notes " * 500)
    with pytest.raises(treering.TreeringError):
        treering.open(tmp_path / "notes.db")
    assert _open_files(tmp_path) == []


def test_the_log_does_not_grow_without_end(tmp_path: Path) -> None:
    with treering.open(tmp_path / "memory.db") as memory:
        for number in range(200):
            memory.remember_many([knowledge(f"k{number}", f"fact {number} " + "long " * 12_000)])
        sizes = memory.store.sizes(memory.scope)
    assert sizes["write-ahead log"] < 9_000_000 < sizes["database"]


def test_a_killed_writer_keeps_nobody_waiting(tmp_path: Path, crew: Crew) -> None:
    place: dict[str, Any] = {"place": str(tmp_path / "memory.db"), "tenant": "t", "blobs": str(tmp_path / "blobs")}
    with open_place(**place) as memory:
        pid = crew.start(hold_transaction, **place)
        crew.hear(1)
        crew.kill(pid)
        memory.remember("goes on at once")
        assert memory.search("unfinished").hits == ()


def test_a_memory_that_nobody_closed_is_collected_quietly(tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        memory = treering.open(tmp_path / "memory.db")
        memory.remember("stored all the same")
        del memory
        gc.collect()
    assert [str(warning.message) for warning in caught if "treering" in str(warning.filename)] == []
    assert len(caught) <= 1
    with treering.open(tmp_path / "memory.db") as memory:
        assert len(memory.search("stored")) == 1


def test_two_memories_on_one_file_keep_what_the_other_process_checkpoints(tmp_path: Path, crew: Crew) -> None:
    """Opening and closing one of them must not give up the locks of the other."""
    place: dict[str, Any] = {"place": str(tmp_path / "memory.db"), "tenant": "local", "blobs": str(tmp_path / "blobs")}
    with open_place(**place) as first:
        first.remember("written first")
        open_place(**place).close()
        crew.join(crew.start(remember_one, text="written by another process", **place))
        first.remember("written last")
        crew.join(crew.start(remember_one, text="written after all", **place))
        assert len(first.search("written")) == 4
    with open_place(**place) as memory:
        assert len(memory.search("written")) == 4


def test_a_forked_child_and_its_parent_both_go_on_with_their_memory(memory: Memory) -> None:
    memory.remember("written by the parent", id="before")

    def child() -> str:
        memory.remember("written by the child", id="child")
        return ",".join(sorted(hit.id for hit in memory.search("written")))

    assert _in_child(child) == "before,child"
    memory.remember("written by the parent again", id="after")
    assert {hit.id for hit in memory.search("written")} == {"before", "child", "after"}
    assert_healthy(memory)


def test_a_child_forked_in_mid_transaction_uses_no_connection_of_its_parent(memory: Memory) -> None:
    memory.remember("written by the parent", id="before")
    with memory.store.transaction(memory.scope, now()) as tx:
        assert _in_child(partial(_write_in_child, memory)).startswith(FORKED_IN_TRANSACTION[memory.store.engine])
        tx.knowledge.create(knowledge("parent", "written in the open transaction"))
    assert memory.get("parent").content == "written in the open transaction"
    memory.remember("written by the parent afterwards", id="after")
    written_by_child = {"child"} if memory.store.engine == "postgresql" else set()
    assert {hit.id for hit in memory.search("written by")} >= {"before", "after"} | written_by_child
    assert_healthy(memory)


def _write_in_child(memory: Memory) -> str:
    memory.remember("written by the child", id="child")
    return memory.search("written by the child").hits[0].text


def test_a_child_takes_no_lock_of_its_parents_threads_along(open_memory: OpenMemory) -> None:
    memory = open_memory()
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with memory.store.transaction(memory.scope, now()):
            held.set()
            done.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(60)
    try:
        assert _in_child(partial(_write_in_child, memory)).startswith(FORKED_IN_TRANSACTION[memory.store.engine])
    finally:
        done.set()
        thread.join()
    memory.remember("the parent goes on")


def test_close_leaves_no_connection_to_the_server(tmp_path: Path, postgres_url: str) -> None:
    with treering.open(postgres_url, blobs=tmp_path) as memory:
        memory.remember("one")
        name = memory.store.location.rsplit("/", 1)[1].split("?")[0]
        assert _connections(postgres_url, name) > 0
    deadline = time.monotonic() + 10
    while left := _connections(postgres_url, name):
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


def _connections(url: str, database: str) -> int:
    with psycopg.connect(url) as connection:
        counted = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()", (database,)
        ).fetchone()
    assert counted is not None
    return int(counted[0])


def test_a_file_that_was_deleted_while_open_takes_no_more_writes(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with treering.open(path) as memory:
        memory.remember("before")
        path.rename(tmp_path / "elsewhere.db")
        with pytest.raises(StoreUnavailable, match="deleted or replaced while it was open; put it back"):
            memory.remember("lost")
        assert not path.exists()
        (tmp_path / "elsewhere.db").rename(path)
        memory.remember("after")
        assert {hit.text for hit in memory.search("")} == {"before", "after"}
