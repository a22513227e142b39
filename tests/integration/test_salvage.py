"""What is readable of a damaged file is saved, nothing else changes, and the damaged file stays."""

import random
import shutil
import sqlite3
from pathlib import Path

import pytest

import treering
from tests.integration.crew import Crew
from tests.integration.crew_members import hold_transaction, write_groups
from tests.integration.written import assert_healthy
from tests.lengths import at_length
from treering.compose import now, salvage
from treering.core.errors import NotADatabase, StoreUnavailable
from treering.core.records import Knowledge
from treering.core.turns import Turn
from treering.core.values import Record

PAGE = 4096
RECORDS = at_length(1_000, full=2_000)
TURNS = at_length(300, full=600)
FIRST_PAGES = 1 / 3
"""Share of the file that holds the roots of all tables."""


@pytest.fixture(autouse=True)
def by_words_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search finds exactly the records that hold its word."""
    monkeypatch.setenv("TREERING_EMBEDDER", "none")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A healthy database of many records in two projects, with a blob."""
    path = tmp_path_factory.mktemp("whole") / "memory.db"
    moments = dict.fromkeys(("created_at", "updated_at", "last_accessed_at"), now())
    with treering.open(path, project="p") as memory:
        memory.remember_many(
            Knowledge.make(
                id=f"k{number:05}", type="fact", content=f"word{number} " * 30, tags=(f"tag{number % 7}",), **moments
            )
            for number in range(RECORDS)
        )
        for session in range(6):
            with memory.store.transaction(memory.scope, now()) as tx:
                tx.turns.create_many(
                    Turn.make(
                        id=f"t{session}-{number}",
                        session=f"s{session}",
                        role="user",
                        text=f"said{number} " * 20,
                        at=now(),
                        recorded_at=now(),
                    )
                    for number in range(TURNS // 6)
                )
        memory.remember("vast " * 100_000, id="vast")
    with treering.open(path, project="other") as memory:
        memory.remember("in another project", id="elsewhere")
    return path


@pytest.fixture(scope="module")
def original(whole: Path) -> dict[str, Record]:
    return _contents(whole)


@pytest.fixture
def copy(whole: Path, tmp_path: Path) -> Path:
    """A copy to be damaged."""
    target = tmp_path / "memory.db"
    shutil.copyfile(whole, target)
    shutil.copytree(f"{whole}.blobs", f"{target}.blobs")
    return target


def _contents(path: Path) -> dict[str, Record]:
    """Every record, turn and audit entry of both projects."""
    found: dict[str, Record] = {}
    for project in ("p", "other"):
        with treering.open(path, project=project) as memory, memory.store.reading(memory.scope, now()) as tx:
            for collection in (tx.knowledge, tx.turns, tx.sessions, tx.audit):
                found |= {f"{project} {type(value).__name__} {value.id}": value for value in collection.stream()}
    return found


def _knowledge(found: dict[str, Record]) -> int:
    return sum(isinstance(value, Knowledge) for value in found.values())


def _flip(path: Path, places: list[int], length: int) -> None:
    data = bytearray(path.read_bytes())
    for start in places:
        data[start : start + length] = bytes(byte ^ 0xFF for byte in data[start : start + length])
    path.write_bytes(data)


def _pages(path: Path, seed: int, count: int) -> list[int]:
    """Where some pages begin; not among the first."""
    total = path.stat().st_size // PAGE
    return [page * PAGE for page in random.Random(seed).sample(range(int(FIRST_PAGES * total), total), count)]


def _assert_saved(path: Path, original: dict[str, Record], at_least: float) -> dict[str, Record]:
    """What stands now is part of what was stored, is healthy, and can be written to."""
    saved = _contents(path)
    reopened = {key for key in saved if " Session " in key and saved[key] != original[key]}
    assert saved.items() - {(key, saved[key]) for key in reopened} <= original.items()
    assert _knowledge(saved) >= at_least * _knowledge(original)
    with treering.open(path, project="p") as memory:
        assert_healthy(memory)
        known = [key.split()[-1] for key, value in saved.items() if isinstance(value, Knowledge) and value.id != "vast"]
        for id in random.Random(1).sample([id for id in known if id.startswith("k")], 20):
            word = f"word{int(id[1:])}"
            assert [hit.id for hit in memory.search(word)] == [id]
        for session in range(6):
            memory.turn(session=f"s{session}", role="user", text="goes on")
        memory.remember("written after the repair")
    return saved


def test_a_healthy_file_comes_through_unchanged_again_and_again(copy: Path, original: dict[str, Record]) -> None:
    for _ in range(2):
        salvaged = salvage(copy)
        assert salvaged.lost == ()
        assert salvaged.saved["knowledge"] == RECORDS + 2
        assert salvaged.saved["turn"] == TURNS
        assert _contents(copy) == original
    _assert_saved(copy, original, 1.0)


@pytest.mark.parametrize("seed", range(4))
def test_one_bad_page_costs_only_what_stood_on_it(copy: Path, original: dict[str, Record], seed: int) -> None:
    _flip(copy, _pages(copy, seed, 1), PAGE)
    salvage(copy)
    _assert_saved(copy, original, 0.97)


def test_many_bad_pages_cost_only_what_stood_on_them(copy: Path, original: dict[str, Record]) -> None:
    _flip(copy, _pages(copy, 1, 30), PAGE)
    salvaged = salvage(copy)
    # Less is saved where rows between two bad pages are given up.
    saved = _assert_saved(copy, original, at_length(0.87, full=0.96))
    assert salvaged.lost
    assert saved != original


def test_flipped_bytes_never_come_back_as_another_text(copy: Path, original: dict[str, Record]) -> None:
    size = copy.stat().st_size
    _flip(copy, [random.Random(seed).randrange(int(FIRST_PAGES * size), size) for seed in range(60)], 3)
    salvage(copy)
    saved = {key: value.content for key, value in _contents(copy).items() if isinstance(value, Knowledge)}
    stored = {key: value.content for key, value in original.items() if isinstance(value, Knowledge)}
    assert saved.items() <= stored.items()
    assert len(saved) >= 0.8 * len(stored)


def test_a_text_that_was_changed_on_disk_is_not_passed_off_as_the_original(copy: Path) -> None:
    content = copy.read_bytes()
    assert content.count(b"word77 word77 word77") > 0
    copy.write_bytes(content.replace(b"word77 word77 word77", b"word77 word88 word77"))
    salvaged = salvage(copy)
    assert salvaged.lost == ("knowledge 'k00077': its text does not match its fingerprint",)
    with treering.open(copy, project="p") as memory:
        assert memory.search("word77").hits == ()


def test_turns_that_lost_their_session_go_on_at_the_right_place(copy: Path, original: dict[str, Record]) -> None:
    connection = sqlite3.connect(copy)
    connection.execute("DELETE FROM sessions WHERE id = 's3'")
    connection.commit()
    connection.close()
    salvage(copy)
    with treering.open(copy, project="p") as memory:
        assert memory.turn(session="s3", role="user", text="goes on").seq == TURNS // 6
    assert original.keys() <= _contents(copy).keys()


@pytest.mark.parametrize(
    "garbage",
    [
        {"tenant": "\0" * 5, "project": "\0"},
        {"project": b"\xff\xfe"},
        {"id": "\0\0", "type": "\0\0"},
        {"type": b"\x00\x01"},
    ],
)
def test_a_row_of_garbage_is_given_up_alone(
    copy: Path, original: dict[str, Record], garbage: dict[str, object]
) -> None:
    connection = sqlite3.connect(copy)
    connection.row_factory = sqlite3.Row
    row = {**dict(connection.execute("SELECT * FROM knowledge LIMIT 1").fetchone()), "id": "odd", **garbage}
    names, marks = ", ".join(f'"{name}"' for name in row), ", ".join("?" for _ in row)
    connection.execute(f"INSERT INTO knowledge ({names}) VALUES ({marks})", (*row.values(),))
    connection.commit()
    connection.close()
    salvaged = salvage(copy)
    assert [reason for reason in salvaged.lost if "its row is invalid" in reason]
    assert _contents(copy) == original


@pytest.mark.parametrize("share", [0.95, 0.7, 0.4, 0.35])
def test_a_truncated_file_gives_back_what_it_still_holds(copy: Path, original: dict[str, Record], share: float) -> None:
    with copy.open("r+b") as file:
        file.truncate(int(copy.stat().st_size * share))
    with pytest.raises(NotADatabase, match="doctor --repair"):
        treering.open(copy, project="p")
    salvage(copy)
    _assert_saved(copy, original, share / 3)  # the schema and the first indexes are at the beginning


def test_the_damaged_file_is_kept_as_it_was(copy: Path, original: dict[str, Record]) -> None:
    _flip(copy, _pages(copy, 3, 5), PAGE)
    damaged = copy.read_bytes()
    salvaged = salvage(copy)
    assert salvaged.kept_aside.name.startswith("memory.db.damaged-")
    assert salvaged.kept_aside.read_bytes() == damaged
    first = _contents(copy)
    again = salvage(copy)
    assert again.lost == ()
    assert _contents(copy) == first
    assert salvaged.kept_aside.read_bytes() == damaged
    assert again.kept_aside != salvaged.kept_aside
    left = {path.name for path in copy.parent.iterdir()}
    assert left == {copy.name, f"{copy.name}.blobs", salvaged.kept_aside.name, again.kept_aside.name}


def test_what_only_the_log_holds_is_saved_too(copy: Path, crew: Crew) -> None:
    place = {"place": str(copy), "tenant": "local", "blobs": f"{copy}.blobs"}
    pid = crew.start(write_groups, worker="w", **place)
    crew.hear(30)
    crew.kill(pid)
    assert Path(f"{copy}-wal").stat().st_size > 0
    _flip(copy, _pages(copy, 4, 3), PAGE)
    salvage(copy)
    with treering.open(copy, project="p") as memory:
        for group in crew.told("stored"):
            assert memory.search(f"{group}r0")[0].id == f"{group}-r0"


@pytest.mark.parametrize("start", [b"just some notes\n" * 1_000, b"\x89PNG\r\n\x1a\n" + bytes(5_000), b"", b"x"])
def test_what_is_no_database_is_not_touched(tmp_path: Path, start: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(start)
    with pytest.raises(NotADatabase):
        salvage(path)
    assert path.read_bytes() == start
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(NotADatabase, match="does not exist"):
        salvage(tmp_path / "memory.db")
    with pytest.raises(NotADatabase, match="folder"):
        salvage(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_without_a_readable_first_page_is_left_as_it_is(copy: Path) -> None:
    _flip(copy, [100], PAGE - 100)
    damaged = copy.read_bytes()
    with pytest.raises(NotADatabase, match="restore a backup"):
        salvage(copy)
    assert copy.read_bytes() == damaged


def test_a_file_in_use_is_not_replaced(copy: Path, crew: Crew) -> None:
    with treering.open(copy, project="p") as memory:
        with pytest.raises(StoreUnavailable, match="open in another process"):
            salvage(copy)
        memory.remember("still written to the same file")
    pid = crew.start(hold_transaction, place=str(copy), tenant="local", blobs=f"{copy}.blobs")
    crew.hear(1)
    with pytest.raises(StoreUnavailable, match="open in another process"):
        salvage(copy)
    crew.kill(pid)
    salvage(copy)
    with treering.open(copy, project="p") as memory:
        assert [hit.text for hit in memory.search("written")] == ["still written to the same file"]


def test_a_project_whose_blobs_are_gone_keeps_everything_else(copy: Path, original: dict[str, Record]) -> None:
    shutil.rmtree(f"{copy}.blobs")
    salvaged = salvage(copy)
    assert salvaged.lost == ()
    assert salvaged.saved["knowledge"] == _knowledge(original)
    with treering.open(copy, project="p") as memory:
        assert [check.name for check in memory.doctor().checks if not check.fine] == ["derived tables", "blobs"]
