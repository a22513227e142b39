"""Reading the history of a repository runs no program that the repository names, and fetches nothing."""

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.repositories import WHO, Work
from treering.adapters.git.commits import GitCommits
from treering.adapters.git.history import open_repository
from treering.adapters.git.runner import git_command
from treering.core.errors import RepositoryUnavailable

FILES = ("a.py", "b.py")
# What git runs, when the configuration of a repository says so; {evil} leaves a mark.
PROGRAMS: Mapping[str, Mapping[str, str]] = {
    "signature": {"log.showSignature": "true", "gpg.program": "{evil}"},
    "ssh signature": {"log.showSignature": "true", "gpg.format": "ssh", "gpg.ssh.program": "{evil}"},
    "x509 signature": {"log.showSignature": "true", "gpg.format": "x509", "gpg.x509.program": "{evil}"},
    "allowed signers": {"log.showSignature": "true", "gpg.ssh.defaultKeyCommand": "{evil}", "gpg.program": "{evil}"},
    "file monitor": {"core.fsmonitor": "{evil}", "core.fsmonitorHookVersion": "2"},
    "external diff": {"diff.external": "{evil}"},
    "diff driver": {"diff.evil.command": "{evil}", "diff.evil.textconv": "{evil}", "diff.evil.binary": "true"},
    "filter": {"filter.evil.clean": "{evil}", "filter.evil.smudge": "{evil}", "filter.evil.process": "{evil}"},
    "pager": {"core.pager": "{evil}", "pager.log": "{evil}", "pager.diff": "{evil}", "color.ui": "always"},
    "alias": {"alias.log": "!{evil}", "alias.rev-parse": "!{evil}", "alias.diff": "!{evil}"},
    "hooks": {"core.hooksPath": "{hooks}"},
    "alternate references": {"core.alternateRefsCommand": "{evil}"},
    "editor and askpass": {"core.editor": "{evil}", "core.askPass": "{evil}", "credential.helper": "!{evil}"},
    "merge driver": {"merge.evil.driver": "{evil}", "mergetool.evil.cmd": "{evil}", "merge.default": "evil"},
    "transport": {"core.sshCommand": "{evil}", "core.gitProxy": "{evil}", "protocol.ext.allow": "always"},
    "mail map": {"log.mailmap": "true", "mailmap.file": "{evil}"},
    "maintenance": {"gc.auto": "1", "gc.recentObjectsHook": "{evil}", "maintenance.auto": "true"},
}


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    return tmp_path / "executed"


@pytest.fixture
def evil(tmp_path: Path, mark: Path) -> Path:
    program = tmp_path / "evil"
    program.write_text(f"#!/bin/sh\necho \"$0 $*\" >> '{mark}'\nexit 1\n")
    program.chmod(0o755)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "reference-transaction", "post-checkout", "fsmonitor-watchman"):
        (hooks / name).symlink_to(program)
    return program


@pytest.fixture
def work(tmp_path: Path) -> Work:
    work = Work(tmp_path / "work")
    work.commit(*FILES)
    (work.root / ".gitattributes").write_text("*.py diff=evil filter=evil merge=evil\n")
    work.commit(*FILES)
    work.git("mv", "a.py", "c.py")
    work.commit("c.py")
    sign_head(work)
    return work


def sign_head(work: Work) -> None:
    """Give the last commit a signature, which no key made."""
    plain = work.git("cat-file", "commit", "HEAD").split("\n\n", 1)
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----"
    written = work.root / ".git" / "signed"
    written.write_text(f"{plain[0]}\n{signature}\n\n{plain[1]}\n")
    work.git("update-ref", "HEAD", work.git("hash-object", "-t", "commit", "-w", str(written)))


def read_all(root: Path) -> Iterator[object]:
    """Every question that Treering asks a repository."""
    history = GitCommits(root, os.environ, 30.0)
    branch, head = history.head()
    yield branch
    with history.commits(head) as commits:
        read = list(commits)
    yield [[touch.after for touch in commit.touches] for commit in read]
    yield history.leads_to(read[0].id, head)
    repository = open_repository(root, os.environ, 30.0)
    assert repository is not None
    yield repository.head() == head
    yield len(repository.known([read[0].id, "0" * 40]))
    yield repository.commit_before(datetime(2030, 1, 1, tzinfo=UTC), head) == head
    yield repository.ends([read[0].id, head]) == (head,)
    changes = repository.changes_since([read[0].id], head, FILES)
    yield {path: (change.now, round(change.share, 2)) for path, change in changes.items()}
    yield sorted(repository.present(head, ["b.py", "c.py", "absent.py"]))


@pytest.mark.parametrize("route", PROGRAMS)
@pytest.mark.parametrize("place", ["config", "included", "worktree"])
def test_no_program_of_a_repository_is_run(work: Work, mark: Path, evil: Path, route: str, place: str) -> None:
    before = list(read_all(work.root))
    file = work.root / ".git" / {"config": "config", "included": "more", "worktree": "config.worktree"}[place]
    for name, value in PROGRAMS[route].items():
        work.git("config", "--file", str(file), name, value.format(evil=evil, hooks=evil.parent / "hooks"))
    if place == "included":
        work.git("config", "include.path", "more")
    if place == "worktree":
        work.git("config", "core.repositoryformatversion", "1")
        work.git("config", "extensions.worktreeConfig", "true")
    assert list(read_all(work.root)) == before
    assert not mark.exists(), mark.read_text()


def test_the_routes_lead_somewhere(work: Work, mark: Path, evil: Path) -> None:
    """Plain git runs the program, or the test above would prove nothing."""
    for name in ("signature", "external diff", "pager"):
        for key, value in PROGRAMS[name].items():
            work.git("config", key, value.format(evil=evil))
    with suppress(subprocess.CalledProcessError):
        work.git("log", "-1")
    assert "--verify" in mark.read_text()


def test_missing_objects_are_not_fetched(tmp_path: Path, work: Work, mark: Path, evil: Path) -> None:
    """A partial clone names a program that serves its objects: on this machine, for a path."""
    partial = tmp_path / "partial"
    work.git("config", "uploadpack.allowFilter", "true")
    work.git("clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{work.root}", str(partial))
    configured = {"remote.origin.uploadpack": str(evil), "core.sshCommand": str(evil)}
    for name, value in configured.items():
        subprocess.run(["git", "config", name, value], cwd=partial, check=True, env={**os.environ, **WHO})
    with pytest.raises(RepositoryUnavailable):
        list(read_all(partial))
    history = GitCommits(partial, os.environ, 30.0)
    with history.commits(history.head()[1]) as commits:
        assert len(list(commits)) == 3
    assert not mark.exists(), mark.read_text()


def test_variables_of_the_environment_name_no_program(
    work: Work, mark: Path, evil: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = list(read_all(work.root))
    for name in ("GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_EDITOR"):
        monkeypatch.setenv(name, str(evil))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "diff.external")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(evil))
    assert list(read_all(work.root)) == before
    assert not mark.exists()


def test_worktrees_are_read_as_their_own(tmp_path: Path, work: Work) -> None:
    work.git("worktree", "add", "-q", "-b", "beside", str(tmp_path / "beside"), "HEAD~1")
    assert GitCommits(tmp_path / "beside", os.environ, 30.0).head()[0] == "refs/heads/beside"
    assert GitCommits(work.root, os.environ, 30.0).head()[0] == "refs/heads/main"
    (work.root / "folder").mkdir()
    assert GitCommits(work.root / "folder", os.environ, 30.0).head() == GitCommits(work.root, os.environ, 30.0).head()


def test_objects_of_another_format_are_read(tmp_path: Path) -> None:
    work = Work.__new__(Work)
    work.root, work.commits = tmp_path / "newer", 0
    work.root.mkdir()
    work.git("init", "-q", "-b", "main", "--object-format=sha256")
    commit = work.commit("a.py")
    assert len(commit) == 64
    assert GitCommits(work.root, os.environ, 30.0).head() == ("refs/heads/main", commit)


def test_nothing_is_left_in_the_folder_for_temporary_files(
    tmp_path: Path, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    list(read_all(work.root))
    assert list((tmp_path / "temporary").iterdir()) == []


@pytest.mark.parametrize("place", ["", ".", "bin"])
def test_no_git_of_the_current_folder_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    fake = tmp_path / place / "git"
    fake.parent.mkdir(exist_ok=True)
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o700)
    monkeypatch.chdir(tmp_path)
    found = git_command({"PATH": f"{place}:{os.environ['PATH']}"})
    assert found is not None
    assert os.path.isabs(found)
    assert Path(found).parent not in (tmp_path, fake.parent)
    assert git_command({"PATH": place}) is None
