"""The search index in files beside the database: it gives the same results, and it is never more than a copy."""

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import treering
from treering.adapters.arrays.files import DamagedArrays, map_arrays, write_arrays
from treering.adapters.arrays.growing import GrowingArrays
from treering.adapters.sql import index_files, project_index
from treering.compose import now
from treering.core.errors import StoreUnavailable
from treering.core.settings import Settings
from treering.location.database_files import remove
from treering.memory import Memory

QUERIES = ("which crane lifts 7 tons", "harbour fog in the morning", "who painted hull 12", "where is the anchor")


@pytest.fixture(autouse=True)
def small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project_index, "MIN_SAVED", 5)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def opened(place: Path) -> Memory:
    return treering.open(place, project="p", background=False)


def fill(memory: Memory, first: int, count: int) -> None:
    for number in range(first, first + count):
        memory.remember(f"Crane {number} lifts {number} tons at pier {number % 3}.", id=f"k{number}")
        memory.turn(
            session=f"s{number % 4}", role="user", text=f"Hull {number} was painted in fog by Ana.", id=f"t{number}"
        )
    memory.settle()


def answers(memory: Memory) -> list[list[tuple[str, float]]]:
    return [[(hit.id, round(hit.score, 6)) for hit in memory.search(query)] for query in QUERIES]


def searched(place: Path) -> list[list[tuple[str, float]]]:
    with opened(place) as memory:
        return answers(memory)


def without_files(place: Path) -> list[list[tuple[str, float]]]:
    """The answers of a copy of the database that has no index files."""
    copy = place.with_name("copy.db")
    for suffix in ("", "-wal", "-shm"):
        if Path(f"{place}{suffix}").exists():
            shutil.copy(f"{place}{suffix}", f"{copy}{suffix}")
    try:
        return searched(copy)
    finally:
        shutil.rmtree(f"{copy}-index", ignore_errors=True)
        for suffix in ("", "-wal", "-shm"):
            Path(f"{copy}{suffix}").unlink(missing_ok=True)


def saved_files(place: Path) -> Sequence[Path]:
    return sorted(Path(f"{place}-index").glob("*/*"))


def parts_in_files(memory: Memory) -> list[bool]:
    memory.search(QUERIES[0])
    with memory.store.reading(memory.scope, now()) as tx:
        return [bool(part.file) for part in tx.index._state().segments.parts]  # type: ignore[attr-defined]


@pytest.fixture
def saved(place: Path) -> Path:
    """A database whose index is in files."""
    with opened(place) as memory:
        fill(memory, 0, 12)
        answers(memory)
    assert saved_files(place)
    return place


def test_the_next_process_maps_the_files_and_finds_the_same(saved: Path) -> None:
    with opened(saved) as memory:
        assert all(parts_in_files(memory))
        assert answers(memory) == without_files(saved)


def test_what_is_newer_is_added(saved: Path) -> None:
    with opened(saved) as memory:
        memory.remember("The anchor is in the blue shed.", id="anchor")
    with opened(saved) as memory:
        assert memory.search("where is the anchor")[0].id == "anchor"
        assert answers(memory) == without_files(saved)


def test_files_are_for_this_user_only(saved: Path) -> None:
    assert {path.stat().st_mode & 0o077 for path in (Path(f"{saved}-index"), *saved_files(saved))} == {0}


def test_what_was_forgotten_is_not_found(saved: Path) -> None:
    with opened(saved) as memory:
        answers(memory)
        memory.forget("k7")
    with opened(saved) as memory:
        assert "k7" not in [hit.id for hit in memory.search(QUERIES[0])]
        assert answers(memory) == without_files(saved)


def test_a_hard_forget_leaves_nothing_in_the_files(saved: Path) -> None:
    other = opened(saved)
    answers(other)
    with opened(saved) as memory:
        memory.forget("k7", hard=True)
    assert not saved_files(saved)
    fill(other, 20, 6)
    answers(other)
    other.close()
    (manifest,) = Path(f"{saved}-index").glob("*/manifest.json")
    assert manifest
    check_removed(saved)
    assert searched(saved) == without_files(saved)


def check_removed(place: Path) -> None:
    """The files hold nothing but the numbers of removed documents."""
    with opened(place) as memory, memory.store.reading(memory.scope, now()) as tx:
        state = tx.index._state()  # type: ignore[attr-defined]
        gone = np.flatnonzero(state.segments.gone)
        for part in state.segments.parts:
            assert not np.isin(part.postings.rows + part.postings.first, gone).any()
            assert not np.isin(part.order.rows, gone).any()
        attributes = state.segments.columns.arrays()
        assert not any(array[gone].any() for name, array in attributes.items() if name != "number")
        for space in state.spaces.values():
            rows = space.rows_of(state.segments.columns.number[gone])
            assert not space.at(rows[rows >= 0]).any()


def _damaged(path: Path, how: str) -> None:
    content = path.read_bytes()
    middle = len(content) // 2
    if how == "missing":
        path.unlink()
    elif how == "truncated":
        path.write_bytes(content[:middle])
    elif how == "empty":
        path.write_bytes(b"")
    else:
        path.write_bytes(content[:middle] + bytes([content[middle] ^ 0x5A]) + content[middle + 1 :])


@pytest.mark.parametrize("how", ["missing", "truncated", "empty", "changed"])
def test_damaged_files_are_noticed_and_written_again(saved: Path, how: str) -> None:
    for number in range(len(saved_files(saved))):
        with opened(saved) as memory:
            answers(memory)
        path = saved_files(saved)[min(number, len(saved_files(saved)) - 1)]
        path.chmod(0o600)
        _damaged(path, how)
        missing_manifest = how == "missing" and path.name == "manifest.json"
        with opened(saved) as memory:
            (check,) = (each for each in memory.doctor().checks if each.name == "index files")
            assert check.fine is missing_manifest
        assert searched(saved) == without_files(saved)
        with opened(saved) as memory:
            assert memory.doctor().healthy


def test_doctor_repairs_damaged_files(saved: Path) -> None:
    _damaged(saved_files(saved)[0], "changed")
    with opened(saved) as memory:
        assert memory.doctor(repair=True).healthy
        assert memory.doctor().healthy


def restored_behind(place: Path, *, by: int) -> None:
    """Index a database, then put back a copy of it that is `by` documents older than its index files."""
    with opened(place) as memory:
        fill(memory, 0, 12)
    older = place.with_name("older.db")
    shutil.copy(place, older)
    with opened(place) as memory:
        fill(memory, 12, by)
        answers(memory)
    shutil.copy(older, place)


def test_an_older_copy_of_the_database_is_not_mixed_with_newer_files(place: Path) -> None:
    restored_behind(place, by=6)
    with opened(place) as memory:
        fill(memory, 30, 8)
    assert searched(place) == without_files(place)


def test_another_format_is_built_again(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_files, "FORMAT", index_files.FORMAT + 1)
    expected = without_files(saved)
    assert searched(saved) == expected
    with opened(saved) as memory:
        assert all(parts_in_files(memory))


def test_a_full_disk_costs_nothing_but_the_files(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> str:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(index_files, "write_arrays", full)
    with opened(place) as memory:
        fill(memory, 0, 12)
        assert answers(memory) == without_files(place)
        (check,) = (each for each in memory.doctor().checks if each.name == "index files")
        assert "No space left" in check.detail


def test_only_one_process_saves_at_a_time(place: Path) -> None:
    with index_files.locked(Path(f"{place}-index"), seconds=0.0) as mine:
        assert mine
        with opened(place) as memory:
            fill(memory, 0, 12)
            expected = answers(memory)
        assert not saved_files(place)
    assert searched(place) == expected
    assert saved_files(place)


_KILLED = """
import os, sys
import treering
from treering.adapters.sql import index_files, project_index
project_index.MIN_SAVED = 5
point, calls = sys.argv[2], [0]
def die(original):
    def called(*given, **named):
        calls[0] += 1
        if calls[0] == int(sys.argv[3]):
            os.kill(os.getpid(), 9)
        return original(*given, **named)
    return called
target, name = (index_files, "write_arrays") if point == "part" else (index_files.os, "replace")
setattr(target, name, die(getattr(target, name)))
memory = treering.open(sys.argv[1], project="p", background=False)
for number in range(200, 212):
    memory.remember(f"Crane {number} lifts {number} tons.", id=f"k{number}")
    memory.settle()
    memory.search("crane")
memory.close()
"""


@pytest.mark.parametrize(("point", "call"), [("part", 1), ("part", 2), ("manifest", 1), ("manifest", 2)])
def test_a_process_killed_while_it_saves_leaves_a_sound_index(saved: Path, point: str, call: int) -> None:
    command = [sys.executable, "-c", _KILLED, str(saved), point, str(call)]
    assert subprocess.run(command, check=False).returncode == -9
    assert searched(saved) == without_files(saved)
    with opened(saved) as memory:
        fill(memory, 300, 6)
        answers(memory)
        assert memory.doctor().healthy
    folder = saved_files(saved)[0].parent
    manifest = (folder / "manifest.json").read_text("utf-8")
    assert all(path.name in manifest for path in folder.glob("*.part")), "parts of the killed process are left"


def test_arrays_come_back_as_they_were(tmp_path: Path) -> None:
    arrays: dict[str, NDArray[Any]] = {
        "a": np.arange(7, dtype=np.int8),
        "b": np.ones((3, 5), np.float32),
        "c": np.empty(0, np.uint64),
    }
    checksum = write_arrays(tmp_path / "x.part", arrays)
    found = map_arrays(tmp_path / "x.part", checksum)
    assert all(np.array_equal(found[name], array) for name, array in arrays.items())
    with pytest.raises(DamagedArrays):
        map_arrays(tmp_path / "x.part", "another")


@given(st.lists(st.tuples(st.integers(0, 3), st.lists(st.integers(0, 255), min_size=1, max_size=600)), max_size=12))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_states_that_grow_from_the_same_arrays_never_change_each_other(steps: list[tuple[int, list[int]]]) -> None:
    start = GrowingArrays([np.empty(0, np.uint8)])
    states: list[tuple[GrowingArrays, np.ndarray, list[int]]] = [(start, np.empty(0, np.uint8), [])]
    for place, added in steps:
        growing, view, expected = states[min(place, len(states) - 1)]
        longer, (grown,) = growing.appended(len(view), [np.array(added, np.uint8)])
        states.append((longer, grown, expected + added))
    assert all(view.tolist() == expected for _, view, expected in states)


def test_a_deleted_memory_leaves_no_index(saved: Path) -> None:
    remove(saved)
    assert list(saved.parent.iterdir()) == []


def test_an_older_copy_a_few_documents_behind_is_noticed(place: Path) -> None:
    restored_behind(place, by=3)
    with opened(place) as memory:
        answers(memory)
        memory.remember("The anchor is in the blue shed.", id="anchor")
        memory.settle()
        assert memory.search("where is the anchor")[0].id == "anchor"
    assert searched(place) == without_files(place)


def test_a_reader_with_an_older_snapshot_hides_nothing(saved: Path) -> None:
    with opened(saved) as reader, opened(saved) as writer:
        with reader.store.reading(reader.scope, now()) as tx:
            tx.index.models()
            fill(writer, 20, 6)
            answers(writer)
            writer.close()
            tx.index.languages()
        assert answers(reader) == without_files(saved)


def test_a_hard_forget_during_a_save_leaves_nothing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(place) as memory:
        fill(memory, 0, 12)
    begun, forgotten, save = Event(), Event(), index_files.IndexFiles.save

    def slow(*given: Any) -> Any:
        begun.set()
        forgotten.wait(0.5)
        return save(*given)

    monkeypatch.setattr(index_files.IndexFiles, "save", slow)
    with opened(place) as other:
        shutil.rmtree(f"{place}-index", ignore_errors=True)
        other.search(QUERIES[0])
        assert begun.wait(10)
        with opened(place) as memory:
            memory.forget("k7", hard=True)
        forgotten.set()
        assert not saved_files(place)


def test_a_hard_forget_says_if_the_files_cannot_be_removed(saved: Path) -> None:
    settings = Settings.make(store={"busy_seconds": 0.1})
    with (
        index_files.locked(Path(f"{saved}-index"), seconds=0.0),
        treering.open(saved, project="p", background=False, settings=settings) as memory,
        pytest.raises(StoreUnavailable, match="search index"),
    ):
        memory.forget("k7", hard=True)
    with opened(saved) as memory:
        assert memory.doctor(repair=True).healthy
    check_removed(saved)


def test_a_failed_save_leaves_no_part_behind(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with opened(place) as memory:
        fill(memory, 0, 12)
        answers(memory)
    assert not saved_files(place)


def test_two_processes_do_not_write_each_others_parts_again(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []

    def write(path: Path, arrays: dict[str, NDArray[Any]]) -> str:
        written.append(len(arrays.get("number", ())))
        return write_arrays(path, arrays)

    monkeypatch.setattr(index_files, "write_arrays", write)
    with opened(place) as one, opened(place) as other:
        for round in range(8):
            fill(one, 10 * round, 5)
            answers(one)
            answers(other)
    assert sum(written) < 4 * 80


def test_a_child_forked_during_a_save_can_work(saved: Path) -> None:
    with opened(saved) as memory:
        fill(memory, 20, 6)
        memory.search(QUERIES[0])
        child = os.fork()
        if not child:
            code = 1
            try:
                code = 0 if memory.search(QUERIES[0]) else 2
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
        with index_files.locked(Path(f"{saved}-index"), seconds=5.0) as mine:
            assert mine
