"""How far answers about code can be relied on, and what goes wrong for a while, as people see it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from select import select

import pytest

import treering
from tests.code_projects import written
from tests.e2e.terminal import Terminal
from treering.adapters.processes import this_writer

FILES = {
    "app/tokens.py": "def verify(token):\n    return decode(token)\n\n\ndef decode(token):\n    return token\n",
    "app/login.py": "from app.tokens import verify\n\n\ndef login(token):\n    return verify(token)\n",
    "app/__init__.py": "",
}
ASKED = [
    ("impact", "decode"),
    ("deps", "login"),
    ("deps", "login", "--flow"),
    ("deps", "login", "--to", "decode"),
    ("deps", "decode", "--to", "login"),
    ("related", "app/login.py"),
    ("map",),
    ("map", "--cycles"),
    ("map", "--entries"),
]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    root = written(tmp_path / "project", FILES)
    (root / ".git").mkdir()
    return Terminal(root, {"TREERING_DATA_DIR": str(tmp_path / "data"), "HOME": str(tmp_path)})


def here(place: Path) -> tuple[str, ...]:
    return "--db", str(place), "--project", "p"


@contextmanager
def indexed_by_somebody(place: Path) -> Iterator[None]:
    """Somebody in this process is at it, and half-way."""
    owner = str(this_writer("somebody"))
    with treering.open(place, project="p", background=False) as memory:
        clock = memory._parts.clock
        with memory.store.transaction(memory.scope, clock()) as tx:
            assert tx.code.take_lease(owner, timedelta(minutes=10))
            state = tx.code.state()
            if state is not None and state.root:
                tx.code.describe(owner, seen=state.generation, root=state.root, version=state.version, complete=False)
        try:
            yield
        finally:
            with memory.store.transaction(memory.scope, clock()) as tx:
                tx.code.release_lease(owner)


def test_every_answer_reports_an_incomplete_index(terminal: Terminal, place: Path) -> None:
    terminal.ok("index", *here(place))
    assert terminal.json(*ASKED[0], *here(place))["status"]["up_to_date"] is True
    with indexed_by_somebody(place):
        for command in ASKED:
            assert terminal.json(*command, *here(place))["status"]["incomplete"] is True
        for command in ASKED[-2:]:
            assert "not complete" in terminal.ok(*command, *here(place))
        assert "is indexing this project" in terminal.refused("index", *here(place))


def test_another_folder_replaces_the_first_only_with_replace(terminal: Terminal, place: Path) -> None:
    terminal.ok("index", *here(place))
    told = terminal.refused("index", "app", *here(place))
    assert "--replace" in told
    assert str(terminal.folder) in told
    assert terminal.json("map", *here(place))["modules"]
    done = terminal.json("index", "app", "--replace", *here(place))
    assert done["root"] == str(terminal.folder / "app")


def test_a_watcher_reports_temporary_errors_and_continues(terminal: Terminal, place: Path) -> None:
    with indexed_by_somebody(place):
        process = terminal.start_process("index", "--watch", "--json", *here(place), text=True)
        try:
            assert process.stderr is not None
            # Were it not to wait, it would say so where it says what it did.
            assert process.stdout is not None
            readable, _, _ = select([process.stderr, process.stdout], [], [], 60)
            assert readable == [process.stderr]
            assert "is indexing this project" in process.stderr.readline()
        except BaseException:
            process.kill()
            process.communicate()
            raise
    try:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["read"] == 3
    finally:
        process.terminate()
        process.communicate()
    assert process.returncode == 0
