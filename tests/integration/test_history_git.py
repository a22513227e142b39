"""Histories of real repositories, read and followed; and those that cannot be read."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from tests.repositories import Work
from treering.adapters.git.commits import LAST_MOMENT, GitCommits
from treering.adapters.git.runner import GitRunner
from treering.code.history.counts import CoChange
from treering.code.history.encoding import pack, unpack
from treering.code.history.ranking import related
from treering.code.history.update import CountedHistory, count_new_commits
from treering.core.errors import RepositoryUnavailable
from treering.core.settings import HistorySettings


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work(tmp_path / "work place")


class Follower:
    """Counts that are packed and unpacked before every update, as the store does it."""

    def __init__(self) -> None:
        self.counts, self.seen = _fresh(), dict[str, str]()

    def update(self, history: GitCommits) -> tuple[int, bool]:
        """How many commits were read, and whether all were."""
        packed = pack(self.counts)
        status = (
            CountedHistory(self.seen, lambda: unpack(packed, _takes_part, HistorySettings())) if self.seen else None
        )
        followed = count_new_commits(history, status, _fresh)
        if followed is None:
            return 0, False
        self.counts, self.seen = followed.counts, dict(followed.seen)
        return followed.commits, followed.recounted


def _takes_part(path: str) -> bool:
    return path.endswith(".py")


def _fresh() -> CoChange:
    return CoChange(_takes_part)


def follower() -> Follower:
    return Follower()


def together(followed: Follower, one: str, other: str) -> int:
    return {each.path: each.together for each in related(followed.counts, one, 100)}[other]


def test_paths_come_as_they_are_with_renames_and_deletes(work: Work) -> None:
    first = work.commit("a b.py", "ü\n.py", "gone.py")
    work.git("mv", "a b.py", "x.py")
    (work.root / "gone.py").unlink()
    second = work.commit()
    with work.history.commits("HEAD") as commits:
        read = list(commits)
    assert [each.id for each in read] == [first, second]
    assert read[0].at == 1_700_000_001
    assert {touch.after for touch in read[0].touches} == {"a b.py", "ü\n.py", "gone.py"}
    assert {(touch.letter, touch.before, touch.after) for touch in read[1].touches} == {
        ("R", "a b.py", "x.py"),
        ("D", "gone.py", "gone.py"),
    }


def test_new_commits_are_added_to_what_was_counted(work: Work) -> None:
    followed = follower()
    work.commit("a.py", "b.py")
    work.commit("a.py", "b.py")
    assert followed.update(work.history) == (2, True)
    assert followed.update(work.history) == (0, False)
    work.git("mv", "a.py", "moved.py")
    work.commit()
    work.commit("moved.py", "b.py")
    assert followed.update(work.history) == (2, False)
    assert together(followed, "b.py", "moved.py") == 3
    again = follower()
    again.update(work.history)
    assert (again.counts.pairs, again.counts.files) == (followed.counts.pairs, followed.counts.files)


def test_a_rewritten_history_is_recounted(work: Work) -> None:
    followed = follower()
    start = work.commit("a.py", "b.py")
    work.commit("a.py", "b.py")
    followed.update(work.history)
    work.git("reset", "-q", "--hard", start)
    work.commit("a.py")
    assert followed.update(work.history) == (2, True)
    assert together(followed, "a.py", "b.py") == 1


def test_another_branch_adds_only_what_is_its_own_and_merges_count_nothing(work: Work) -> None:
    followed = follower()
    work.commit("a.py", "b.py", "c.py")
    followed.update(work.history)
    work.git("checkout", "-q", "-b", "side")
    work.commit("a.py", "b.py")
    assert followed.update(work.history) == (1, False)
    work.git("checkout", "-q", "main")
    work.commit("c.py")
    work.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    assert followed.update(work.history) == (1, False)
    assert together(followed, "a.py", "b.py") == 2


def test_configuration_does_not_change_what_is_read(work: Work) -> None:
    work.commit("a.py", "b.py")
    for name, value in (("diff.noprefix", "true"), ("color.ui", "always"), ("log.showSignature", "true")):
        work.git("config", name, value)
    work.git("config", "diff.renames", "false")
    work.git("mv", "a.py", "c.py")
    work.commit()
    with work.history.commits("HEAD") as commits:
        assert [touch.letter for each in commits for touch in each.touches] == ["A", "A", "R"]


def test_reading_stops_with_its_reader(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []
    start = GitRunner.started

    @contextmanager
    def noting(self: GitRunner, *arguments: str, complaints: IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
        with start(self, *arguments, complaints=complaints) as process:
            started.append(process)
            yield process

    monkeypatch.setattr(GitRunner, "started", noting)
    for number in range(3):
        work.commit(f"{number}.py")
    with work.history.commits("HEAD") as commits:
        next(commits)
    (process,) = started
    assert process.returncode is not None


def test_no_git_says_to_install_it(tmp_path: Path) -> None:
    with pytest.raises(RepositoryUnavailable, match="install it"):
        GitCommits(tmp_path, {"PATH": str(tmp_path)}, 30.0)


def test_no_repository_says_so(tmp_path: Path) -> None:
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
    with pytest.raises(RepositoryUnavailable, match="not a git repository"):
        GitCommits(tmp_path, environment, 30.0)
    with pytest.raises(RepositoryUnavailable, match="not a directory"):
        GitCommits(tmp_path / "absent", os.environ, 30.0)


def test_an_empty_repository_has_no_head(work: Work) -> None:
    with pytest.raises(RepositoryUnavailable, match="commit something first"):
        work.history.head()


def test_a_shallow_clone_says_how_to_complete_it(work: Work, tmp_path: Path) -> None:
    work.commit("a.py")
    work.commit("a.py")
    work.git("clone", "-q", "--depth", "1", f"file://{work.root}", str(tmp_path / "cut"))
    with pytest.raises(RepositoryUnavailable, match="unshallow"):
        GitCommits(tmp_path / "cut", os.environ, 30.0)


def test_a_damaged_history_is_reported_and_leaves_the_counts_as_they_were(work: Work) -> None:
    followed = follower()
    work.commit("a.py", "b.py")
    followed.update(work.history)
    lost = work.commit("a.py", "b.py")
    work.commit("a.py")
    (work.root / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    with pytest.raises(RepositoryUnavailable):
        followed.update(work.history)
    assert together(followed, "a.py", "b.py") == 1
    assert len(followed.seen) == 1


def test_a_bare_repository_can_be_read(work: Work, tmp_path: Path) -> None:
    work.commit("a.py", "b.py")
    work.git("clone", "-q", "--bare", str(work.root), str(tmp_path / "bare"))
    followed = follower()
    assert followed.update(GitCommits(tmp_path / "bare", os.environ, 30.0)) == (1, True)


@pytest.mark.parametrize(
    ("moment", "read"),
    [
        ("1700000001", 1_700_000_001),
        ("253402300800", LAST_MOMENT),
        ("99999999999999", LAST_MOMENT),
        ("99999999999999999999", LAST_MOMENT),
        ("-5", 0),
        ("noon", 0),
    ],
)
def test_a_commit_of_an_impossible_time_has_the_nearest_possible_one(work: Work, moment: str, read: int) -> None:
    work.commit("a.py", "b.py")
    work.commit_again_at(moment)
    with work.history.commits("HEAD") as commits:
        assert [each.at for each in commits] == [read]
    followed = follower()
    assert followed.update(work.history) == (1, True)
    work.commit("a.py", "b.py")
    assert followed.update(work.history) == (1, False)
    assert together(followed, "a.py", "b.py") == 2
