"""PostgreSQL on its bad days: one clear error each, and everything acknowledged is there afterwards."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

import treering
from tests.integration.crew import Crew, ForkServer
from tests.integration.crew_members import open_place, write_groups
from tests.integration.private_server import PrivateServer
from tests.integration.written import assert_healthy, assert_whole
from treering.compose import now
from treering.core.errors import StoreUnavailable
from treering.core.records import Knowledge
from treering.core.settings import Settings
from treering.memory import Memory

PATIENT = Settings.make(store={"connect_seconds": 2.0})


@pytest.fixture(scope="module")
def server() -> Iterator[PrivateServer]:
    server = PrivateServer()
    try:
        yield server
    finally:
        server.close()


@pytest.fixture
def memory(server: PrivateServer, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Memory]:
    with treering.open(
        server.url(), project=request.node.name[:60], blobs=tmp_path / "blobs", settings=PATIENT
    ) as memory:
        memory.remember("stored before", id="before")
        yield memory


def test_a_killed_server_has_every_acknowledged_write_when_it_is_back(
    server: PrivateServer, tmp_path: Path, fork_server: ForkServer
) -> None:
    place: dict[str, Any] = {"place": server.url(), "tenant": "t", "blobs": str(tmp_path / "blobs")}
    with Crew(fork_server) as crew:
        pids = [crew.start(write_groups, worker=f"w{number}", **place) for number in range(4)]
        crew.hear(60)
        server.kill()
        for pid in pids:
            crew.kill(pid)
        server.start()
        with open_place(**place) as memory:
            assert assert_whole(memory, crew) > 60
            assert_healthy(memory)
        assert all("StoreUnavailable" in failure for failure in crew.told("failed"))


def test_a_wrong_password_is_said_so(server: PrivateServer) -> None:
    with pytest.raises(StoreUnavailable, match="refused the login; check user and password") as refused:
        treering.open(server.url(password="guessed"), settings=PATIENT)
    assert "guessed" not in str(refused.value)


def test_a_database_that_is_not_there_is_said_so(server: PrivateServer) -> None:
    with pytest.raises(StoreUnavailable, match=r"does not exist.*create"):
        treering.open(server.url(database="nowhere"), settings=PATIENT)


def test_a_role_that_is_not_there_is_said_so(server: PrivateServer) -> None:
    with pytest.raises(StoreUnavailable, match=r"does not exist; create it"):
        treering.open(server.url(username="nobody_here"), settings=PATIENT)


@pytest.mark.parametrize("where", ["127.0.0.1:9", "/nonexistent"])
def test_no_server_is_said_so(where: str) -> None:
    host = f"@{where}/db" if ":" in where else f"@/db?host={where}"
    with pytest.raises(StoreUnavailable, match="cannot be reached; check that it runs"):
        treering.open(f"postgresql://someone:hidden{host}", settings=PATIENT)


def _write_around(memory: Memory, interrupt: Callable[[], object]) -> None:
    """Two records in one transaction, with something happening between them."""
    known = memory.get("before")
    assert isinstance(known, Knowledge)
    with memory.store.transaction(memory.scope, now()) as tx:
        tx.knowledge.create(known.replace(id="half"))
        interrupt()
        tx.knowledge.create(known.replace(id="rest"))


def _end_connection(server: PrivateServer) -> None:
    with psycopg.connect(server.admin_url, autocommit=True) as admin:
        ended = admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s AND state LIKE 'idle in%%'",
            (server.role,),
        )
        assert ended.rowcount == 1


def test_a_connection_ended_in_mid_transaction_loses_only_that_transaction(
    server: PrivateServer, memory: Memory
) -> None:
    with pytest.raises(StoreUnavailable, match="try again"):
        _write_around(memory, partial(_end_connection, server))
    assert [hit.id for hit in memory.search("stored")] == ["before"]
    memory.remember("stored afterwards", id="after")
    assert_healthy(memory)


def test_a_server_stopped_in_mid_transaction_is_used_again_when_it_is_back(
    server: PrivateServer, memory: Memory
) -> None:
    with pytest.raises(StoreUnavailable, match="try again"):
        _write_around(memory, server.stop)
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        memory.remember("nobody there")
    server.start()
    memory.remember("stored afterwards", id="after")
    assert {hit.id for hit in memory.search("stored")} == {"before", "after"}
    assert_healthy(memory)
