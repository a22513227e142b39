"""An agent works on, with all its turns and exit code 0, whatever happens to its memory."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.agents.mounts import full_disk, read_only
from tests.agents.script import After, Edit, Run
from tests.agents.shop import FILES, FIND_AND_FIX, FIX, TEST
from tests.agents.workplace import Workplace
from tests.leftovers import processes_left

pytestmark = pytest.mark.agents


@pytest.fixture
def shop(unconnected: Workplace) -> Workplace:
    """A workplace with a failing test, connected to Treering, whose memory has a record."""
    unconnected.set_up(FILES)
    unconnected.treering("init", unconnected.agent.name, "--yes")
    unconnected.treering("remember", "Prices are in cents.")
    return unconnected


def test_a_killed_memory_server_loses_no_event(shop: Workplace) -> None:
    """The hooks go on without the server. The next process that opens the memory stores what they recorded."""

    def kill() -> None:
        servers = shop.memory_servers()
        assert servers
        for server in servers:
            server.kill()
            server.wait()

    first, *rest = FIND_AND_FIX
    shop.session(first, After(kill, rest[0]), *rest[1:])
    assert processes_left(shop.home) == []
    assert shop.spooled_bytes() > 0
    [session] = shop.treering_json("sessions")["sessions"]
    assert {file["path"]: file["edits"] for file in session["files"]} == {"prices.py": 2, "receipt.py": 2}
    assert session["finished_at"]
    assert shop.spooled_bytes() == 0


def test_a_deleted_memory(shop: Workplace) -> None:
    """The file is deleted while the agent works."""
    memory = shop.memory_file
    _works(shop, After(memory.unlink, Run(TEST)))


def test_a_memory_that_another_process_has_locked(shop: Workplace) -> None:
    with _locked(shop.memory_file):
        _works(shop, Run(TEST))
    [session] = shop.treering_json("sessions")["sessions"]
    assert session["finished_at"]


def test_a_memory_that_cannot_be_written(shop: Workplace) -> None:
    shop.wrapper = read_only(shop.data_folder)
    _works(shop, Run(TEST))


def test_a_full_disk(shop: Workplace) -> None:
    shop.wrapper = full_disk(shop.data_folder)
    _works(shop, Run(TEST))


def _works(shop: Workplace, first: Run | After) -> None:
    """The agent fixes the failing test; its model sees no sign of trouble."""
    model = shop.session(first, Edit("prices.py", '"""Prices with tax."""', '"""Prices, with tax."""'), *FIX)
    assert "OK" in model.tool_results()[-1]
    assert "hook error" not in model.received().lower()
    assert processes_left(shop.home) == []


@contextmanager
def _locked(memory: Path) -> Iterator[None]:
    """Hold the write lock of the database."""
    with closing(sqlite3.connect(memory, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")
    assert os.path.exists(memory)
