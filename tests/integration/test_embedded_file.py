"""The embedded file: forgotten words leave it, only its user reads it, and what happens to it is said clearly."""

import gzip
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import treering
from tests.integration.crew import Crew
from tests.integration.fork_server import tell
from tests.samples import NOW, SMALL_BLOBS, knowledge
from treering.compose import salvage
from treering.core.errors import InvalidInput, StoreError, StoreReadOnly, StoreUnavailable
from treering.core.payloads import Payload
from treering.core.settings import Settings
from treering.memory import Memory

IMPATIENT = Settings.make(store={"busy_seconds": 0.3, "blob_bytes": 1_024})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def memory(path: Path) -> Iterator[Memory]:
    with treering.open(path, project="p", settings=IMPATIENT) as opened:
        yield opened


def on_disk(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


@pytest.mark.parametrize("length", [1, 500])
def test_a_forgotten_word_is_in_no_file_also_while_another_has_the_database_open(
    memory: Memory, path: Path, tmp_path: Path, length: int
) -> None:
    with treering.open(path, project="p", settings=IMPATIENT) as other:
        record = memory.remember("zyzzyva secretly " * length)
        memory.correct(record.id, "outdated", text="zyzzyvas moved " * length)
        assert other.search("zyzzyva").hits or other.search("zyzzyvas").hits
        assert b"zyzzyva" in on_disk(tmp_path)
        for id in {record.id, *(hit.id for hit in memory.search("zyzzyvas"))}:
            memory.forget(id, hard=True)
        assert b"zyzzyva" not in on_disk(tmp_path)


def test_a_reader_that_still_sees_the_word_is_said_so(memory: Memory, path: Path, tmp_path: Path) -> None:
    record = memory.remember("zyzzyva secretly")
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM knowledge").fetchone()
    with pytest.raises(StoreUnavailable, match=r"forgotten, but another process still reads.*doctor --repair"):
        memory.forget(record.id, hard=True)
    assert not memory.search("zyzzyva").hits
    reader.close()
    memory.doctor(repair=True)
    assert b"zyzzyva" not in on_disk(tmp_path)


def test_only_its_user_can_read_the_database_and_its_copies(memory: Memory, path: Path, tmp_path: Path) -> None:
    memory.remember("mine")
    memory.backup(tmp_path / "copy.db")
    modes = {file.name: file.stat().st_mode & 0o777 for file in tmp_path.iterdir() if file.is_file()}
    assert modes == dict.fromkeys(("memory.db", "memory.db-wal", "memory.db-shm", "copy.db"), 0o600)


def truncate_while_open(path: str) -> None:
    with treering.open(path, project="p") as memory:
        memory.store.erase_traces()
        os.truncate(path, 8192)
        try:
            for word in ("word1", "word900"):
                memory.search(word)
            with memory.store.reading(memory.scope, memory._parts.clock()) as tx:
                list(tx.knowledge.stream())
        except treering.TreeringError as error:
            tell(error=type(error).__name__)


def test_a_file_truncated_while_it_is_open_is_an_error_and_not_the_end_of_the_process(path: Path, crew: Crew) -> None:
    with treering.open(path, project="p") as memory:
        memory.remember_many(knowledge(f"k{number}", f"word{number} " * 200) for number in range(300))
    crew.join(crew.start(truncate_while_open, path=str(path)))
    assert crew.told("error")[0] in ("NotADatabase", "StoreUnavailable", "StoreError")


def test_a_second_transaction_in_one_thread_is_said_so(memory: Memory) -> None:
    with (
        memory.store.transaction(memory.scope, NOW),
        pytest.raises(StoreUnavailable, match="this thread already holds a transaction"),
    ):
        memory.remember("inside")
    assert memory.remember("afterwards").version == 1


def test_more_readers_than_connections_are_said_so(path: Path) -> None:
    few = Settings.make(store={"busy_seconds": 0.2, "pool_size": 1})
    with treering.open(path, project="p", settings=few) as memory:
        held, release, refused = threading.Barrier(6), threading.Event(), list[BaseException]()

        def read() -> None:
            with memory.store.reading(memory.scope, NOW):
                held.wait(10)
                release.wait(10)

        readers = [threading.Thread(target=read) for _ in range(5)]
        for reader in readers:
            reader.start()
        held.wait(10)
        try:
            memory.search("anything")
        except StoreUnavailable as exc:
            refused.append(exc)
        release.set()
        for reader in readers:
            reader.join()
        assert "every connection is busy" in str(refused[0])


def test_a_closed_memory_stays_closed(path: Path) -> None:
    memory = treering.open(path, project="p")
    memory.close()
    memory.close()
    for use in (lambda: memory.remember("x"), lambda: memory.search("x"), memory.doctor, memory.stats):
        with pytest.raises(StoreError, match="is closed; open it again"):
            use()
    assert [file.name for file in path.parent.iterdir()] == ["memory.db"]


def test_a_compressed_export_with_flipped_bytes_is_refused(memory: Memory, tmp_path: Path) -> None:
    for number in range(50):
        memory.remember(f"{random.Random(number).random()}")
    memory.export(tmp_path / "x.jsonl.gz")
    whole = bytearray((tmp_path / "x.jsonl.gz").read_bytes())
    assert gzip.decompress(whole)
    for place in range(20, len(whole) - 8, 41):
        damaged = whole.copy()
        damaged[place] ^= 0xFF
        (tmp_path / "y.jsonl.gz").write_bytes(damaged)
        with pytest.raises(InvalidInput):
            memory.import_(tmp_path / "y.jsonl.gz")


@pytest.mark.parametrize("name", ["", ".", "folder", "nul\0"])
def test_an_export_that_names_no_file_is_refused(memory: Memory, tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    target = str(tmp_path / name) if name == "folder" else name
    with pytest.raises(InvalidInput, match="pass the path"):
        memory.export(target)


def test_a_backup_beside_somebody_elses_blobs_is_refused(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "copy.db.blobs").mkdir()
    (tmp_path / "copy.db.blobs" / "theirs").write_text("theirs")
    memory.remember("x" * 2_000)
    with pytest.raises(InvalidInput, match=r"copy\.db\.blobs exists already"):
        memory.backup(tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists()


def test_a_backup_that_cannot_be_written_names_its_own_place(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "locked"
    folder.mkdir()
    monkeypatch.setattr(os, "access", lambda place, mode: Path(place) != folder)
    with pytest.raises(StoreReadOnly, match=r"locked cannot be written; choose another folder"):
        memory.backup(folder / "copy.db")


class Incident(Payload):
    service: str | None = None


def remember_an_incident(path: str) -> None:
    treering.register_knowledge_type("incident", Incident)
    with treering.open(path, project="p") as memory:
        memory.remember("outage " + "z" * 400_000, id="big", type="incident", payload={"service": "shop"})
        memory.remember("outage", id="small", type="incident")


def test_what_this_process_does_not_know_comes_through_a_rescue(path: Path, crew: Crew) -> None:
    crew.join(crew.start(remember_an_incident, path=str(path)))
    with sqlite3.connect(path) as connection:
        rows = connection.execute("SELECT * FROM knowledge ORDER BY id").fetchall()
    connection.close()

    salvaged = salvage(path)

    assert salvaged.lost == ()
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT * FROM knowledge ORDER BY id").fetchall() == rows
    connection.close()
    for file in Path(f"{path}.blobs").rglob("*"):
        os.utime(file, (0, 0))
    with treering.open(path, project="p") as memory:
        memory.store.blobs.put(memory.scope, b"of a record that was lost")
        for file in Path(f"{path}.blobs").rglob("*"):
            os.utime(file, (0, 0))
        report = memory.doctor(repair=True)
        assert any("may still need them" in line for line in report.repaired)
    assert b"z" * 400_000 in on_disk(Path(f"{path}.blobs"))
    assert b"of a record that was lost" in on_disk(Path(f"{path}.blobs"))


def test_a_rescue_that_lost_something_ends_with_a_failure(path: Path) -> None:
    with treering.open(path, project="p", settings=SMALL_BLOBS) as memory:
        memory.remember_many(knowledge(f"k{number}", f"word{number} " * 40) for number in range(400))
    whole = bytearray(path.read_bytes())
    for start in range(0, len(whole), 4096):
        if b"word200 word200" in whole[start : start + 4096]:
            whole[start : start + 8] = b"\xff" * 8
    path.write_bytes(whole)
    command = [shutil.which("treering", path=str(Path(sys.executable).parent)), "doctor", "--repair", "--json"]
    answer = subprocess.run(
        [*map(str, command), "--db", str(path), "--project", "p"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    document = json.loads(answer.stdout)
    assert document["salvaged"]["lost"]
    assert (answer.returncode, document["healthy"]) == (1, False)
