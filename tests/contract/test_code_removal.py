"""What was removed or replaced stays so, on both engines: whole, and whoever watches or counts meanwhile."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.code_projects import written
from tests.repositories import Work
from treering.adapters.sql.code_history import StoredHistory
from treering.code.history import stored_history as chronicle
from treering.code.history.co_access_seeds import co_access_edges
from treering.code.history.counts import CoChange
from treering.code.history.encoding import pack
from treering.core.co_access import CoAccessEdge
from treering.core.errors import InvalidInput, NotFound, StoreUnavailable, TreeringError
from treering.core.settings import CodeSettings, Settings
from treering.memory import Memory
from treering.ports.code_history import HistoryState

OpenMemory = Callable[..., Memory]
SOON = Settings(
    code=CodeSettings(debounce_ms=50, look_seconds=0.05),
)


@pytest.fixture(autouse=True)
def _commits_are_seen_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treering.code.api.COMMIT_SECONDS", 0.05)


@pytest.fixture
def work(tmp_path: Path) -> Work:
    place = Work(tmp_path / "place")
    place.commit("a.py", "b.py")
    place.commit("a.py", "b.py")
    return place


def root_of(memory: Memory) -> str:
    with memory.store.reading(memory.scope, memory._parts.clock()) as tx:
        state = tx.code.state()
    return "" if state is None else state.root


def history_of(memory: Memory) -> tuple[HistoryState | None, int]:
    """What is counted, and how many pairs came of it."""
    with memory.store.reading(memory.scope, memory._parts.clock()) as tx:
        return tx.code_history.state(), sum(edge.id.startswith("git-") for edge in tx.co_access.stream())


class Watching:
    """A watcher on a thread of its own, and how it ended."""

    def __init__(self, memory: Memory, root: Path) -> None:
        self.ended: TreeringError | None = None
        self.followed = threading.Event()
        self.stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, args=(memory, root))
        self._thread.start()

    def _watch(self, memory: Memory, root: Path) -> None:
        try:
            memory.code.watch(root, stop=self.stop, on_history=lambda _note: self.followed.set())
        except TreeringError as exc:
            self.ended = exc

    def end(self) -> TreeringError | None:
        """What it says when it ends by itself."""
        self._thread.join(60)
        assert not self._thread.is_alive()
        return self.ended


@contextmanager
def watching(memory: Memory, root: Path) -> Iterator[Watching]:
    watcher = Watching(memory, root)
    try:
        assert watcher.followed.wait(60)
        yield watcher
    finally:
        watcher.stop.set()
        watcher.end()


def test_a_failed_removal_removes_nothing_and_can_be_repeated(
    memory: Memory, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.code.index(work.root)
    before = history_of(memory)
    assert before[1] == 1

    def fails(_self: StoredHistory) -> None:
        raise StoreUnavailable("the server is gone")

    with monkeypatch.context() as patch:
        patch.setattr(StoredHistory, "clear", fails)
        with pytest.raises(StoreUnavailable):
            memory.code.forget()
    assert memory.code.status().root == str(work.root)
    assert history_of(memory) == before
    assert memory.code.forget().totals.files == 2
    assert history_of(memory) == (None, 0)
    with pytest.raises(NotFound, match="nothing to forget"):
        memory.code.forget()


def test_a_history_without_an_index_can_be_forgotten(memory: Memory) -> None:
    with memory.store.transaction(memory.scope, memory._parts.clock()) as tx:
        tx.code_history.put(HistoryState("/r", "", "v", {"main": "c"}), b"x")
    assert memory.code.forget().root == "/r"
    assert history_of(memory) == (None, 0)


def test_an_idle_watcher_ends_when_the_index_is_removed(open_memory: OpenMemory, work: Work) -> None:
    memory = open_memory(settings=SOON)
    with watching(memory, work.root) as watcher:
        open_memory().code.forget()
        ended = watcher.end()
    assert isinstance(ended, NotFound)
    assert "was removed" in str(ended)
    assert "treering index" in str(ended)
    assert root_of(memory) == ""
    assert history_of(memory) == (None, 0)


def test_a_watcher_does_not_rebuild_a_removed_index(open_memory: OpenMemory, work: Work) -> None:
    memory = open_memory(settings=SOON)
    with watching(memory, work.root) as watcher:
        open_memory().code.forget()
        work.commit("a.py", "b.py", "new.py")
        assert isinstance(watcher.end(), NotFound)
    assert root_of(memory) == ""
    assert history_of(memory) == (None, 0)


def test_an_idle_watcher_ends_when_another_folder_replaced_its_own(
    open_memory: OpenMemory, work: Work, tmp_path: Path
) -> None:
    memory, other = open_memory(settings=SOON), written(tmp_path / "other", {"c.py": "def c(): ...\n"})
    with watching(memory, work.root) as watcher:
        open_memory().code.index(other, replace=True)
        (other / "c.py").unlink()
        other.rmdir()
        ended = watcher.end()
    assert isinstance(ended, InvalidInput)
    assert f"was replaced by that of {other}" in str(ended)
    assert root_of(memory) == str(other)


def test_a_changed_file_is_not_added_to_the_index_of_another_folder(open_memory: OpenMemory, work: Work) -> None:
    memory = open_memory()
    memory.code._current.catch_up(work.root, None)
    open_memory().code.forget()
    with pytest.raises(NotFound, match="was removed"):
        memory.code._current.catch_up(work.root, {"a.py"})
    assert root_of(memory) == ""


def test_a_history_counted_during_the_removal_is_not_stored(
    open_memory: OpenMemory, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory()
    memory.code.index(work.root, history=False)

    def forgotten_meanwhile(counts: CoChange, inside: str) -> list[CoAccessEdge]:
        open_memory().code.forget()
        return co_access_edges(counts, inside)

    monkeypatch.setattr(chronicle, "co_access_edges", forgotten_meanwhile)
    with pytest.raises(NotFound, match="was removed"):
        memory.code._history.seed(work.root)
    assert history_of(memory) == (None, 0)


def test_a_question_that_counts_while_the_index_is_forgotten_stores_nothing(
    open_memory: OpenMemory, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory()
    memory.code.index(work.root, history=False)

    def forgotten_meanwhile(counts: CoChange) -> bytes:
        open_memory().code.forget()
        return pack(counts)

    monkeypatch.setattr(chronicle, "pack", forgotten_meanwhile)
    assert memory.code._history.counts_at(work.root) is not None
    assert history_of(memory) == (None, 0)


def test_a_new_run_rebuilds_a_removed_index(memory: Memory, work: Work) -> None:
    memory.code.index(work.root)
    memory.code.forget()
    memory.code.index(work.root)
    assert root_of(memory) == str(work.root)
    assert history_of(memory)[1] == 1
