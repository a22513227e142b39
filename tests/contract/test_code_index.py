"""The stored code graph, on both engines: who may write, what is kept, what leaves with it."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest

from tests.conftest import OpenMemory
from treering.core.errors import Conflict
from treering.memory import Memory
from treering.ports.code import CodeIndex, CodeTotals, FileContents, FileDependency, FileFacts, ReadFile, ResolvedFile

NOW = datetime(2026, 5, 8, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@contextmanager
def writing(memory: Memory, at: datetime = NOW) -> Iterator[CodeIndex]:
    with memory.store.transaction(memory.scope, at) as tx:
        yield tx.code


@contextmanager
def reading(memory: Memory) -> Iterator[CodeIndex]:
    with memory.store.reading(memory.scope, NOW) as tx:
        yield tx.code


def read(path: str, **fields: object) -> ReadFile:
    given = {"language": "python", "digest": f"digest of {path}", "stamp": "1:2:3", "read_at": 4, **fields}
    return ReadFile(path, **given)  # type: ignore[arg-type]


def resolved(path: str, **ties: float) -> ResolvedFile:
    named = {f"{name}.py": weight for name, weight in ties.items()}
    return ResolvedFile(path, b"edges of " + path.encode(), b"unknown", b"12345678", 7, 2, named)


def describe(index: CodeIndex, owner: str = "me", seen: int = 0, **fields: object) -> int:
    return index.describe(owner, seen=seen, **{"root": "/r", "version": "v", "complete": True, **fields})  # type: ignore[arg-type]


def filled(memory: Memory) -> None:
    with writing(memory) as index:
        assert index.take_lease("me", MINUTE)
        generation = describe(index)
        index.put([read("a.py", defined=3, problems=1, facts=b"facts", given=b"87654321"), read("b.py")], generation)
        index.put([read("c.min.py", skipped="generated")], generation)
        index.resolve([resolved("a.py", b=0.9), resolved("b.py", a=0.5, d=0.3)], generation)


def test_nothing_is_there_before_anything_was_indexed(memory: Memory) -> None:
    with reading(memory) as index:
        assert index.state() is None
        assert index.totals() == CodeTotals()
        assert list(index.contents()) == list(index.listed()) == list(index.keys()) == []


def test_stored_files_are_read_back(memory: Memory) -> None:
    filled(memory)
    with reading(memory) as index:
        state = index.state()
        assert state is not None
        assert (state.root, state.version, state.complete, state.generation) == ("/r", "v", True, 1)
        listed = {file.path: file for file in index.listed()}
        assert set(listed) == {"a.py", "b.py", "c.min.py"}
        assert (listed["a.py"].digest, listed["a.py"].stamp, listed["a.py"].read_at) == ("digest of a.py", "1:2:3", 4)
        assert (listed["a.py"].resolved, listed["a.py"].defined, listed["a.py"].used) == (True, 3, 7)
        assert listed["c.min.py"].skipped == "generated"
        assert index.facts(["a.py", "nowhere.py"]) == {"a.py": FileFacts(b"87654321", b"facts")}
        assert index.unresolved(["b.py"]) == {"b.py": b"unknown"}
        assert {(file.path, file.given, file.asked) for file in index.keys()} == {  # noqa: SIM118 - no mapping
            ("a.py", b"87654321", b"12345678"),
            ("b.py", b"", b"12345678"),
        }
        assert sorted(index.contents(), key=lambda file: file.path) == [
            FileContents("a.py", True, b"", b"edges of a.py", b""),
            FileContents("b.py", True, b"", b"edges of b.py", b""),
        ]
        assert [file.path for file in index.contents(["b.py", "c.min.py"])] == ["b.py"]
        assert index.totals() == CodeTotals(2, 3, 14, 4, 1, {"python": 2}, 0)


def test_ties_are_found_from_both_ends(memory: Memory) -> None:
    filled(memory)
    with reading(memory) as index:
        assert index.ties(["a.py"], limit=9) == [
            FileDependency("a.py", "b.py", 0.9),
            FileDependency("b.py", "a.py", 0.5),
        ]
        assert index.ties(["d.py"], limit=9) == [FileDependency("b.py", "d.py", 0.3)]
        assert index.ties(["a.py"], limit=1) == [FileDependency("a.py", "b.py", 0.9)]


def test_storing_a_file_again_replaces_everything(memory: Memory) -> None:
    filled(memory)
    with writing(memory) as index:
        generation = describe(index, seen=1)
        index.add_further({"b.py": b"from elsewhere"}, generation)
        index.put([read("a.py", facts=b"new")], generation)
    with reading(memory) as index:
        contents = {file.path: file for file in index.contents()}
        assert contents["a.py"] == FileContents("a.py", False, b"", b"", b"")
        assert contents["b.py"].further == b"from elsewhere"
        assert index.facts(["a.py"]) == {"a.py": FileFacts(b"", b"new")}
        assert index.ties(["a.py"], limit=9) == [FileDependency("b.py", "a.py", 0.5)]
        assert index.totals().waiting == 1
        assert index.generations() == {"a.py": 2, "b.py": 2, "c.min.py": 1}
        assert index.generations(after=1) == {"a.py": 2, "b.py": 2}
        assert index.count() == 3


def test_a_file_that_waits_has_no_edges(memory: Memory) -> None:
    filled(memory)
    with writing(memory) as index:
        index.unresolve(["a.py"], describe(index, seen=1))
    with reading(memory) as index:
        waiting = next(file for file in index.contents(["a.py"]))
        assert (waiting.resolved, waiting.edges) == (False, b"")
        assert index.ties(["b.py"], limit=9) == [
            FileDependency("b.py", "a.py", 0.5),
            FileDependency("b.py", "d.py", 0.3),
        ]


def test_touching_changes_the_stamp_alone(memory: Memory) -> None:
    filled(memory)
    with writing(memory) as index:
        index.touch([("a.py", "9:9:9", 99)])
    with reading(memory) as index:
        touched = {file.path: file for file in index.listed()}["a.py"]
        assert (touched.stamp, touched.read_at, touched.resolved, touched.generation) == ("9:9:9", 99, True, 1)


def test_removed_files_leave_nothing_behind(memory: Memory) -> None:
    filled(memory)
    with writing(memory) as index:
        index.remove(["a.py"])
    with reading(memory) as index:
        assert {file.path for file in index.listed()} == {"b.py", "c.min.py"}
        assert index.facts(["a.py"]) == index.unresolved(["a.py"]) == {}
        assert index.ties(["a.py"], limit=9) == [FileDependency("b.py", "a.py", 0.5)]
    with writing(memory) as index:
        index.clear()
    with reading(memory) as index:
        assert (list(index.listed()), list(index.keys()), index.ties(["a.py"], limit=9)) == ([], [], [])


def test_many_files_are_written_and_removed(memory: Memory) -> None:
    paths = [f"f{number}.py" for number in range(1_203)]
    with writing(memory) as index:
        index.take_lease("me", MINUTE)
        generation = describe(index)
        index.put([read(path) for path in paths], generation)
        index.resolve([resolved(path, x=0.5) for path in paths], generation)
    with writing(memory) as index:
        index.remove(paths[1:])
    with reading(memory) as index:
        assert [file.path for file in index.contents()] == ["f0.py"]
        assert len(index.ties(["x.py"], limit=9)) == 1


def test_one_writes_at_a_time(memory: Memory) -> None:
    with writing(memory) as index:
        assert index.take_lease("me", MINUTE)
        assert index.take_lease("me", MINUTE)
    with writing(memory, NOW + MINUTE / 2) as index:
        assert not index.take_lease("you", MINUTE)
        with pytest.raises(Conflict, match="another process"):
            describe(index, owner="you")
    with writing(memory) as index:
        index.release_lease("you")
        assert not index.take_lease("you", MINUTE)
        index.release_lease("me")
        assert index.take_lease("you", MINUTE)


def test_a_lease_that_ran_out_is_free(memory: Memory) -> None:
    with writing(memory) as index:
        index.take_lease("me", MINUTE)
    with writing(memory, NOW + 2 * MINUTE) as index:
        assert index.take_lease("you", MINUTE)
        with pytest.raises(Conflict):
            describe(index, owner="me")


def test_a_lease_that_a_clock_far_ahead_took_is_free(memory: Memory) -> None:
    with writing(memory, NOW + timedelta(days=400)) as index:
        index.take_lease("me", MINUTE)
    with writing(memory) as index:
        assert index.take_lease("you", MINUTE)


def test_a_writer_with_an_older_generation_is_rejected(memory: Memory) -> None:
    filled(memory)
    with writing(memory) as index, pytest.raises(Conflict):
        describe(index, seen=0)
    with reading(memory) as index:
        state = index.state()
        assert state is not None
        assert state.generation == 1


def test_projects_and_tenants_do_not_see_each_other(open_memory: OpenMemory) -> None:
    filled(open_memory())
    for other in (open_memory(project="other"), open_memory(tenant="somebody-else")):
        with reading(other) as index:
            assert index.state() is None
            assert (list(index.listed()), list(index.keys()), index.ties(["a.py"], limit=9)) == ([], [], [])
        filled(other)
        with writing(other) as index:
            index.clear()
    with reading(open_memory()) as index:
        assert len(index.listed()) == 3
