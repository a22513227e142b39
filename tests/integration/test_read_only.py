"""Memories that cannot be written: on read-only media, without permissions, on request, on a full disk."""

import logging
import os
import resource
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, event

import treering
from tests.e2e.terminal import Terminal
from tests.integration.crew import Crew
from tests.integration.fork_server import tell
from tests.unprivileged_user import as_unprivileged_user
from treering.core.errors import StoreFull, StoreReadOnly, StoreUnavailable
from treering.memory import Memory

VAST = "vast " * 100_000


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template")
    with treering.open(folder / "memory.db", project="p") as memory:
        memory.remember("Deploy from main only", id="k1", files=["deploy.py"])
        memory.remember(VAST, id="vast")
        memory.turn(session="s", role="user", text="The deploy is red again", id="t1")
        memory.episode("repair the deploy", id="e1", artifacts={"log": b"green"})
        memory.settle()
    return folder


@pytest.fixture
def medium(template: Path) -> Iterator[Path]:
    """A memory in a folder that every user can read."""
    folder = Path(tempfile.mkdtemp(prefix="treering-medium-")) / "medium"
    shutil.copytree(template, folder)
    folder.parent.chmod(0o755)
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder.parent)


def _content(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _read_and_copy(memory: Memory, out: Path) -> None:
    assert memory.get("k1").content == "Deploy from main only"
    assert memory.get("vast").content == VAST
    assert memory.search("deploy")[0].text
    for _ in range(100):
        memory.episodes.get("e1")
    assert memory.episodes.artifact("e1", "log") == b"green"
    assert memory.stats().records["turns"] == 1
    assert memory.context.briefing() is not None
    assert memory.context.build("deploy").text
    assert memory.history("k1")
    memory.doctor()
    memory.export(out / "x.jsonl", history=True)
    memory.backup(out / "b.db")
    with pytest.raises(StoreReadOnly):
        memory.remember("not allowed")


def _assert_copied(out: Path) -> None:
    with treering.open(out / "other.db", project="p") as other, treering.open(out / "b.db", project="p") as copy:
        other.import_(out / "x.jsonl")
        for each in (other, copy):
            assert each.get("vast").content == VAST
            assert each.doctor().healthy
        with pytest.raises(treering.TreeringError):
            other.history("p")  # no audit entry of the export


@pytest.mark.parametrize(("file_mode", "folder_mode"), [(0o444, 0o755), (0o644, 0o555), (0o444, 0o555)])
def test_a_file_or_folder_without_permission_is_read_and_exported(
    medium: Path, file_mode: int, folder_mode: int
) -> None:
    out = medium.parent / "out"
    out.mkdir()
    out.chmod(0o777)
    (medium / "memory.db").chmod(file_mode)
    medium.chmod(folder_mode)
    before = _content(medium)
    with as_unprivileged_user(), treering.open(medium / "memory.db", project="p", background=True) as memory:
        _read_and_copy(memory, out)
    assert _content(medium) == before
    for path in out.rglob("*"):
        os.chown(path, os.getuid(), -1)
    _assert_copied(out)


@pytest.mark.parametrize("prefix", ["", "sqlite:///"])
def test_a_memory_opened_to_read_is_not_changed(medium: Path, tmp_path: Path, prefix: str) -> None:
    before = _content(medium)
    with treering.open(f"{prefix}{medium / 'memory.db'}?mode=ro", project="p") as memory:
        _read_and_copy(memory, tmp_path)
        with pytest.raises(StoreReadOnly, match=r"opened read-only \(\?mode=ro\); open it without"):
            memory.forget("k1")
    assert _content(medium) == before
    _assert_copied(tmp_path)


def test_a_reader_sees_what_another_process_writes(medium: Path) -> None:
    with treering.open(medium / "memory.db", project="p") as writer:
        writer.remember("before", id="before")
        with treering.open(f"{medium / 'memory.db'}?mode=ro", project="p") as reader:
            writer.remember("after", id="after")
            assert [reader.get(id).id for id in ("before", "after")] == ["before", "after"]


def test_a_memory_that_is_not_there_is_not_created(tmp_path: Path) -> None:
    with pytest.raises(StoreReadOnly, match="the file does not exist"):
        treering.open(f"{tmp_path / 'memory.db'}?mode=ro")
    assert list(tmp_path.iterdir()) == []


def test_an_older_schema_is_not_migrated(medium: Path) -> None:
    with sqlite3.connect(medium / "memory.db") as connection:
        connection.execute("UPDATE treering_version SET version_num = '0005'")
    connection.close()
    before = _content(medium)
    with pytest.raises(StoreReadOnly, match=r"is at schema 0005, .* open the copy"):
        treering.open(f"{medium / 'memory.db'}?mode=ro")
    assert _content(medium) == before


def test_changes_that_only_a_writer_can_read_are_said_so(medium: Path) -> None:
    with treering.open(medium / "memory.db", project="p") as memory:
        memory.remember("in the log")
        log = (medium / "memory.db-wal").read_bytes()
    (medium / "memory.db-wal").write_bytes(log)
    (medium / "memory.db").chmod(0o444)
    medium.chmod(0o555)
    with as_unprivileged_user(), pytest.raises(StoreReadOnly, match=r"memory\.db-wal.*copy both files"):
        treering.open(medium / "memory.db", project="p")


def test_a_writer_that_begins_later_is_noticed(medium: Path) -> None:
    (medium / "memory.db").chmod(0o444)
    with as_unprivileged_user():
        reader = treering.open(medium / "memory.db", project="p")
        assert reader.get("k1")
    with treering.open(medium / "memory.db", project="p") as writer:
        writer.remember("later")
        with pytest.raises(StoreUnavailable, match="begun to write to it; open it again"):
            reader.get("k1")
    reader.close()


def test_commands_read_and_export(medium: Path, tmp_path: Path) -> None:
    place = f"{medium / 'memory.db'}?mode=ro"
    terminal = Terminal(tmp_path, {"TREERING_DB": place, "TREERING_PROJECT": "p"})
    before = _content(medium)
    assert "Deploy from main only" in terminal.ok("search", "deploy")
    assert "Deploy from main only" in terminal.ok("get", "k1")
    for command in (("stats",), ("history", "k1"), ("doctor",), ("export", "x.jsonl"), ("backup", "b.db"), ("report",)):
        terminal.ok(*command)
    assert "opened read-only" in terminal.refused("remember", "not allowed")
    assert _content(medium) == before


def test_an_export_to_another_disk_needs_no_room_on_the_own_one(
    medium: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def no_more_pages(connection: sqlite3.Connection, _record: object) -> None:
        if connection.execute("PRAGMA database_list").fetchone()[2].startswith(str(medium)):
            connection.execute("PRAGMA max_page_count = 1")

    with treering.open(medium / "memory.db", project="p") as memory:
        for number in range(400):
            memory.remember(f"fact {number} " * 20)
    event.listen(Engine, "connect", no_more_pages)
    try:
        with treering.open(medium / "memory.db", project="p") as memory, caplog.at_level(logging.WARNING):
            while True:
                try:
                    memory.remember("until the last page is full")
                except StoreFull:
                    break
            for number in range(60):
                memory.export(tmp_path / f"{number}.jsonl")
            memory.backup(tmp_path / "b.db")
    finally:
        event.remove(Engine, "connect", no_more_pages)
    assert "export of project p is not in the audit log" in caplog.text
    assert "the disk is full" in caplog.text


def read_without_room(place: str) -> None:
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
    with treering.open(place, project="p") as memory:
        found = memory.get("k1").content
        lines = len(list(memory.export_lines()))
        try:
            memory.remember("no room")
            error = "none"
        except treering.TreeringError as exc:
            error = type(exc).__name__
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    tell(found=found, lines=lines, error=error)


def test_a_disk_that_was_full_before_is_read(medium: Path, crew: Crew) -> None:
    crew.join(crew.start(read_without_room, place=str(medium / "memory.db")))
    assert crew.told("found") == ["Deploy from main only"]
    assert crew.told("lines") != [0]
    assert crew.told("error") == ["StoreFull"]


def test_a_server_opened_to_read_is_not_changed(postgres_url: str, tmp_path: Path) -> None:
    with treering.open(postgres_url, tenant="read", project="p") as memory:
        memory.remember("Deploy from main only", id="k1")
        with treering.open(f"{postgres_url}&mode=ro", tenant="read", project="p", background=True) as reader:
            assert reader.search("deploy")[0].id == "k1"
            assert reader.export(tmp_path / "x.jsonl") == 3
            with pytest.raises(StoreReadOnly, match="opened read-only") as refused:
                reader.remember("not allowed")
            assert ":treering@" not in str(refused.value)
        with pytest.raises(treering.TreeringError):
            memory.history("p")


def test_an_export_from_a_read_only_server_says_that_it_is_not_in_the_audit_log(
    postgres_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    treering.open(postgres_url).close()
    with (
        treering.open(f"{postgres_url}&options=-cdefault_transaction_read_only%3Don", project="p") as memory,
        caplog.at_level(logging.WARNING),
    ):
        assert memory.export(tmp_path / "x.jsonl") == 2
    assert "export of project p is not in the audit log" in caplog.text
    assert "connect to the primary" in caplog.text
