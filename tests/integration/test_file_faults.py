"""The embedded file on its bad days: one clear error each, and nothing already stored is harmed."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event

import treering
from tests.integration.crew import Crew
from tests.integration.crew_members import fill_up, hold_lock, open_place, remember_one
from tests.integration.written import assert_healthy
from treering.core.errors import (
    BlobMissing,
    InvalidInput,
    NotADatabase,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)
from treering.core.settings import Settings

NOBODY = 65534


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "memory.db"
    with treering.open(path, tenant="t", project="p") as memory:
        for number in range(100):
            memory.remember(_content(number), id=f"k{number}")
    return path


@pytest.fixture
def stored(template: Path, tmp_path: Path) -> Path:
    """A healthy memory of a hundred records."""
    return Path(shutil.copy(template, tmp_path))


def _content(number: int) -> str:
    return f"fact{number} " + "and more " * 50


def _assert_unharmed(path: Path) -> None:
    with treering.open(path, tenant="t", project="p") as memory:
        for number in range(100):
            assert memory.get(f"k{number}").content == _content(number)
        assert_healthy(memory)
        memory.remember("written afterwards")


def test_a_disk_without_room_refuses_the_write_and_keeps_the_rest(tmp_path: Path, crew: Crew) -> None:
    place: dict[str, Any] = {
        "place": str(tmp_path / "memory.db"),
        "blobs": str(tmp_path / "blobs"),
        "blob_bytes": 262_144,
    }
    crew.join(crew.start(fill_up, limit=2_000_000, **place))
    assert crew.told("error") == ["StoreFull"]
    assert "free some room" in crew.told("message")[0]
    with open_place(**place) as memory:
        assert {hit.id for hit in memory.search("", limit=1_000)} == set(crew.told("stored"))
        assert len(crew.told("stored")) > 5
        assert_healthy(memory)


def test_a_disk_without_room_for_a_blob_refuses_the_record(tmp_path: Path, crew: Crew) -> None:
    place: dict[str, Any] = {"place": str(tmp_path / "memory.db"), "blobs": str(tmp_path / "blobs")}
    open_place(**place).close()
    crew.join(crew.start(fill_up, limit=9_000, **place))
    assert crew.told("error") == ["StoreFull"]
    assert "free some" in crew.told("message")[0]
    with open_place(**place) as memory:
        assert {hit.id for hit in memory.search("")} == {"after"}
        assert_healthy(memory)


def test_a_full_database_refuses_the_write_and_keeps_the_rest(stored: Path) -> None:
    def no_more_pages(connection: object, _record: object) -> None:
        connection.execute("PRAGMA max_page_count = 1")  # type: ignore[attr-defined]

    event.listen(Engine, "connect", no_more_pages)
    try:
        with treering.open(stored, tenant="t", project="p") as memory:
            with pytest.raises(StoreFull, match="the disk is full; free some room"):
                memory.remember("one too many " * 5_000)
            assert memory.search("fact1")[0].id == "k1"
    finally:
        event.remove(Engine, "connect", no_more_pages)
    _assert_unharmed(stored)


@pytest.fixture
def shared_folder() -> Iterator[Path]:
    """A folder that every user of this machine can reach."""
    folder = Path(tempfile.mkdtemp(prefix="treering-shared-"))
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def _as_somebody_else(crew: Crew, path: Path) -> tuple[str, str]:
    """The error that a user without rights gets who wants to write; root has all rights, so root becomes another."""
    uid = NOBODY if os.geteuid() == 0 else None
    place: dict[str, Any] = {"place": str(path), "blobs": str(path.parent / "blobs")}
    crew.join(crew.start(remember_one, text="not allowed", uid=uid, **place))
    return crew.told("error")[-1], crew.told("message")[-1]


def test_a_read_only_folder_is_said_so(shared_folder: Path, crew: Crew) -> None:
    shared_folder.chmod(0o555)
    error, message = _as_somebody_else(crew, shared_folder / "memory.db")
    assert error == "StoreReadOnly"
    assert "folder" in message
    assert list(shared_folder.iterdir()) == []


@pytest.mark.parametrize("folder_mode", [0o555, 0o777])
def test_a_read_only_file_is_said_so(shared_folder: Path, stored: Path, crew: Crew, folder_mode: int) -> None:
    path = shared_folder / "memory.db"
    shutil.copyfile(stored, path)
    path.chmod(0o444)
    shared_folder.chmod(folder_mode)
    error, message = _as_somebody_else(crew, path)
    assert error == "StoreReadOnly"
    assert "permissions" in message or "can be written" in message
    shared_folder.chmod(0o755)
    path.chmod(0o644)
    _assert_unharmed(path)


def test_a_folder_that_may_not_be_entered_is_said_so(shared_folder: Path, crew: Crew) -> None:
    (shared_folder / "closed").mkdir(mode=0o700 if os.geteuid() == 0 else 0o000)
    error, message = _as_somebody_else(crew, shared_folder / "closed" / "memory.db")
    assert error == "StoreReadOnly"
    assert "permissions" in message or "can be written" in message
    (shared_folder / "closed").chmod(0o700)


def test_a_folder_in_place_of_a_file_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(NotADatabase, match="is a folder; pass the path of a file in it"):
        treering.open(tmp_path)


def test_a_missing_folder_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(StoreReadOnly, match=r"does not exist; create it first"):
        treering.open(tmp_path / "missing" / "memory.db")


@pytest.mark.parametrize("path", ["a\x00b.db", "x" * 5_000 + ".db"])
def test_a_path_that_no_file_can_have_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises((InvalidInput, StoreReadOnly), match=r"check the path|needs a location: a file path"):
        treering.open(f"{tmp_path}/{path}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["what?.db", "50%25.db", "a#b.db", "file:x.db", "naïve ☃.db"])
def test_a_path_with_special_characters_names_that_very_file(tmp_path: Path, name: str) -> None:
    with treering.open(tmp_path / name) as memory:
        memory.remember("kept")
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    "content",
    [
        b"x",
        b"short",
        b"just some notes\n" * 1_000,
        b"\x89PNG\r\n\x1a\n" + bytes(5_000),
        bytes(4_096),
        b"SQLite format 2\x00" + bytes(4_080),
    ],
    ids=["byte", "word", "text", "png", "zeros", "another-version"],
)
def test_a_file_that_is_no_database_is_refused_and_not_touched(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "memory.db"
    path.write_bytes(content)
    with pytest.raises(NotADatabase, match="not a SQLite database; choose another path"):
        treering.open(path)
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("share", [0.99, 0.6, 0.2, 0.01])
def test_a_truncated_file_is_refused_and_not_touched(stored: Path, share: float) -> None:
    content = stored.read_bytes()
    rest = content[: int(len(content) * share)]
    stored.write_bytes(rest)
    with pytest.raises(NotADatabase, match="restore a backup, or run `treering doctor --repair`"):
        treering.open(stored)
    assert stored.read_bytes() == rest
    stored.write_bytes(content)
    _assert_unharmed(stored)


def test_flipped_bytes_are_an_error_and_never_a_wrong_answer(stored: Path) -> None:
    content = stored.read_bytes()
    middle = len(content) // 2 // 4096 * 4096
    flipped = bytes(byte ^ 0xFF for byte in content[middle:])
    stored.write_bytes(content[:middle] + flipped)
    with pytest.raises(NotADatabase, match=r"damaged.*`treering doctor --repair`"):
        _assert_unharmed(stored)
    stored.write_bytes(content)
    _assert_unharmed(stored)


def test_a_file_locked_for_too_long_is_said_so(stored: Path, crew: Crew) -> None:
    crew.start(hold_lock, path=str(stored))
    crew.hear(1)
    impatient = Settings.make(store={"busy_seconds": 0.2})
    with treering.open(stored, tenant="t", project="p", settings=impatient) as memory:
        with pytest.raises(StoreUnavailable, match=r"another process kept the database locked for .* seconds; end it"):
            memory.remember("not now")
        assert memory.search("fact1")[0].id == "k1"


def test_after_the_lock_is_gone_the_same_memory_writes_again(stored: Path, crew: Crew) -> None:
    holder = crew.start(hold_lock, path=str(stored))
    crew.hear(1)
    impatient = Settings.make(store={"busy_seconds": 0.2})
    with treering.open(stored, tenant="t", project="p", settings=impatient) as memory:
        with pytest.raises(StoreUnavailable):
            memory.remember("not now")
        crew.kill(holder)
        memory.remember("now")
    _assert_unharmed(stored)


def test_a_file_replaced_while_open_is_said_so(stored: Path, tmp_path: Path) -> None:
    with treering.open(stored, tenant="t", project="p") as memory:
        copy = memory.backup(tmp_path / "copy.db")
        os.replace(copy, stored)
        for _ in range(2):
            with pytest.raises(StoreUnavailable, match=r"replaced while it was open; .* open it again"):
                memory.remember("into which file?")
    _assert_unharmed(stored)


def test_lost_blobs_are_said_so_and_everything_else_is_there(stored: Path) -> None:
    with treering.open(stored, tenant="t", project="p") as memory:
        memory.remember("vast " * 100_000, id="vast")
        blobs = Path(f"{stored}.blobs")
        blobs.rename(blobs.with_name("away"))
        with pytest.raises(BlobMissing, match="restore it from a backup"):
            memory.get("vast")
        assert memory.get("k1").content.startswith("fact1")
        report = memory.doctor()
        assert not report.healthy
        advice = f"restore {memory.store.blobs.location} from a backup"
        assert [check.advice for check in report.checks if not check.fine] == [advice]
        blobs.with_name("away").rename(blobs)
        assert len(str(memory.get("vast").content)) == 500_000
    _assert_unharmed(stored)


def test_a_damaged_blob_is_said_so_and_heals_when_it_is_stored_again(stored: Path) -> None:
    with treering.open(stored, tenant="t", project="p") as memory:
        memory.remember("vast " * 100_000, id="vast")
        (blob,) = (path for path in Path(f"{stored}.blobs").rglob("*") if path.is_file())
        blob.write_bytes(b"damaged")
        with pytest.raises(BlobMissing, match=r"is damaged.*restore it from a backup, or store the original again"):
            memory.get("vast")
        memory.turn(session="s", role="user", text="vast " * 100_000)
        assert len(str(memory.get("vast").content)) == 500_000
    _assert_unharmed(stored)
