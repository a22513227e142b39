"""What git's history says, through `memory.code` on both engines: read once, followed, and taken back."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.repositories import Work
from treering.adapters.git.commits import GitCommits
from treering.code.limits import HistoryLimits
from treering.core.co_access import CoAccessEdge
from treering.core.errors import NotFound, RepositoryUnavailable
from treering.core.settings import CodeSettings, Settings
from treering.memory import Memory

SOON = Settings(code=CodeSettings(debounce_ms=50))
LEARNED = CoAccessEdge(
    id="learned", first="a.py", second="b.py", weight=0.4, last_seen_at=datetime(2026, 1, 1, tzinfo=UTC)
)


@pytest.fixture(autouse=True)
def _commits_are_seen_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treering.code.api.COMMIT_SECONDS", 0.05)


@pytest.fixture
def work(tmp_path: Path) -> Work:
    place = Work(tmp_path / "place")
    place.commit("a.py", "b.py", "c.py")
    place.commit("a.py", "b.py")
    return place


def edges(memory: Memory) -> dict[str, CoAccessEdge]:
    with memory.store.reading(memory.scope, memory._parts.clock()) as tx:
        return {edge.id: edge for edge in tx.co_access.stream()}


def seeds(memory: Memory) -> set[tuple[str, str]]:
    return {(edge.first, edge.second) for id, edge in edges(memory).items() if id.startswith("git-")}


def related(memory: Memory, path: str) -> dict[str, int]:
    return {each.path: each.together for each in memory.code.related(path).related}


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The commits that were known each time a history was read."""
    asked: list[tuple[str, ...]] = []
    commits = GitCommits.commits

    def noting(self: GitCommits, head: str, seen: tuple[str, ...] = ()) -> object:
        asked.append(tuple(seen))
        return commits(self, head, seen)

    monkeypatch.setattr(GitCommits, "commits", noting)
    return asked


def test_an_unchanged_head_costs_no_look_at_the_history(
    open_memory: Callable[..., Memory], work: Work, reads: list[tuple[str, ...]]
) -> None:
    first = open_memory()
    assert "history: 1 pair of files that change together" in first.code.index(work.root).notes
    assert related(first, "a.py")["b.py"] == 2
    another = open_memory()
    assert not another.code.index(work.root).notes
    assert related(another, "a.py")["b.py"] == 2
    assert reads == [()]


def test_commits_of_impossible_times_are_followed_as_all_are(open_memory: Callable[..., Memory], work: Work) -> None:
    work.commit_again_at("99999999999999")
    assert "history: 1 pair of files that change together" in open_memory().code.index(work.root).notes
    work.commit("a.py", "b.py")
    work.commit_again_at("99999999999999999999")
    memory = open_memory()
    memory.code.index(work.root)
    assert related(memory, "a.py")["b.py"] == 3
    assert seeds(memory) == {("a.py", "b.py")}


def test_only_new_commits_are_read(
    open_memory: Callable[..., Memory], work: Work, reads: list[tuple[str, ...]]
) -> None:
    open_memory().code.index(work.root)
    head = work.git("rev-parse", "HEAD")
    work.commit("a.py", "c.py")
    another = open_memory()
    another.code.index(work.root)
    assert reads == [(), (head,)]
    assert related(another, "a.py") == {"b.py": 2, "c.py": 2}
    assert seeds(another) == {("a.py", "b.py"), ("a.py", "c.py")}
    work.commit("b.py", "c.py")
    assert related(another, "c.py") == {"a.py": 2, "b.py": 2}
    assert related(open_memory(), "c.py") == {"a.py": 2, "b.py": 2}
    assert len(reads) == 3


def test_seeds_that_no_longer_follow_leave_and_learned_edges_stay(memory: Memory, work: Work) -> None:
    with memory.store.transaction(memory.scope, memory._parts.clock()) as tx:
        tx.co_access.put_many([LEARNED])
    memory.code.index(work.root)
    assert seeds(memory) == {("a.py", "b.py")}
    work.git("mv", "a.py", "moved.py")
    work.commit()
    memory.code.index(work.root)
    assert seeds(memory) == {("b.py", "moved.py")}
    (work.root / "moved.py").unlink()
    work.commit()
    assert "history: 0 pairs of files that change together" in memory.code.index(work.root).notes
    assert edges(memory) == {LEARNED.id: LEARNED}


def test_test_files_that_changed_with_the_file_come_first(memory: Memory, work: Work) -> None:
    for name in ("test_one.py", "test_two.py"):
        (work.root / name).write_text("from a import run\n\n\ndef test_run():\n    run()\n")
    for number in range(2):
        (work.root / "a.py").write_text(f"def run():\n    return {number}\n")
        with (work.root / "test_two.py").open("a") as file:
            file.write(f"# {number}\n")
        work.commit()
    memory.code.index(work.root, history=False)
    assert [file.path for file in memory.code.impact("run").test_files] == ["test_one.py", "test_two.py"]
    memory.code.index(work.root)
    assert [file.path for file in memory.code.impact("run").test_files] == ["test_two.py", "test_one.py"]


def test_files_of_another_branch_are_no_relatives(memory: Memory, work: Work) -> None:
    work.git("checkout", "-q", "-b", "wild")
    work.commit("a.py", "wild.py")
    work.commit("a.py", "wild.py")
    memory.code.index(work.root)
    assert "wild.py" in related(memory, "a.py")
    work.git("checkout", "-q", "main")
    memory.code.index(work.root)
    assert related(memory, "a.py").keys() == {"b.py", "c.py"}


def test_a_file_yet_to_be_written_has_relatives(memory: Memory, work: Work) -> None:
    memory.code.index(work.root)
    found = memory.code.related("test_a.py")
    assert (found.path, found.related[0].path, found.status.guessed) == ("test_a.py", "a.py", ())


def test_a_repository_without_commits_has_no_common_commits(memory: Memory, tmp_path: Path) -> None:
    empty = Work(tmp_path / "empty")
    for name in ("a.py", "test_a.py"):
        (empty.root / name).write_text("")
    memory.code.index(empty.root)
    found = memory.code.related("a.py")
    assert found.without_history
    assert [(each.path, each.reasons) for each in found.related] == [
        ("test_a.py", ("named alike", "same folder", "path alike"))
    ]
    with pytest.raises(NotFound, match=r"no file 'missing\.py'"):
        memory.code.related("missing.py")


def test_pairs_that_fade_leave(open_memory: Callable[..., Memory], work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treering.code.api.HISTORY_LIMITS", HistoryLimits(half_life=1, least_weight=0.3))
    memory = open_memory()
    memory.code.index(work.root)
    assert seeds(memory) == {("a.py", "b.py")}
    for _ in range(3):
        work.commit("c.py")
    memory.code.index(work.root)
    assert seeds(memory) == set()


def test_a_rewritten_history_is_recounted(memory: Memory, work: Work, reads: list[tuple[str, ...]]) -> None:
    memory.code.index(work.root)
    work.git("reset", "-q", "--hard", "HEAD~1")
    work.commit("a.py", "c.py")
    memory.code.index(work.root)
    assert reads == [(), ()]
    assert seeds(memory) == {("a.py", "c.py")}
    assert related(memory, "a.py") == {"b.py": 1, "c.py": 2}


def test_another_root_of_the_same_commit_is_another_project(memory: Memory, work: Work) -> None:
    work.commit("pkg/x.py", "pkg/y.py", "a.py")
    work.commit("pkg/x.py", "pkg/y.py", "a.py")
    memory.code.index(work.root)
    assert ("pkg/x.py", "pkg/y.py") in seeds(memory)
    memory.code.index(work.root / "pkg", replace=True)
    assert seeds(memory) == {("x.py", "y.py")}
    assert related(memory, "x.py") == {"y.py": 2}


def test_other_settings_cause_a_recount(
    open_memory: Callable[..., Memory], work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_memory().code.index(work.root)
    monkeypatch.setattr("treering.code.api.HISTORY_LIMITS", HistoryLimits(least_together=1))
    memory = open_memory()
    memory.code.index(work.root)
    assert seeds(memory) == {("a.py", "b.py"), ("a.py", "c.py"), ("b.py", "c.py")}


def test_without_history_nothing_is_seeded_though_questions_count(memory: Memory, work: Work) -> None:
    memory.code.index(work.root, history=False)
    assert related(memory, "a.py")["b.py"] == 2
    assert seeds(memory) == set()
    memory.code.index(work.root)
    assert seeds(memory) == {("a.py", "b.py")}


def test_a_history_that_cannot_be_read_leaves_everything_as_it_was(
    memory: Memory, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.code.index(work.root)
    before = seeds(memory), related(memory, "a.py")

    @contextmanager
    def broken(self: GitCommits, head: str, seen: tuple[str, ...] = ()) -> Iterator[Iterator[object]]:
        with commits(self, head, seen) as read:
            yield iter(_ending(read))

    def _ending(read: Iterator[object]) -> Iterator[object]:
        yield next(read)
        raise RepositoryUnavailable("the history cannot be read to its end")

    commits = GitCommits.commits
    work.commit("a.py", "c.py")
    work.commit("a.py", "c.py")
    with monkeypatch.context() as patched:
        patched.setattr(GitCommits, "commits", broken)
        assert any("no history: " in note for note in memory.code.index(work.root).notes)
        assert memory.code.related("a.py").without_history
        assert seeds(memory) == before[0]
    memory.code.index(work.root)
    assert related(memory, "a.py") == {"b.py": 2, "c.py": 3}


def test_counts_answer_where_the_repository_is_not(memory: Memory, work: Work) -> None:
    assert memory.code._history.counts_at(None) is None
    memory.code.index(work.root)
    told = memory.code._history.counts_at(None)
    assert told is not None
    assert told.counts.number("a.py") is not None


def test_forgetting_the_index_takes_the_history_along(memory: Memory, work: Work) -> None:
    memory.code.index(work.root)
    memory.code.forget()
    assert seeds(memory) == set()
    assert memory.code._history.counts_at(None) is None


def test_a_folder_without_git_is_noted_in_one_line(memory: Memory, tmp_path: Path) -> None:
    place = tmp_path / "plain"
    place.mkdir()
    (place / "a.py").write_text("")
    notes = memory.code.index(place).notes
    assert [note for note in notes if "history" in note] == [
        f"no history: {place} is not a git repository; run `git init` there, or work without history"
    ]


@contextmanager
def watching(memory: Memory, root: Path, **options: Any) -> Iterator[list[str]]:
    stop, begun, notes = threading.Event(), threading.Event(), list[str]()

    def watch() -> None:
        memory.code.watch(root, stop=stop, on_indexed=lambda _done: begun.set(), on_history=notes.append, **options)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        assert begun.wait(30)
        yield notes
    finally:
        stop.set()
        thread.join(30)
    assert not thread.is_alive()


def until(reached: Callable[[], bool]) -> None:
    for _ in range(600):
        if reached():
            return
        time.sleep(0.05)
    pytest.fail("it did not come to be")


def test_a_watcher_follows_commits(open_memory: Callable[..., Memory], work: Work) -> None:
    memory = open_memory(settings=SOON)
    with watching(memory, work.root) as notes:
        until(lambda: seeds(memory) == {("a.py", "b.py")})
        work.git("mv", "a.py", "moved.py")
        work.commit()
        until(lambda: seeds(memory) == {("b.py", "moved.py")})
        work.git("commit", "-q", "--allow-empty", "-m", "nothing in it")
    assert notes[0] == "history: 1 pair of files that change together"


def test_a_watcher_without_history_leaves_commits_alone(open_memory: Callable[..., Memory], work: Work) -> None:
    memory = open_memory(settings=SOON)
    with watching(memory, work.root, history=False) as notes:
        work.commit("a.py", "b.py", "new.py")
        until(lambda: "new.py" in {match.id for match in memory.code.find("new.py").matches} or bool(notes))
    assert notes == []
    assert seeds(memory) == set()
