"""PostgreSQL behind a pooler that gives each transaction another server connection."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url

import treering
from tests.conftest import own_database
from tests.integration.transaction_pooler import POOLERS, pooled
from tests.integration.written import assert_healthy
from treering.core.errors import StoreError
from treering.memory import Memory

THREADS, ROUNDS = 6, 4


@pytest.fixture(params=POOLERS)
def pooled_url(postgres_admin_url: str, request: pytest.FixtureRequest) -> Iterator[str]:
    with own_database(postgres_admin_url) as url, pooled(request.param, url) as pooled_url:
        yield pooled_url


def with_query(url: str, **query: str) -> str:
    return make_url(url).update_query_dict(query).render_as_string(hide_password=False)


def test_verbs_of_many_threads_work(pooled_url: str, tmp_path: Path) -> None:
    """More threads than server connections, and each statement often enough to be prepared."""
    with treering.open(pooled_url, project="p", blobs=tmp_path) as memory, ThreadPoolExecutor(THREADS) as threads:
        memory.remember("The first migrates the database.")
        stored = [text for each in threads.map(partial(work, memory), range(THREADS)) for text in each.items()]
        memory.settle()
        memory.maintenance.run()
        assert len(stored) == THREADS * ROUNDS
        assert all(memory.get(id).content == text for id, text in stored)
        assert_healthy(memory)


def work(memory: Memory, thread: int) -> dict[str, str]:
    """Use most verbs; returns the text of each stored record by its id."""
    stored = {}
    for round in range(ROUNDS):
        text = f"Valve {thread}-{round} leaks."
        id = memory.remember(text).id
        stored[id] = text
        memory.turn(session=f"s{thread}", role="user", text=f"Is valve {thread}-{round} tight?")
        memory.search("Which valve leaks?")
        memory.confirm(id)
        memory.forget(memory.remember(f"Pump {thread}-{round} is loud.").id)
    return stored


def test_the_scope_of_one_client_is_not_that_of_the_next(pooled_url: str, tmp_path: Path) -> None:
    """Two tenants on the same server connections, which row-level security tells apart."""
    options: dict[str, Any] = {"project": "p", "blobs": tmp_path}
    with (
        treering.open(pooled_url, tenant="one", **options) as one,
        treering.open(pooled_url, tenant="other", **options) as other,
    ):
        for number in range(8):
            one.remember(f"Secret {number} of one.")
            assert not other.search("secret").hits
            assert len(one.search("secret", limit=20)) == number + 1


def test_no_session_state_is_left_on_a_server_connection(pooled_url: str, tmp_path: Path) -> None:
    with treering.open(pooled_url, project="p", blobs=tmp_path) as memory:
        work(memory, 0)
    for _ in range(6):
        with psycopg.connect(pooled_url, prepare_threshold=None) as connection:
            assert connection.execute("SELECT name FROM pg_prepared_statements").fetchall() == []
            # Other tests hold locks of other databases.
            own = "database = (SELECT oid FROM pg_database WHERE datname = current_database())"
            held = connection.execute(f"SELECT objid FROM pg_locks WHERE locktype = 'advisory' AND {own}")
            assert held.fetchall() == []
            assert connection.execute("SELECT pg_listening_channels()").fetchall() == []
            temporary = connection.execute("SELECT relname FROM pg_class WHERE relpersistence = 't'")
            assert temporary.fetchall() == []
            tenant = connection.execute("SELECT current_setting('treering.tenant', true)").fetchone()
            assert tenant is not None
            assert not tenant[0]
            changed = connection.execute("SELECT name, setting FROM pg_settings WHERE source = 'session'")
            assert {name for name, _ in changed} <= {"application_name", "client_encoding", "treering.tenant"}


def test_prepared_statements_that_the_url_asks_for_fail_with_advice(postgres_admin_url: str, tmp_path: Path) -> None:
    """This also shows that the pooler breaks prepared statements; newer versions of PgBouncer can carry them over."""
    with (
        own_database(postgres_admin_url) as url,
        pooled("python", url) as pooled_url,
        pytest.raises(StoreError, match="prepare_threshold=none"),
    ):
        open_and_work(with_query(pooled_url, prepare_threshold="0"), tmp_path)


def test_none_in_the_url_prepares_nothing(pooled_url: str, tmp_path: Path) -> None:
    open_and_work(with_query(pooled_url, prepare_threshold="none"), tmp_path)


def open_and_work(url: str, blobs: Path) -> None:
    with treering.open(url, project="p", blobs=blobs) as memory:
        work(memory, 0)
