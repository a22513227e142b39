"""Nobody waits for whoever indexes, and every answer says how far it can be relied on; on both engines."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from shutil import move, rmtree
from threading import Event
from typing import Any

import pytest

from tests.code_projects import code_of, fresh, stored, written
from treering.code.api import Code
from treering.code.graph import IndexStatus
from treering.code.index import indexer
from treering.code.index.report import IndexPhase, IndexProgress, IndexReport
from treering.core.errors import Conflict, InvalidInput, NotFound
from treering.memory import Memory

DEADLINE = 60
FILES = {
    "app/tokens.py": "def verify(token):\n    return decode(token)\n\n\ndef decode(token):\n    return token\n",
    "app/login.py": "from app.tokens import verify\n\n\ndef login(token):\n    return verify(token)\n",
    "app/__init__.py": "",
    "next.js/page.py": "from app.login import login\n\n\ndef page():\n    return login('x')\n",
}
QUESTIONS: dict[str, Callable[[Code], IndexStatus]] = {
    "find": lambda code: code.find("decode").status,
    "impact": lambda code: code.impact("decode").status,
    "dependencies": lambda code: code.dependencies("decode").status,
    "data_flow": lambda code: code.data_flow("decode").status,
    "path": lambda code: code.path("decode", "page.py").status,
    "entry_points": lambda code: code.entry_points().status,
    "cycles": lambda code: code.cycles().status,
    "module_map": lambda code: code.module_map().status,
    "related": lambda code: code.related("app/tokens.py").status,
    "unresolved": lambda code: code.unresolved("app/tokens.py").status,
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return written(tmp_path / "project", FILES)


@pytest.fixture
def code(memory: Memory) -> Code:
    return code_of(memory)


@contextmanager
def held_at(
    phase: IndexPhase, code: Code, root: Path
) -> Iterator["tuple[ThreadPoolExecutor, Future[IndexReport], Event]"]:
    """Somebody indexes in another thread, and goes no further than to this phase until they are let go."""
    began, go_on = Event(), Event()

    def tell(progress: IndexProgress) -> None:
        if progress.phase is phase:
            began.set()
            assert go_on.wait(DEADLINE)

    with ThreadPoolExecutor(4) as threads:
        indexing = threads.submit(code.index, root, on_progress=tell)
        try:
            assert began.wait(DEADLINE)
            yield threads, indexing, go_on
        finally:
            go_on.set()


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_query_does_not_wait_for_indexing_and_leaves_out_unread_files(code: Code, root: Path, question: str) -> None:
    code.index(root)
    written(root, {"app/login.py": "def login(): ...\n"})
    with held_at(IndexPhase.READING, code, root) as (threads, indexing, go_on):
        status = threads.submit(QUESTIONS[question], code).result(DEADLINE)
        assert status.stale == ("app/login.py",)
        assert "app/login.py::login" not in threads.submit(code.impact, "verify").result(DEADLINE).dependents.ids
        assert not indexing.done()
        go_on.set()
        assert indexing.result(DEADLINE).read == 1
    assert QUESTIONS[question](code).up_to_date


def test_a_first_run_is_known_before_anything_of_it_is_stored(memory: Memory, code: Code, root: Path) -> None:
    with held_at(IndexPhase.READING, code, root) as (threads, _, go_on):
        for asked in (code, code_of(memory)):
            assert threads.submit(asked.cycles).result(DEADLINE).status.incomplete
            with pytest.raises(NotFound, match="not complete"):
                threads.submit(asked.impact, "verify").result(DEADLINE)
            assert not asked.status().complete
        go_on.set()
    assert code.impact("verify").status.up_to_date


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_answer_reports_an_incomplete_index(
    memory: Memory, root: Path, question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    code_of(memory).index(root)
    monkeypatch.setattr("treering.code.live.current.reading_version", lambda: "newer")
    reader = code_of(memory)
    reader._current._roots.clear()
    assert QUESTIONS[question](reader).incomplete


def test_answers_are_sequences_and_a_way_that_is_none_is_false(code: Code, root: Path) -> None:
    code.index(root)
    assert not code.path("decode", "page.py")
    assert code.path("decode", "page.py").steps == ()
    assert code.path("next.js/page.py:page", "decode").ids[-1] == "app/tokens.py::decode"
    assert (len(code.cycles()), list(code.entry_points()), code.unresolved("app/tokens.py")[:1]) == (0, [], ())


def test_a_run_beside_another_run_reads_nothing(memory: Memory, code: Code, root: Path) -> None:
    phases: list[IndexPhase] = []
    clock = memory._parts.clock
    with memory.store.transaction(memory.scope, clock()) as tx:
        assert tx.code.take_lease("somebody", timedelta(minutes=1))
    with pytest.raises(Conflict, match=r"another process is indexing this project.*after \d\d:\d\d:\d\d UTC"):
        code.index(root, on_progress=lambda progress: phases.append(progress.phase))
    assert phases == [IndexPhase.LOOKING]


def test_a_run_without_changes_releases_the_lease(memory: Memory, code: Code, root: Path) -> None:
    for _ in range(3):
        code_of(memory, inline_files=0).index(root)
    with memory.store.reading(memory.scope, memory._parts.clock()) as tx:
        state = tx.code.state()
        assert state is not None
        assert state.lease is None


@pytest.mark.parametrize("told", ["app", "next.js", "app/tokens.py"])
def test_reported_files_are_stale_before_the_graph_is_loaded(memory: Memory, root: Path, told: str) -> None:
    code_of(memory).index(root)
    reader = code_of(memory)
    reader._current._watched = True
    reader._current.mark_changed({told})
    expected = tuple(sorted(path for path in FILES if path == told or path.startswith(f"{told}/")))
    assert reader.module_map().status.stale == expected


def test_a_reported_file_that_vanished_is_not_stale_after_reading(code: Code, root: Path) -> None:
    code.index(root)
    code._current.mark_changed({"app/passing.py", "app/.gitignore"})
    status = code.module_map().status
    assert (status.stale, status.incomplete) == ((), False)
    code._current._watched = True
    code._current.mark_changed({"app/passing.py", "app/.gitignore"})
    status = code.module_map().status
    assert (status.stale, status.incomplete) == (("app/passing.py",), True)
    code._current.catch_up(root, {"app/passing.py", "app/.gitignore"})
    assert code.module_map().status.up_to_date


def test_files_are_counted_once_however_often_they_are_read(
    memory: Memory, code: Code, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexer, "MAX_UNCHECKED_CHANGES", 0)
    code.index(root)
    written(root, {"app/tokens.py": "def verify(): ...\n", "new.py": "x = 1\n"})
    edits: list[Callable[[], Any]] = [
        (root / "app/login.py").unlink,
        (root / "new.py").unlink,
        lambda: written(root, {"app/tokens.py": "def decode(): ...\n"}),
    ]

    def edit(progress: IndexProgress) -> None:
        if progress.phase is IndexPhase.RESOLVING and edits:
            edits.pop()()

    done = code.index(root, on_progress=edit)
    assert done.complete
    assert (done.read, done.removed, done.unchanged) == (1, 1, 2)
    assert done.totals.files == 3


@pytest.mark.parametrize("again", ["app", "..", "other"])
def test_another_folder_does_not_take_a_projects_place_unasked(
    memory: Memory, code: Code, root: Path, again: str, tmp_path: Path
) -> None:
    written(tmp_path / "project/other", {"other.py": "def other(): ...\n"})
    root = tmp_path / "project"
    other = (root / again).resolve()
    if again == "other":
        other = Path(move(root / "other", tmp_path / "other"))
    else:
        rmtree(root / "other")
    code.index(root)
    with pytest.raises(InvalidInput, match=rf"{root}.*--replace.*replace=True"):
        code.index(other)
    with pytest.raises(InvalidInput, match="--replace"):
        code._current.catch_up(other, None)
    assert stored(memory) == fresh(FILES)
    done = code.index(other, replace=True)
    assert str(root) in " ".join(done.notes)
    assert code.status().root == str(other)
    assert code.index(other).notes == code.index(other).notes != done.notes


def test_a_folder_that_was_moved_is_still_the_project(memory: Memory, code: Code, root: Path, tmp_path: Path) -> None:
    code.index(root)
    moved = Path(move(root, tmp_path / "moved"))
    done = code_of(memory).index(moved)
    assert done.read == 0
    assert "no longer exists" in " ".join(done.notes)
    assert code_of(memory).status().root == str(moved)
    assert stored(memory) == fresh(FILES)


def test_a_run_that_lost_its_lease_writes_nothing(memory: Memory, code: Code, root: Path) -> None:
    code.index(root)
    written(root, {"app/login.py": "def login(): ...\n"})
    with held_at(IndexPhase.READING, code, root) as (_, indexing, go_on):
        with memory.store.transaction(memory.scope, memory._parts.clock()) as tx:
            tx.code.release_lease(code._project.owner)
            assert tx.code.take_lease("somebody", timedelta(minutes=1))
        go_on.set()
        with pytest.raises(Conflict):
            indexing.result(DEADLINE)
    assert stored(memory) == fresh(FILES)


def test_a_quick_look_is_soon_taken_again(memory: Memory, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However seldom a slow one would be."""
    moments = iter(range(0, 1_000_000, 2))
    monkeypatch.setattr("treering.code.live.current.monotonic", lambda: next(moments) / 1000)
    code = code_of(memory, look_seconds=3600)
    code.index(root)
    code.find("nothing")
    for _ in range(20):
        code.find("nothing")
    (root / "brand_new.py").write_text("def brand_new_name():\n    pass\n")
    for _ in range(20):
        code.find("nothing")
    assert code.find("brand_new_name").only == "brand_new.py::brand_new_name"


@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_say_that_the_folder_is_gone(code: Code, root: Path, question: str) -> None:
    code.index(root)
    assert QUESTIONS[question](code).notes == ()
    move(root, root.parent / "elsewhere")
    assert any("does not exist on this machine" in note for note in QUESTIONS[question](code).notes)
    assert "the folder does not exist on this machine" in code.status().notes
    move(root.parent / "elsewhere", root)
    assert QUESTIONS[question](code).notes == ()
