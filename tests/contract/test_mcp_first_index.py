"""The first question about code has it read: once, in the background, and only where there is a repository."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.code_projects import code_of, written
from tests.conftest import OpenMemory
from tests.served import agent_of, desk_of
from tests.served_table import CODE, repository
from treering.code.index.report import IndexPhase, IndexProgress
from treering.core.errors import Conflict, StoreUnavailable
from treering.core.settings import Settings
from treering.interfaces.mcp.first_index import FirstIndex
from treering.memory import Memory

AT_ONCE = Settings.make(agents={"index_wait_seconds": 0})
Patch = pytest.MonkeyPatch


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return repository(tmp_path / "shop")


def _readers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "first-index"]


class Held:
    """Stands for `index` until it is let go; how often it was begun, and how far it came."""

    def __init__(self, index: Callable[..., Any]) -> None:
        self._index = index
        self.begun, self.reported = 0, threading.Event()
        self.go = threading.Event()

    def __call__(self, path: Path, *, on_progress: Callable[[IndexProgress], None]) -> Any:
        self.begun += 1
        while not self.go.wait(0.01):
            on_progress(IndexProgress(IndexPhase.READING, 3, 7))
            self.reported.set()
        return self._index(path, on_progress=on_progress)


@pytest.fixture
def held(memory: Memory, monkeypatch: Patch) -> Held:
    found = Held(memory.code.index)
    monkeypatch.setattr(memory.code, "index", found)
    return found


def test_the_first_question_reads_the_repository_and_is_answered(memory: Memory, root: Path) -> None:
    with agent_of(memory, repository=root) as agent:
        assert memory.stats().code == {}
        assert any(each["test"] for each in agent.call("analyze_impact", node="save")["dependents"])
        assert memory.stats().code["complete"]
    assert not _readers()


def test_a_folder_that_is_no_repository_is_not_read(memory: Memory, tmp_path: Path) -> None:
    written(tmp_path / "home", CODE)
    with agent_of(memory) as agent:
        for tool, given in (("analyze_impact", {"node": "save"}), ("related_files", {"path": "shop/db.py"})):
            assert "not a git repository; run `treering index FOLDER`" in agent.refused(tool, **given)
    assert memory.stats().code == {}
    assert not _readers()


def test_a_folder_that_somebody_indexed_is_asked_without_being_a_repository(memory: Memory, tmp_path: Path) -> None:
    memory.code.index(written(tmp_path / "home", CODE))
    with agent_of(memory) as agent:
        found = agent.call("analyze_impact", node="save")
        assert (found["total"], 0 < found["score"] < 2) == (2, True)


def test_who_cannot_wait_hears_how_far_it_is(open_memory: OpenMemory, root: Path, monkeypatch: Patch) -> None:
    memory = open_memory(settings=AT_ONCE)
    held = Held(memory.code.index)
    monkeypatch.setattr(memory.code, "index", held)
    with agent_of(memory, repository=root) as agent:
        agent.refused("analyze_impact", node="save")
        held.reported.wait(10)
        told = agent.refused("analyze_impact", node="save")
        assert "first time" in told
        assert "3 of 7" in told
        assert "ask again" in told
        held.go.set()
        for reader in _readers():
            reader.join(30)
        assert agent.call("analyze_impact", node="save")["total"] == 2
    assert held.begun == 1


def test_two_questions_at_once_start_one_reading(memory: Memory, root: Path, held: Held) -> None:
    with agent_of(memory, repository=root) as agent, ThreadPoolExecutor(2) as both:
        asked = [both.submit(agent.call, "analyze_impact", node=node) for node in ("save", "checkout")]
        assert held.reported.wait(10)
        held.go.set()
        assert [answer.result()["total"] for answer in asked] == [2, 1]
    assert held.begun == 1


def test_closing_stops_it_in_the_middle(open_memory: OpenMemory, root: Path, monkeypatch: Patch) -> None:
    memory = open_memory(settings=AT_ONCE)
    held = Held(memory.code.index)
    monkeypatch.setattr(memory.code, "index", held)
    first = FirstIndex(root)
    with pytest.raises(Conflict):
        first.code(memory)
    assert held.reported.wait(10)
    first.stop()
    first.join(10)
    assert not _readers()
    assert memory.stats().code == {}
    with pytest.raises(StoreUnavailable, match="closing"):
        first.code(memory)


def test_a_server_that_closes_waits_for_no_repository(memory: Memory, root: Path, held: Held) -> None:
    desk = desk_of(memory, repository=root)

    def ask() -> object:
        with desk.call() as call:
            return call.code

    with ThreadPoolExecutor(1) as asking:
        waiting = asking.submit(ask)
        assert held.reported.wait(10)
        desk.close()
        with pytest.raises(StoreUnavailable, match="closing"):
            waiting.result(10)
    assert not _readers()


def test_what_another_process_is_reading_is_waited_for(memory: Memory, root: Path) -> None:
    other = code_of(memory)
    with other._project.writing():
        pass
    with agent_of(memory, repository=root) as agent:
        told = agent.refused("analyze_impact", node="save")
        assert "is indexing this project; try again" in told
        other._project.release_lease()
        other.index(root)
        assert agent.call("analyze_impact", node="save")["total"] == 2


def test_what_goes_wrong_is_told_to_all_and_tried_again(memory: Memory, root: Path, monkeypatch: Patch) -> None:
    def broken(_path: Path, **_options: object) -> None:
        raise RuntimeError("the disk speaks French")

    with agent_of(memory, repository=root) as agent:
        with monkeypatch.context() as patched:
            patched.setattr(memory.code, "index", broken)
            for _ in range(2):
                assert "unexpected RuntimeError" in agent.refused("analyze_impact", node="save")
        assert agent.call("analyze_impact", node="save")["total"] == 2


def test_what_could_not_be_read_wholly_is_asked_nonetheless(memory: Memory, root: Path, monkeypatch: Patch) -> None:
    status = memory.code.status
    monkeypatch.setattr(memory.code, "status", lambda: replace(status(), complete=False))
    with agent_of(memory, repository=root) as agent:
        assert agent.call("analyze_impact", node="save")["total"] == 2
        assert agent.call("analyze_impact", node="checkout")["total"] == 1
