"""Concurrent opening and moving of a memory, and inspection of foreign files."""

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from typer.testing import CliRunner

import treering
from tests.memory_locations import (
    KEEP,
    in_data_folder,
    in_project,
    note_of,
    nothing_is_left_of,
    other,
    recalled,
    remembered,
    repository,
    start_at,
)
from tests.unprivileged_user import as_unprivileged_user
from treering import compose
from treering.compose import keep_in_data_folder, keep_in_project, project_name
from treering.compose.stores import open_store
from treering.core.errors import NotADatabase, StoreError, StoreReadOnly, StoreUnavailable
from treering.interfaces.cli.app import app
from treering.location import lock, move
from treering.location.database_files import copy_database

PATIENCE = 60


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return repository(tmp_path, monkeypatch)


@pytest.fixture
def beside() -> Iterator[ThreadPoolExecutor]:
    """Concurrent threads."""
    with ThreadPoolExecutor() as pool:
        yield pool


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set when a thread waits for the lock."""
    seen, real = threading.Event(), time.sleep

    def sleep(seconds: float) -> None:
        seen.set()
        real(seconds)

    monkeypatch.setattr(time, "sleep", sleep)
    return seen


@pytest.mark.parametrize("place", KEEP)
def test_opening_during_a_move_waits_and_uses_the_new_location(
    root: Path, place: str, monkeypatch: pytest.MonkeyPatch, beside: ThreadPoolExecutor, waiting: threading.Event
) -> None:
    start_at(other(place), root)
    remembered("moved meanwhile")
    opening = list[Future[list[str]]]()

    def copy(*given: object) -> None:
        opening.append(beside.submit(recalled))
        assert waiting.wait(PATIENCE)
        copy_database(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(move, "copy_database", copy)
    KEEP[place][0](root)
    assert opening[0].result(PATIENCE) == ["moved meanwhile"]
    assert nothing_is_left_of(KEEP[other(place)][1](root))


def test_moving_while_it_is_opened_waits_and_fails(
    root: Path, monkeypatch: pytest.MonkeyPatch, beside: ThreadPoolExecutor, waiting: threading.Event
) -> None:
    remembered("mine")
    moves = list[Future[Path]]()

    def open_late(location: str, *given: object, **named: object) -> object:
        if not moves:
            moves.append(beside.submit(keep_in_project, root))
            assert waiting.wait(PATIENCE)
        return open_store(location, *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(compose.locations, "open_store", open_late)
    with treering.open(background=False) as memory:
        with pytest.raises(StoreUnavailable, match="open in another process"):
            moves[0].result(PATIENCE)
        assert [hit.text for hit in memory.search("")] == ["mine"]
    assert compose.embedded_path() == in_data_folder(root)
    assert nothing_is_left_of(in_project(root))


@pytest.mark.parametrize("place", KEEP)
def test_concurrent_moves_all_succeed(root: Path, place: str, beside: ThreadPoolExecutor) -> None:
    start_at(other(place), root)
    remembered("mine")
    keep, file = KEEP[place]
    assert {moved.result(PATIENCE) for moved in [beside.submit(keep, root) for _ in range(4)]} == {file(root)}
    assert recalled() == ["mine"]
    assert nothing_is_left_of(KEEP[other(place)][1](root))
    assert KEEP[other(place)][0](root) == KEEP[other(place)][1](root)


def test_concurrent_first_opens_share_one_memory(root: Path, beside: ThreadPoolExecutor) -> None:
    for begun in [beside.submit(remembered, str(number)) for number in range(4)]:
        begun.result(PATIENCE)
    assert recalled() == ["0", "1", "2", "3"]
    assert sorted(path.name for path in note_of(root).parent.iterdir()) == ["memory.db", "place.json"]


def test_a_lock_timeout_explains_the_reason(root: Path) -> None:
    paths = compose.locations.memory_paths(root)
    in_vain = pytest.raises(StoreUnavailable, match="is being moved or opened by another")
    with lock.location_lock(paths, 0, exclusive=True), in_vain, lock.location_lock(paths, 0, exclusive=False):
        pass
    with lock.location_lock(paths, 0, exclusive=False), lock.location_lock(paths, 0, exclusive=False):
        assert os.listdir(paths.repository_folder) == []


class TestAForeignDatabase:
    """Git replaced the database: the foreign file is only inspected."""

    @pytest.fixture(autouse=True)
    def ours(self, root: Path) -> None:
        keep_in_project(root)
        remembered("mine")

    @pytest.fixture(params=["empty", "of another program", "with a view for a table", "of ours, older"])
    def theirs(self, request: pytest.FixtureRequest, root: Path) -> Path:
        file = in_project(root)
        if request.param == "of ours, older":
            with closing(sqlite3.connect(file)) as connection, connection:
                connection.execute("UPDATE treering_identity SET id = 'theirs'")
                connection.execute("UPDATE treering_version SET version_num = '0001'")
            return file
        file.write_bytes(b"")
        statements = {
            "empty": "",
            "of another program": "CREATE TABLE t (a); INSERT INTO t VALUES (1)",
            "with a view for a table": "CREATE VIEW treering_identity AS WITH RECURSIVE more(id) AS "
            "(SELECT 1 UNION ALL SELECT id FROM more) SELECT max(id) AS id FROM more",
        }
        with closing(sqlite3.connect(file)) as connection:
            connection.executescript(statements[request.param])
        return file

    def test_it_is_rejected_and_unchanged(self, root: Path, theirs: Path) -> None:
        before = theirs.read_bytes(), sorted(os.listdir(theirs.parent))
        for refused in (recalled, lambda: keep_in_project(root), lambda: keep_in_data_folder(root)):
            with pytest.raises(StoreError, match="is not the memory that was kept there"):
                refused()
        assert CliRunner().invoke(app, ["doctor", "--repair"]).exit_code == 1
        assert (theirs.read_bytes(), sorted(os.listdir(theirs.parent))) == before

    def test_a_file_that_is_not_a_database_is_named_in_the_error(self, root: Path) -> None:
        in_project(root).write_text("<<<<<<< HEAD\n" * 100)
        with pytest.raises(NotADatabase, match=f"the memory of {root} cannot be read: .*not a SQLite database"):
            recalled()

    def test_invalid_project_names_are_not_shown(self, root: Path, tmp_path: Path) -> None:
        file = tmp_path / "theirs.db"
        with treering.open(file, project="fine") as memory:
            memory.remember("anything")
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute("UPDATE jobs SET project = char(27) || '[2J'")
            connection.execute("UPDATE audit SET project = printf('%.*c', 999, 'x')")
        assert compose.locations.projects_in(file) == ["fine"]


def test_an_open_file_can_be_inspected(root: Path) -> None:
    keep_in_project(root)
    with treering.open(background=False) as memory:
        memory.remember("in the log, not in the file yet")
        assert compose.locations.identity_in(in_project(root)) == memory.store.identity
        assert compose.locations.projects_in(in_project(root)) == [project_name(root)]


CLOSED: dict[str, Callable[[Path], Path]] = {
    "the folder in the project": lambda root: root / ".treering",
    "the folder in the data folder": lambda root: note_of(root).parent,
    "the note": note_of,
}


@pytest.mark.parametrize("closed", CLOSED)
def test_missing_permissions_are_reported(closed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with as_unprivileged_user(), TemporaryDirectory() as folder:
        root = repository(Path(folder), monkeypatch)
        keep_in_project(root)
        path = CLOSED[closed](root)
        before = path.stat().st_mode
        path.chmod(0)
        with pytest.raises(StoreReadOnly, match=r"permissions|can be written"):
            recalled()
        assert CliRunner().invoke(app, ["doctor"]).exit_code == 1
        path.chmod(before)
        assert recalled() == []
        monkeypatch.chdir("/")


def test_an_unreadable_folder_is_not_a_target(monkeypatch: pytest.MonkeyPatch) -> None:
    with as_unprivileged_user(), TemporaryDirectory() as folder:
        root = repository(Path(folder), monkeypatch)
        remembered("mine")
        (root / ".treering").mkdir(mode=0)
        with pytest.raises(StoreReadOnly, match=r"cannot be kept in the project .*change its permissions"):
            keep_in_project(root)
        assert recalled() == ["mine"]
        monkeypatch.chdir("/")
