"""Files that exports and backups write and imports read: what else is there stays, and nothing exhausts the machine."""

import gzip
import json
import os
import socket
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import treering
from tests.e2e.terminal import Terminal
from tests.integration.crew import Crew
from tests.integration.fork_server import tell
from treering.archive.files import unfinished_folder
from treering.core.errors import InvalidInput
from treering.core.settings import Settings
from treering.memory import Memory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with treering.open(tmp_path / "memory.db", project="p") as memory:
        memory.remember("Deploy from main only", id="k1")
        yield memory


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


WRITERS = ("export", "backup")


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("content", ["# Rules of the house", "", "{}", '{"treering_patterns": 1}'])
def test_a_file_of_another_program_is_replaced_only_with_force(
    memory: Memory, folder: Path, writer: str, content: str
) -> None:
    target = folder / "CLAUDE.md"
    target.write_text(content)
    with pytest.raises(InvalidInput, match=r"exists already; .* pass force=True to overwrite it"):
        getattr(memory, writer)(target)
    assert target.read_text() == content

    getattr(memory, writer)(target, force=True)

    assert list(folder.iterdir()) == [target]
    assert target.read_bytes().startswith(b'{"treering": 1' if writer == "export" else b"SQLite format 3")


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz"])
def test_an_earlier_export_is_replaced(memory: Memory, folder: Path, name: str) -> None:
    before = memory.export(folder / name)
    memory.remember("One more")
    assert memory.export(folder / name) == before + 1


def test_a_backup_that_is_replaced_takes_its_blobs_along(memory: Memory, folder: Path) -> None:
    vast = "vast " * 100_000
    memory.remember(vast, id="vast")
    memory.backup(folder / "b.db")
    with pytest.raises(InvalidInput, match="exists already"):
        memory.backup(folder / "b.db")
    memory.remember(f"{vast} as well", id="more")

    memory.backup(folder / "b.db", force=True)

    with treering.open(folder / "b.db", project="p") as copy:
        assert (copy.get("vast").content, copy.doctor().healthy) == (vast, True)
        assert copy.get("more").content.endswith("as well")
    assert {path.name for path in folder.iterdir()} == {"b.db", "b.db.blobs"}


@pytest.mark.parametrize("step", range(4))
def test_a_backup_that_dies_while_it_is_put_in_place_leaves_one_with_all_of_its_blobs(
    memory: Memory, folder: Path, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = memory.settings.store.blob_bytes + 1
    memory.remember("a" * size, id="former")
    memory.backup(folder / "b.db")
    memory.forget("former", hard=True)
    memory.settle()
    memory.remember("b" * size, id="newer")
    replace, calls = os.replace, count()

    def dying(*arguments: Any) -> None:
        if next(calls) == step:
            raise KeyboardInterrupt
        replace(*arguments)

    with monkeypatch.context() as killed, suppress(KeyboardInterrupt):
        killed.setattr("treering.archive.backup.os.replace", dying)
        memory.backup(folder / "b.db", force=True)
    with treering.open(folder / "b.db", project="p", background=False) as copy:
        assert copy.doctor().healthy
        (id,) = {"former", "newer"} & {record.id for record in copy.search("", limit=10, turns=None)}
        assert len(str(copy.get(id).content)) == size


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(path))
    listening.close()


def _link_to_device(path: Path) -> None:
    path.symlink_to("/dev/null")


def _link_to_itself(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("make", [_pipe, _socket, _link_to_device, _link_to_itself, Path.mkdir])
def test_what_is_no_regular_file_is_never_replaced(memory: Memory, folder: Path, writer: str, make: object) -> None:
    target = folder / "x"
    make(target)  # type: ignore[operator]
    before = target.lstat()
    with pytest.raises(InvalidInput):
        getattr(memory, writer)(target, force=True)
    assert target.lstat().st_ino == before.st_ino
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("part", ["memory.db", "memory.db-wal", "memory.db-shm", "memory.db.blobs/x", "link"])
def test_the_memory_itself_is_never_replaced(memory: Memory, tmp_path: Path, writer: str, part: str) -> None:
    (tmp_path / "link").symlink_to("memory.db")
    memory.remember("vast " * 100_000)
    with pytest.raises(InvalidInput, match="part of the memory itself"):
        getattr(memory, writer)(tmp_path / part, force=True)
    assert memory.doctor().healthy


@pytest.mark.parametrize("writer", WRITERS)
def test_a_database_in_use_is_never_replaced(memory: Memory, folder: Path, writer: str) -> None:
    with treering.open(folder / "other.db", project="p") as other:
        other.remember("theirs")
        with pytest.raises(InvalidInput, match="a database in use"):
            getattr(memory, writer)(folder / "other.db", force=True)
        assert other.search("theirs")[0].text == "theirs"


def test_a_link_to_an_earlier_export_stays_a_link(memory: Memory, folder: Path) -> None:
    memory.export(folder / "monday.jsonl")
    (folder / "latest.jsonl").symlink_to("monday.jsonl")
    memory.remember("One more")
    memory.export(folder / "latest.jsonl")
    assert (folder / "latest.jsonl").is_symlink()
    assert "One more" in (folder / "monday.jsonl").read_text()


def begin(target: str) -> None:
    with unfinished_folder(Path(target)) as folder:
        (folder / "half").write_text("half")
        tell(begun=target)
        time.sleep(60)


@pytest.mark.parametrize("writer", WRITERS)
def test_what_a_killed_backup_left_is_removed_by_the_next(
    memory: Memory, folder: Path, crew: Crew, writer: str
) -> None:
    process = crew.start(begin, target=str(folder / "monday"))
    crew.hear(1)
    getattr(memory, writer)(folder / "tuesday")
    assert len(list(folder.glob(".*"))) == 1, "the other one is still at work"
    crew.kill(process)
    getattr(memory, writer)(folder / "wednesday")
    assert {path.name for path in folder.iterdir()} == {"tuesday", "wednesday"}


def test_a_line_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with treering.open(
        tmp_path / "m.db", project="p", settings=Settings.make(store={"import_line_bytes": 2_000})
    ) as memory:
        memory.remember("short", id="s")
        memory.export(tmp_path / "good.jsonl")
        assert memory.import_(tmp_path / "good.jsonl").known == 1
        header = (tmp_path / "good.jsonl").read_text().splitlines()[0]
        for name, write in (("x", open), ("x.gz", gzip.open)):
            with write(tmp_path / name, "wt") as file:
                file.write(header + "\n" + json.dumps({"kind": "blob", "value": "A" * 4_000}) + "\n")
            with pytest.raises(InvalidInput, match=r"line 2 is longer than 2,000 bytes; .*import_line_bytes"):
                memory.import_(tmp_path / name)


def test_an_endless_file_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="line 1 is longer"):
        memory.import_("/dev/zero")


def test_a_file_that_expands_beyond_all_proportion_is_refused(memory: Memory, folder: Path) -> None:
    memory.export(folder / "good.jsonl")
    header, record, _end = (folder / "good.jsonl").read_text().splitlines()
    blob = json.dumps({"kind": "blob", "value": "A" * 1_000_000})
    with gzip.open(folder / "bomb.gz", "wt") as file:
        file.write(f"{header}\n{record}\n" + f"{blob}\n" * 100)
    with pytest.raises(InvalidInput, match=r"expands to more than .* unpack it with gunzip"):
        memory.import_(folder / "bomb.gz")


def test_commands_replace_with_force(folder: Path, tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, {"TREERING_DB": str(tmp_path / "memory.db"), "TREERING_PROJECT": "p"})
    terminal.ok("remember", "Deploy from main only")
    for command in (("export",), ("backup",), ("patterns", "export")):
        target = folder / f"{command[0]}.md"
        target.write_text("precious")
        refusal = terminal.refused(*command, str(target))
        assert "pass --force to overwrite it" in refusal
        assert "force=True" not in refusal
        assert target.read_text() == "precious"
        terminal.ok(*command, str(target), "--force")
        assert target.read_bytes() != b"precious"


def test_an_endless_file_of_patterns_is_refused(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, {"TREERING_DB": str(tmp_path / "memory.db"), "TREERING_PROJECT": "p"})
    assert "is larger than" in terminal.refused("patterns", "import", "/dev/zero")
