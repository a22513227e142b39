"""How the code index stands, as status, stats and doctor tell it; and how it is taken away. On both engines."""

import subprocess
from datetime import timedelta
from pathlib import Path

import pytest

from tests.code_projects import code_of, written
from tests.conftest import OpenMemory
from treering.code.api import Code
from treering.core.errors import Conflict, NotFound, Unreadable
from treering.core.queries import CoAccessFilter
from treering.memory import Memory
from treering.ports.code import ResolvedFile
from treering.ports.store import Check

FILES = {
    "app/tokens.py": "def verify(token):\n    return decode(token)\n\n\ndef decode(token):\n    return token\n",
    "app/login.py": "from app.tokens import verify\n\n\ndef login(token):\n    return verify(token)\n",
    "app/__init__.py": "",
}
HOUR = timedelta(hours=1)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return written(tmp_path / "project", FILES)


@pytest.fixture
def code(memory: Memory) -> Code:
    return code_of(memory)


def check(memory: Memory) -> Check:
    (found,) = (each for each in memory.doctor().checks if each.name == "code")
    return found


def described(memory: Memory, code: Code, **fields: object) -> None:
    """The stored state, but for these."""
    desk = code._project
    with desk.writing() as index:
        state = index.state()
        assert state is not None
        known = {"root": state.root, "version": state.version, "complete": state.complete, "report": state.report}
        index.describe(desk.owner, seen=state.generation, **{**known, **fields})  # type: ignore[arg-type]
        index.release_lease(desk.owner)


def test_a_memory_without_an_index_reports_none(memory: Memory, code: Code) -> None:
    assert [each for each in memory.doctor().checks if each.name == "code"] == []
    assert memory.stats().code == {}
    with pytest.raises(NotFound, match="treering index"):
        code.status()


def test_a_complete_index_is_reported_with_its_counts(memory: Memory, code: Code, root: Path) -> None:
    done = code.index(root)
    found = code.status()
    assert (found.root, found.complete, found.current, found.outdated, found.writer) == (
        str(root),
        True,
        True,
        False,
        "",
    )
    assert found.totals == done.totals
    assert memory.stats().code == found.to_document()
    told = check(memory)
    assert (told.fine, told.advice) == (True, "")
    assert told.detail == f"{root}: 3 files, 3 definitions, {done.totals.edges} edges"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"complete": False}, ("not complete", "to continue")),
        ({"version": "of another day"}, ("read by another version", "read all files again")),
        ({"root": "/nowhere/at/all"}, ("/nowhere/at/all", "--forget")),
    ],
)
def test_unfinished_work_comes_with_advice(
    memory: Memory, code: Code, root: Path, fields: dict[str, object], said: tuple[str, str]
) -> None:
    code.index(root)
    described(memory, code, **fields)
    told = check(memory)
    assert told.fine
    assert said[0] in told.detail
    assert said[1] in told.advice


def test_unresolved_files_are_counted(memory: Memory, code: Code, root: Path) -> None:
    code.index(root)
    desk = code._project
    with desk.writing() as index:
        state = index.state()
        assert state is not None
        generation = index.describe(
            desk.owner, seen=state.generation, root=state.root, version=state.version, complete=True
        )
        index.unresolve(["app/login.py"], generation)
        index.release_lease(desk.owner)
    assert (code.status().totals.waiting, code.status().current) == (1, False)
    assert "1 file not resolved yet" in check(memory).detail
    assert "to continue" in check(memory).advice


def test_the_current_writer_is_named_and_not_interrupted(memory: Memory, code: Code, root: Path) -> None:
    code.index(root)
    described(memory, code, complete=False)
    other = code_of(memory)._project
    with memory.store.transaction(memory.scope, memory._parts.clock()) as tx:
        assert tx.code.take_lease(other.owner, HOUR)
    assert code.status().writer.startswith("process ")
    assert (check(memory).advice, "is indexing" in check(memory).detail) == ("", True)
    with pytest.raises(Conflict, match="is indexing this project"):
        code.forget()
    assert code.status().totals.files == 3


def test_a_forgotten_index_leaves_memories_alone(memory: Memory, code: Code, root: Path) -> None:
    kept = memory.remember("Tokens are opaque", files=["app/tokens.py"])
    before = code.index(root).totals
    holder = code_of(memory)
    assert holder.impact("decode").total
    gone = code.forget()
    assert (gone.root, gone.totals) == (str(root), before)
    for each in (code, holder):
        with pytest.raises(NotFound, match="treering index"):
            each.status()
        with pytest.raises(NotFound, match="no code is indexed"):
            each.impact("decode")
    with pytest.raises(NotFound, match="nothing to forget"):
        code.forget()
    with memory.store.reading(memory.scope, memory._parts.clock()) as tx:
        assert list(tx.code.listed()) == list(tx.code.contents()) == list(tx.code.keys()) == []
        assert list(tx.code.ties(["app/tokens.py"], limit=9)) == []
        assert list(tx.chunks.every()) == []
    assert memory.stats().code == {}
    assert memory.get(kept.id).id == kept.id


def test_a_removed_index_can_be_built_again(memory: Memory, code: Code, root: Path) -> None:
    code.index(root)
    holder = code_of(memory)
    assert holder.impact("decode").total == 2
    code.forget()
    written(root, {"app/login.py": "def login(token):\n    return token\n"})
    code.index(root)
    assert [code.impact("decode").total, holder.impact("decode").total] == [1, 1]


def test_counts_of_the_history_are_removed_with_the_index(open_memory: OpenMemory, tmp_path: Path) -> None:
    root = written(tmp_path / "repository", FILES)
    for number in range(3):
        written(root, {path: f"{text}# {number}\n" for path, text in FILES.items()})
        for command in (["init", "-q"], ["add", "."], ["commit", "-qm", f"change {number}"]):
            named = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
            subprocess.run(["git", *named, *command], cwd=root, check=True, capture_output=True)
    memory = open_memory(repository=root)
    memory.code.index()

    def seeds() -> int:
        with memory.store.reading(memory.scope, memory._parts.clock()) as tx:
            return tx.co_access.count(CoAccessFilter())

    assert seeds()
    memory.code.forget()
    assert not seeds()
    memory.code.index()
    assert seeds()


def test_a_damaged_index_is_reported_and_rebuilt(memory: Memory, code: Code, root: Path) -> None:
    code.index(root)
    with code._project.writing() as index:
        state = index.state()
        assert state is not None
        generation = index.describe(
            code._project.owner, seen=state.generation, root=state.root, version=state.version, complete=True
        )
        index.resolve([ResolvedFile("app/login.py", b"\x00\xff", b"", b"", 1, 0)], generation)
        index.release_lease(code._project.owner)
    found = check(memory)
    assert not found.fine
    assert "treering index --forget" in found.detail
    with pytest.raises(Unreadable, match="treering index --forget"):
        code_of(memory).impact("decode")
    code.forget()
    code.index(root)
    assert check(memory).fine


def test_other_chunk_settings_split_the_files_again(memory: Memory, code: Code, root: Path) -> None:
    code.index(root)
    smaller = code_of(memory, chunks={"most_bytes": 200, "joined_bytes": 0})
    assert smaller.status().outdated
    assert smaller.index(root).read == len(FILES)
    assert [place.symbol for place in smaller.where("decode").locations][:1] == ["decode"]
