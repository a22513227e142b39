"""Whole histories, streamed from one `git log`."""

import shutil
import subprocess
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from treering.core.errors import RepositoryUnavailable
from treering.ports.commits import Commit, Touch

_COMMIT = "\x01"
_TWO_PATHS = ("R", "C")
_NO_REPOSITORY = "not a git repository"
_READ = 1 << 16
LAST_MOMENT = 253_370_764_800
"""The beginning of the year 9999, which every clock and database can tell in every time zone."""
# What a user's configuration may say must not change what is printed; nothing that it names is run.
_PLAIN = (
    *("--no-pager", "-c", "core.fsmonitor=false", "-c", "log.showSignature=false", "-c", "log.mailmap=false"),
    *("-c", "diff.renameLimit=1000", "-c", "diff.orderFile=/dev/null", "-c", "diff.ignoreSubmodules=none"),
)
_LOG = (
    *("log", "--reverse", "--topo-order", "--no-merges", "--name-status", "-z", "--format=%x01%H %ct"),
    *("--no-color", "--no-ext-diff", "--no-textconv", "--no-relative", "--full-index"),
)
_ENVIRONMENT = {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1"}
# Without the contents of a file only a rename that changed nothing can be seen.
_RENAMES, _EXACT_RENAMES = "-M", "-M100%"


class GitCommits:
    """The commits of the repository around, or at, `root`."""

    def __init__(self, root: Path, environment: Mapping[str, str], seconds: float) -> None:
        command = shutil.which("git", path=environment.get("PATH"))
        if command is None:
            raise RepositoryUnavailable("git is not installed; install it, or do without the history of files")
        self._root, self._command, self._seconds = root, command, seconds
        # A hook or an alias of git runs us with variables that point to its own repository.
        kept = {name: value for name, value in environment.items() if not name.startswith("GIT_")}
        self._environment = kept | _ENVIRONMENT
        self._check()

    def _check(self) -> None:
        if not self._root.is_dir():
            raise RepositoryUnavailable(f"{self._root} is no directory; name the root of a repository")
        code, told, why = self._ask("rev-parse", "--is-shallow-repository")
        if code and _NO_REPOSITORY in why:
            raise RepositoryUnavailable(f"{self._root} is {_NO_REPOSITORY}; run `git init` there, or do without one")
        if code:
            raise RepositoryUnavailable(f"git cannot read {self._root}: {why}; run `git status` there")
        if told == "true":
            raise RepositoryUnavailable(
                f"the history of {self._root} is cut off (a shallow clone); run `git fetch --unshallow` there"
            )

    def head(self) -> tuple[str, str]:
        code, commit, _ = self._ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        if code:
            raise RepositoryUnavailable(f"{self._root} has no commit that can be read; commit something first")
        code, branch, _ = self._ask("symbolic-ref", "--quiet", "HEAD")
        return (branch if code == 0 else "HEAD"), commit

    def leads_to(self, commit: str, head: str) -> bool:
        code, _, _ = self._ask("merge-base", "--is-ancestor", commit, head)
        return code == 0

    @contextmanager
    def commits(self, head: str, seen: Collection[str] = ()) -> Iterator[Iterator[Commit]]:
        known = [commit for commit in seen if self._ask("cat-file", "-e", f"{commit}^{{commit}}")[0] == 0]
        with tempfile.TemporaryFile() as complaints:
            process = self._start([*_LOG, self._renames(), head, "--not", *known, "--"], complaints)
            try:
                yield self._read(process, complaints)
            finally:
                process.kill()
                process.wait()
                if process.stdout is not None:
                    process.stdout.close()

    def _renames(self) -> str:
        """How renames can be found: of a partial clone, without asking its server, only those that changed nothing."""
        code, _, _ = self._ask("config", "--get-regexp", r"^(remote\..*\.promisor|extensions\.partialclone)$")
        return _EXACT_RENAMES if code == 0 else _RENAMES

    def _start(self, arguments: list[str], complaints: IO[bytes]) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                [self._command, *_PLAIN, "-C", str(self._root), *arguments],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=complaints,
            )
        except OSError as exc:
            raise RepositoryUnavailable(f"git cannot be started in {self._root} ({exc}); try again later") from exc

    def _read(self, process: subprocess.Popen[bytes], complaints: IO[bytes]) -> Iterator[Commit]:
        assert process.stdout is not None
        yield from parsed(_fields(process.stdout))
        if process.wait():
            complaints.seek(0)
            why = complaints.read().decode(errors="replace").strip().splitlines() or [f"status {process.returncode}"]
            raise RepositoryUnavailable(
                f"the history of {self._root} cannot be read to its end: {why[-1]}; run `git fsck` there"
            )

    def _ask(self, *arguments: str) -> tuple[int, str, str]:
        """Git's status, its answer, and the line of its complaint that gives the cause (the fatal one)."""
        try:
            done = subprocess.run(
                [self._command, *_PLAIN, "-C", str(self._root), *arguments],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=self._seconds,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as exc:
            raise RepositoryUnavailable(f"git did not answer in {self._root} ({exc}); try again later") from exc
        complaint = done.stderr.decode(errors="replace").strip().splitlines() or [f"status {done.returncode}"]
        fatal = next((line for line in complaint if line.startswith("fatal:")), complaint[-1])
        return done.returncode, done.stdout.decode("utf-8", "surrogateescape").strip(), fatal


def parsed(fields: Iterator[str]) -> Iterator[Commit]:
    """Commits out of the fields that `--format=%x01%H %ct --name-status -z` writes."""
    id, at = "", 0
    touches: list[Touch] = []
    for field in fields:
        status = field.lstrip("\n")
        if status.startswith(_COMMIT):
            if id:
                yield Commit(id, at, tuple(touches))
            id, _, moment = status[1:].partition(" ")
            at, touches = _possible(moment), []
        elif status:
            before = next(fields, "")
            touches.append(Touch(status[0], before, next(fields, "") if status[0] in _TWO_PATHS else before))
    if id:
        yield Commit(id, at, tuple(touches))


def _possible(moment: str) -> int:
    """The time that is nearest to the written one: public histories hold some that never were, and broken ones."""
    return min(int(moment), LAST_MOMENT) if moment.isdecimal() else 0


def _fields(stream: IO[bytes]) -> Iterator[str]:
    """What lies between NULs, as it comes in."""
    rest = b""
    while chunk := stream.read(_READ):
        *whole, rest = (rest + chunk).split(b"\0")
        for field in whole:
            yield field.decode("utf-8", "surrogateescape")
    if rest:
        yield rest.decode("utf-8", "surrogateescape")
