"""What became of a record's files in a real git repository: rewritten, renamed, deleted, moved about in branches."""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.contract.test_forgetting import Counted, run_of
from tests.samples import NOW
from treering.adapters.git.history import GitRepository, open_repository
from treering.adapters.git.runner import GitResult, GitRunner
from treering.compose import open as open_memory_at
from treering.core.errors import Conflict, RepositoryUnavailable
from treering.knowledge.staleness.stage import mark_stale
from treering.memory import Memory

DAY = timedelta(days=1)
TEN = [f"line {number}" for number in range(10)]


class Work:
    """A repository, and somebody who works in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str, at: datetime = NOW) -> str:
        who = {f"GIT_{role}_{what}": "ada" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        when = {f"GIT_{role}_DATE": at.isoformat() for role in ("AUTHOR", "COMMITTER")}
        kept = {"PATH": os.environ["PATH"], "HOME": str(self.root), "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(
            ["git", *arguments], cwd=self.root, env={**kept, **who, **when}, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def commit(self, days: float = 0, **files: list[str] | None) -> str:
        for name, lines in files.items():
            self.write(name.replace("__", "/") + ".py", lines)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "work", at=NOW + days * DAY)
        return self.git("rev-parse", "HEAD")

    def write(self, path: str, lines: list[str] | None) -> None:
        place = self.root / path
        if lines is None:
            place.unlink()
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("".join(f"{line}\n" for line in lines))

    @property
    def repository(self) -> GitRepository:
        found = open_repository(self.root, os.environ, 30.0)
        assert found is not None
        return found


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work(tmp_path / "work place")


@pytest.fixture
def memory(open_engine: Callable[..., Memory], engine: str) -> Memory:
    return open_engine(engine, clock=lambda: NOW + DAY, background=False)


def marked(memory: Memory, work: Work, days: float = 2, **options: bool) -> dict[str, int]:
    progress = Counted()
    mark_stale(run_of(memory, NOW + days * DAY, progress, **options), work.repository)
    return {name: count for name, count in progress.counts.items() if count}


def test_confidence_falls_in_proportion_to_what_was_rewritten_once(memory: Memory, work: Work) -> None:
    commit = work.commit(a=TEN, b=TEN)
    half = memory.remember("about a", type="gotcha", files=["a.py"], commit=commit, confidence=0.8)
    quarter = memory.remember("about both", type="gotcha", files=["a.py", "b.py"], commit=commit, confidence=0.8)
    untouched = memory.remember("about b", type="gotcha", files=["b.py"], commit=commit, confidence=0.8)
    work.commit(1, a=[*TEN[:5], *(f"new {number}" for number in range(5))])

    assert marked(memory, work) == {"lowered": 2}
    assert memory.get(half.id).confidence == pytest.approx(0.8 * 0.75)
    assert memory.get(quarter.id).confidence == pytest.approx(0.8 * 0.875)
    assert memory.get(untouched.id) == untouched
    assert marked(memory, work) == {}

    work.commit(1, a=[f"newer {number}" for number in range(10)])
    assert marked(memory, work) == {"lowered": 2}
    assert memory.get(half.id).confidence == pytest.approx(0.8 * 0.75 * 0.5)


def test_a_run_that_died_before_it_stored_its_progress_lowers_nothing_twice(memory: Memory, work: Work) -> None:
    commit = work.commit(a=TEN)
    record = memory.remember("about a", type="gotcha", files=["a.py"], commit=commit, confidence=0.8)
    work.commit(1, a=[*TEN[:5], *(f"new {number}" for number in range(5))])
    with pytest.raises(Conflict):
        mark_stale(run_of(memory, NOW + 2 * DAY, Counted(stop_after=2)), work.repository)
    lowered = memory.get(record.id)
    assert lowered.confidence == pytest.approx(0.8 * 0.75)

    assert marked(memory, work) == {}
    assert memory.get(record.id) == lowered


def test_without_a_commit_of_its_own_the_moment_tells(memory: Memory, work: Work) -> None:
    work.commit(a=["before"])
    record = memory.remember("about a", type="gotcha", files=["a.py"], confidence=0.8)
    late = memory.remember("learned after", type="gotcha", files=["a.py"], confidence=0.8, created_at=NOW + 2 * DAY)
    work.commit(1.5, a=["after"])
    assert marked(memory, work) == {"lowered": 1}
    assert memory.get(record.id).confidence == pytest.approx(0.4)
    assert memory.get(late.id).confidence == 0.8


@pytest.mark.parametrize("commit", ["0" * 40, "--output=/tmp/x", "nonsense"])
def test_a_commit_that_is_not_there_is_no_commit(memory: Memory, work: Work, commit: str) -> None:
    work.commit(a=["before"])
    memory.remember("about a", type="gotcha", files=["a.py"], commit=commit)
    work.commit(1.5, a=["after"])
    assert marked(memory, work) == {"lowered": 1}


def test_renames_are_followed_from_commit_to_commit(memory: Memory, work: Work) -> None:
    commit = work.commit(a=TEN)
    record = memory.remember("about a", type="gotcha", files=["a.py"], commit=commit, confidence=0.8)
    for days, (old, new) in enumerate((("a.py", "src/b.py"), ("src/b.py", "src/ü c.py")), 1):
        (work.root / "src").mkdir(exist_ok=True)
        work.git("mv", old, new)
        work.commit(days / 10)
    assert marked(memory, work) == {"renamed": 1}
    assert memory.get(record.id).files == ("src/ü c.py",)
    assert memory.get(record.id).confidence == 0.8
    assert memory.undo(record.id).files == ("a.py",)
    assert marked(memory, work) == {}


def test_a_name_that_no_record_can_hold_is_left_alone(memory: Memory, work: Work) -> None:
    commit = work.commit(a=TEN)
    record = memory.remember("about a", type="gotcha", files=["a.py"], commit=commit)
    work.git("mv", "a.py", "b\t.py")
    work.commit(0.1)
    assert marked(memory, work) == {}
    assert memory.get(record.id) == record


def test_a_file_that_was_renamed_and_rewritten_step_by_step_is_still_known(memory: Memory, work: Work) -> None:
    commit = work.commit(a=TEN)
    record = memory.remember("about a", type="gotcha", files=["a.py"], commit=commit, confidence=0.8)
    work.git("mv", "a.py", "b.py")
    work.commit(0.1)
    for changed in range(2, 12, 2):
        work.commit(0.1 + changed / 100, b=[f"new {number}" for number in range(changed)] + TEN[changed:])
    assert marked(memory, work) == {"renamed": 1, "lowered": 1}
    after = memory.get(record.id)
    assert (after.files, after.confidence) == (("b.py",), pytest.approx(0.4))


def test_a_record_whose_files_are_all_gone_is_stale(memory: Memory, work: Work) -> None:
    commit = work.commit(a=TEN, b=TEN)
    gone = memory.remember("about a", type="gotcha", files=["a.py"], commit=commit)
    partly = memory.remember("about both", type="gotcha", files=["a.py", "b.py"], commit=commit)
    work.commit(1, a=None)
    assert marked(memory, work) == {"stale": 1, "lowered": 1}
    assert memory.get(gone.id).stale_at == NOW + 2 * DAY
    assert memory.get(partly.id).stale_at is None
    assert memory.get(gone.id).files == ("a.py",)
    assert memory.undo(gone.id).stale_at is None
    assert marked(memory, work) == {}


def test_a_file_that_came_back_is_not_gone(memory: Memory, work: Work) -> None:
    commit = work.commit(a=TEN)
    record = memory.remember("about a", type="gotcha", files=["a.py"], commit=commit)
    work.commit(0.5, a=None)
    work.commit(1, a=TEN)
    assert marked(memory, work) == {}
    assert memory.get(record.id) == record


def test_what_a_branch_did_counts_once_it_is_merged(memory: Memory, work: Work) -> None:
    commit = work.commit(a=TEN, b=TEN)
    record = memory.remember("about a", type="gotcha", files=["a.py"], commit=commit, confidence=0.8)
    work.git("checkout", "-q", "-b", "side")
    work.git("mv", "a.py", "c.py")
    work.commit(0.5)
    work.git("checkout", "-q", "main")
    work.commit(0.6, b=["other"])
    assert marked(memory, work) == {}
    work.git("merge", "-q", "--no-ff", "-m", "merge", "side", at=NOW + DAY)
    assert marked(memory, work) == {"renamed": 1}
    assert memory.get(record.id).files == ("c.py",)


def test_switching_branches_counts_each_commit_once(memory: Memory, work: Work) -> None:
    commit = work.commit(a=TEN)
    record = memory.remember("about a", type="gotcha", files=["a.py"], commit=commit, confidence=0.8)
    work.git("checkout", "-q", "-b", "side")
    work.commit(0.1, a=[*TEN[:5], *(f"side {number}" for number in range(5))])
    work.git("checkout", "-q", "main")
    work.commit(0.2, a=[*(f"main {number}" for number in range(2)), *TEN[2:]])
    told = []
    for days in range(2, 12):
        work.git("checkout", "-q", ("side", "main")[days % 2])
        told.append(marked(memory, work, days))
    assert told == [{"lowered": 1}, {"lowered": 1}, *([{}] * 8)]
    assert memory.get(record.id).confidence == pytest.approx(0.8 * 0.75 * 0.9)
    work.git("merge", "-q", "--no-ff", "-m", "merge", "side", at=NOW + 12 * DAY)
    assert marked(memory, work, 13) == {}


def test_a_branch_that_is_rebased_is_not_counted_again(memory: Memory, work: Work) -> None:
    commit = work.commit(a=TEN, b=TEN)
    memory.remember("about a", type="gotcha", files=["a.py"], commit=commit, confidence=0.8)
    work.git("checkout", "-q", "-b", "side")
    work.commit(0.1, a=["all new"])
    assert marked(memory, work) == {"lowered": 1}
    for days in range(3, 6):
        work.git("checkout", "-q", "main")
        work.commit(days, b=[f"day {days}"])
        work.git("checkout", "-q", "side")
        work.git("rebase", "-q", "main", at=NOW + days * DAY)
        assert marked(memory, work, days + 0.5) == {}


def test_a_file_that_only_a_branch_lacks_is_back_with_the_other(memory: Memory, work: Work) -> None:
    commit = work.commit(a=TEN)
    record = memory.remember("about a", type="gotcha", files=["a.py"], commit=commit, confidence=0.8)
    work.git("checkout", "-q", "-b", "side")
    work.commit(0.1, a=None)
    assert marked(memory, work) == {"stale": 1}
    work.git("checkout", "-q", "main")
    assert marked(memory, work, 3) == {"back": 1}
    after = memory.get(record.id)
    assert (after.stale_at, after.confidence) == (None, 0.8)
    assert marked(memory, work, 4) == {}


def test_git_is_asked_little_and_never_inside_a_transaction(
    memory: Memory, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits = [work.commit(number / 100, **{f"f{number}": TEN}) for number in range(6)]
    for number, commit in enumerate(commits * 5):
        memory.remember(f"about {number}", type="gotcha", files=[f"f{number % 6}.py"], commit=commit)
    asked, held = list[str](), [0]
    ask, reading = GitRunner.ask, memory.store.reading

    def counted(self: GitRunner, *arguments: str, given: str = "") -> GitResult:
        assert not held[0]
        asked.append(arguments[0])
        return ask(self, *arguments, given=given)

    @contextmanager
    def watched(*given: Any) -> Iterator[Any]:
        with reading(*given) as tx:
            held[0] += 1
            yield tx
            held[0] -= 1

    monkeypatch.setattr(GitRunner, "ask", counted)
    monkeypatch.setattr(memory.store, "reading", watched)
    assert marked(memory, work) == {}
    asked.clear()
    assert marked(memory, work, 3) == {}
    assert asked == ["rev-parse", "cat-file"]
    work.commit(3, other=TEN)
    asked.clear()
    assert marked(memory, work, 4) == {}
    assert asked == ["rev-parse", "cat-file", "log", "merge-base"]


@pytest.mark.parametrize(("days", "asked"), [(29, 0), (33, 1)])
def test_files_modified_long_after_the_record_ask_for_a_look(
    memory: Memory, work: Work, days: float, asked: int
) -> None:
    work.commit(a=TEN)
    record = memory.remember("about a", type="gotcha", files=["a.py"])
    work.commit(days, a=[*TEN[:9], "new"])
    assert marked(memory, work, days + 1).get("review", 0) == asked
    assert memory.get(record.id).needs_review is bool(asked)
    if asked:
        memory.confirm(record.id)
        assert marked(memory, work, days + 2) == {}


def test_a_persons_word_is_reviewed_but_not_lowered(memory: Memory, work: Work) -> None:
    commit = work.commit(a=TEN)
    record = memory.remember("about a", type="gotcha", files=["a.py"], commit=commit)
    confirmed = memory.confirm(record.id)
    work.commit(40, a=["all new"])
    assert marked(memory, work, 41) == {"review": 1}
    assert memory.get(record.id).confidence == confirmed.confidence


def test_a_dry_run_changes_nothing(memory: Memory, work: Work) -> None:
    commit = work.commit(a=TEN)
    record = memory.remember("about a", type="gotcha", files=["a.py"], commit=commit)
    work.commit(1, a=["all new"])
    assert marked(memory, work, dry_run=True) == {"lowered": 1}
    assert memory.get(record.id) == record


def test_without_a_repository_the_stage_says_that_it_was_skipped(memory: Memory, tmp_path: Path) -> None:
    for repository in (None, Work(tmp_path / "empty").repository):
        progress = Counted()
        mark_stale(run_of(memory, NOW, progress), repository)
        assert progress.counts == {"skipped_without_repository": 1}


def test_no_git_and_no_repository_are_none(tmp_path: Path, work: Work) -> None:
    assert open_repository(tmp_path, os.environ, 1.0) is None
    assert open_repository(work.root, {"PATH": str(tmp_path)}, 1.0) is None


def test_git_that_does_not_answer_says_so(work: Work, tmp_path: Path) -> None:
    work.commit(a=TEN)
    sleeper = tmp_path / "git"
    sleeper.write_text("#!/bin/sh\nexec sleep 5\n")
    sleeper.chmod(0o755)
    slow = GitRepository(work.root, str(sleeper), os.environ, 0.1)
    with pytest.raises(RepositoryUnavailable, match="try again"):
        slow.changes_since(["0" * 40], "1" * 40, ["a.py"])
    (work.root / ".git" / "HEAD").write_text("broken")
    with pytest.raises(RepositoryUnavailable, match="git status"):
        work.repository.changes_since(["0" * 40], "1" * 40, ["a.py"])


def test_variables_of_a_hook_do_not_lead_elsewhere(work: Work, tmp_path: Path) -> None:
    commit = work.commit(a=TEN)
    other = Work(tmp_path / "other")
    other.commit(b=TEN)
    inside = {**os.environ, "GIT_DIR": str(other.root / ".git"), "GIT_INDEX_FILE": "nowhere"}
    found = open_repository(work.root, inside, 30.0)
    assert found is not None
    assert found.head() == commit


def test_history_answers_by_moment_and_by_path(work: Work) -> None:
    first = work.commit(a=TEN)
    second = work.commit(2, b=TEN)
    repository = work.repository
    assert repository.head() == second
    assert [repository.commit_before(NOW + days * DAY, second) for days in (-1, 0, 1, 2, 3)] == [
        None,
        first,
        first,
        second,
        second,
    ]
    (change,) = repository.changes_since([first], second, ["a.py", "b.py"]).values()
    assert change.at == (NOW + 2 * DAY).replace(microsecond=0).astimezone(UTC)
    assert repository.present(second, ["a.py", "b.py", "nowhere.py"]) == {"a.py", "b.py"}
    assert repository.known([first[:10], "HEAD", "0" * 40]) == {first[:10]}
    assert repository.ends([first, second]) == (second,)


def test_a_memory_of_a_repository_is_compared_with_it(work: Work, tmp_path: Path) -> None:
    commit = work.commit(a=TEN)
    (work.root / "deep").mkdir()
    with open_memory_at(
        tmp_path / "m.db", repository=work.root / "deep", clock=lambda: NOW, background=False
    ) as memory:
        record = memory.remember("about a", type="gotcha", files=["a.py"], commit=commit, confidence=0.8)
        work.commit(1, a=["all new"])
        run = memory._parts.maintenance.runner.dry_run(memory.scope, "staleness")
        assert run.counts["lowered"] == 1
        assert memory.get(record.id).confidence == 0.8


@pytest.mark.parametrize(
    ("environment", "options", "compared"),
    [
        ({}, {}, True),
        ({"TREERING_DB": "m.db"}, {}, False),
        ({"TREERING_PROJECT": "elsewhere"}, {}, False),
        ({}, {"project": "elsewhere"}, False),
        ({}, {"path_or_url": "m.db"}, False),
        ({"TREERING_DB": "m.db", "TREERING_PROJECT": "elsewhere"}, {"repository": "."}, True),
    ],
)
def test_the_repository_that_a_worker_stands_in_is_that_of_its_own_project_only(
    work: Work,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    environment: dict[str, str],
    options: dict[str, Any],
    compared: bool,
) -> None:
    work.commit(a=TEN)
    for name in ("TREERING_DB", "TREERING_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {**environment, "TREERING_DATA_DIR": str(tmp_path / "data")}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(work.root)
    with open_memory_at(**options, clock=lambda: NOW, background=False) as memory:
        run = memory._parts.maintenance.runner.dry_run(memory.scope, "staleness")
    assert ("skipped_without_repository" not in run.counts) is compared
