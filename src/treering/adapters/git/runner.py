"""Runs git on repositories that may be untrusted.

Git obeys the configuration of the repository it works on, which may name programs to run (to verify signatures, to
compare, filter or watch files) and servers to fetch missing objects from. Git therefore never reads it: each command
gets its own configuration, with only the entries that describe how objects and references are stored.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import IO, NamedTuple

from treering.core.errors import RepositoryUnavailable

_NO_REPOSITORY = "not a git repository"
# How objects and references are stored, with all values that git defines.
_ALLOWED: Mapping[str, frozenset[str]] = {
    "core.repositoryformatversion": frozenset({"0", "1"}),
    "extensions.objectformat": frozenset({"sha1", "sha256"}),
    "extensions.refstorage": frozenset({"files", "reftable"}),
}
_PARTIAL = re.compile(r"remote\..*\.(promisor|partialclonefilter)|extensions\.partialclone", re.DOTALL)
# Files that git expects beside the configuration.
_SHARED = ("refs", "packed-refs", "reftable", "shallow")
_OPTIONS = (
    *("--no-pager", "--literal-pathspecs", "--no-replace-objects", "--no-optional-locks"),
    *("-c", "core.quotePath=false", "-c", "diff.renameLimit=1000"),
    # Git maps whole packs by default: a log of a large repository then takes hundreds of megabytes.
    *("-c", "core.packedGitWindowSize=4m", "-c", "core.packedGitLimit=32m", "-c", "core.deltaBaseCacheLimit=16m"),
)
_ENVIRONMENT = {
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
}


class GitResult(NamedTuple):
    """Git's exit status, its output, and the line of stderr that gives the cause."""

    status: int
    text: str
    why: str


class _GitFolders(NamedTuple):
    """The repository's own folder, and the one it shares with its other worktrees."""

    own: Path
    common: Path


class GitRunner:
    """Read-only git commands on the repository at or around `root`."""

    def __init__(self, root: Path, command: str, environment: Mapping[str, str], seconds: float) -> None:
        self._root, self._command, self._seconds = root, command, seconds
        # A git hook or alias runs Treering with variables that point to its own repository.
        kept = {name: value for name, value in environment.items() if not name.startswith("GIT_")}
        self._environment = kept | _ENVIRONMENT

    def ask(self, *arguments: str, given: str = "") -> GitResult:
        with self._prepared() as (command, environment):
            return self._run_command([*command, *arguments], environment, given)

    def run(self, *arguments: str, given: str = "") -> str:
        """The output of git; `RepositoryUnavailable` if it fails."""
        answer = self.ask(*arguments, given=given)
        if answer.status:
            raise RepositoryUnavailable(f"git cannot read {self._root}: {answer.why}; run `git status` there")
        return answer.text

    @contextmanager
    def started(self, *arguments: str, complaints: IO[bytes]) -> Iterator["subprocess.Popen[bytes]"]:
        """Run a command with streamed output; leaving the context ends it."""
        with self._prepared() as (command, environment):
            try:
                process = subprocess.Popen(
                    [*command, *arguments],
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=complaints,
                )
            except OSError as exc:
                raise RepositoryUnavailable(f"git cannot be started in {self._root} ({exc}); try again later") from exc
            with process:
                try:
                    yield process
                finally:
                    process.kill()

    @cached_property
    def is_partial(self) -> bool:
        """Whether the repository is a partial clone. Missing objects are never fetched."""
        return any(_PARTIAL.fullmatch(name) for name, _ in self._configuration)

    @cached_property
    def _folders(self) -> _GitFolders:
        for folder in (self._root, *self._root.parents):
            try:
                own = _named_by(folder / ".git") or (folder / ".git" if (folder / ".git").is_dir() else folder)
                if (own / "HEAD").is_file():
                    beside = own / "commondir"
                    common = own / beside.read_text().strip() if beside.is_file() else own
                    if (common / "objects").is_dir():
                        return _GitFolders(own.resolve(), common.resolve())
            except (OSError, ValueError) as exc:
                raise RepositoryUnavailable(f"{folder} cannot be read ({exc}); change its permissions") from exc
        raise RepositoryUnavailable(f"{self._root} is {_NO_REPOSITORY}; run `git init` there, or work without history")

    @cached_property
    def _configuration(self) -> tuple[tuple[str, str], ...]:
        """The entries of the repository's configuration, only read; includes are ignored."""
        file = str(self._folders.common / "config")
        reading = (self._command, "config", "--file", file, "--no-includes", "--null", "--list")
        with tempfile.TemporaryDirectory(prefix="treering-git-") as nowhere:
            answer = self._run_command([*reading[:1], "-C", nowhere, *reading[1:]], self._environment)
        if answer.status:
            raise RepositoryUnavailable(f"git cannot read {file}: {answer.why}; run `git status` in {self._root}")
        pairs = (entry.partition("\n") for entry in answer.text.split("\0") if entry)
        return tuple((name, value) for name, _, value in pairs)

    @contextmanager
    def _prepared(self) -> Iterator[tuple[list[str], dict[str, str]]]:
        """Command prefix and environment that combine the repository's objects with our configuration."""
        folders = self._folders
        with tempfile.TemporaryDirectory(prefix="treering-git-") as folder:
            stand_in = Path(folder)
            (stand_in / "config").write_text(self._allowed())
            for name in _SHARED:
                if (folders.common / name).exists():
                    (stand_in / name).symlink_to(folders.common / name)
            if not (stand_in / "refs").exists():
                (stand_in / "refs").mkdir()
            places = {
                "GIT_DIR": str(folders.own),
                "GIT_COMMON_DIR": folder,
                "GIT_OBJECT_DIRECTORY": str(folders.common / "objects"),
                "GIT_WORK_TREE": folder,
            }
            yield [self._command, *_OPTIONS, "-C", folder], self._environment | places

    def _allowed(self) -> str:
        """The entries of the repository's configuration that git may see."""
        found = ((name.split("."), value) for name, value in self._configuration if value in _ALLOWED.get(name, ()))
        return "".join(f"[{section}]\n{key} = {value}\n" for (section, key), value in found)

    def _run_command(self, command: list[str], environment: Mapping[str, str], given: str = "") -> GitResult:
        try:
            done = subprocess.run(
                command,
                env=environment,
                input=given.encode(),
                capture_output=True,
                timeout=self._seconds,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as exc:
            raise RepositoryUnavailable(f"git did not answer in {self._root} ({exc}); try again later") from exc
        complaint = done.stderr.decode(errors="replace").strip().splitlines() or [f"status {done.returncode}"]
        fatal = next((line for line in complaint if line.startswith("fatal:")), complaint[-1])
        return GitResult(done.returncode, done.stdout.decode("utf-8", "surrogateescape"), fatal)


def git_command(environment: Mapping[str, str]) -> str | None:
    """Where git is installed; None where it is not.

    Relative places on the path lead into the current folder, which may be the repository: they are left out.
    """
    places = environment.get("PATH", os.defpath).split(os.pathsep)
    return shutil.which("git", path=os.pathsep.join(filter(os.path.isabs, places)))


def _named_by(file: Path) -> Path | None:
    """The folder that the `.git` file of a worktree or submodule refers to."""
    if not file.is_file():
        return None
    word, _, named = file.read_text().strip().partition(": ")
    return file.parent / named if word == "gitdir" else None
