"""Complete histories, streamed from one `git log`."""

import subprocess
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from treering.adapters.git.runner import GitRunner, git_command
from treering.core.errors import RepositoryUnavailable
from treering.ports.commits import Commit, Touch

_COMMIT = "\x01"
_TWO_PATHS = ("R", "C")
_READ = 1 << 16
LAST_MOMENT = 253_370_764_800
"""Start of the year 9999, the latest time that all clocks and databases can represent in every time zone."""
_LOG = (
    *("log", "--reverse", "--topo-order", "--no-merges", "--name-status", "-z", "--format=%x01%H %ct"),
    *("--no-color", "--no-ext-diff", "--no-textconv", "--no-relative", "--full-index"),
)
# Without file contents only renames without changes can be detected.
_RENAMES, _EXACT_RENAMES = "-M", "-M100%"


class GitCommits:
    """The commits of the repository at or around `root`."""

    def __init__(self, root: Path, environment: Mapping[str, str], seconds: float) -> None:
        command = git_command(environment)
        if command is None:
            raise RepositoryUnavailable("git is not installed; install it, or work without the history of files")
        if not root.is_dir():
            raise RepositoryUnavailable(f"{root} is not a directory; pass the root of a repository")
        self._root, self._git = root, GitRunner(root, command, environment, seconds)
        if self._git.run("rev-parse", "--is-shallow-repository").strip() == "true":
            raise RepositoryUnavailable(
                f"the history of {root} is incomplete (a shallow clone); run `git fetch --unshallow` there"
            )

    def head(self) -> tuple[str, str]:
        commit = self._git.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        if commit.status:
            raise RepositoryUnavailable(f"{self._root} has no readable commit; commit something first")
        branch = self._git.ask("symbolic-ref", "--quiet", "HEAD")
        return (branch.text.strip() if branch.status == 0 else "HEAD"), commit.text.strip()

    def leads_to(self, commit: str, head: str) -> bool:
        return self._git.ask("merge-base", "--is-ancestor", commit, head).status == 0

    @contextmanager
    def commits(self, head: str, seen: Collection[str] = ()) -> Iterator[Iterator[Commit]]:
        known = [commit for commit in seen if self._git.ask("cat-file", "-e", f"{commit}^{{commit}}").status == 0]
        renames = _EXACT_RENAMES if self._git.is_partial else _RENAMES
        with (
            tempfile.TemporaryFile() as complaints,
            self._git.started(*_LOG, renames, head, "--not", *known, "--", complaints=complaints) as process,
        ):
            yield self._read(process, complaints)

    def _read(self, process: subprocess.Popen[bytes], complaints: IO[bytes]) -> Iterator[Commit]:
        assert process.stdout is not None
        yield from parsed(_fields(process.stdout))
        if process.wait():
            complaints.seek(0)
            why = complaints.read().decode(errors="replace").strip().splitlines() or [f"status {process.returncode}"]
            raise RepositoryUnavailable(
                f"the history of {self._root} cannot be read completely: {why[-1]}; run `git fsck` there"
            )


def parsed(fields: Iterator[str]) -> Iterator[Commit]:
    """Parse the output of `--format=%x01%H %ct --name-status -z`."""
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
    """The valid time nearest to the recorded one: public histories contain impossible and malformed times."""
    return min(int(moment), LAST_MOMENT) if moment.isdecimal() else 0


def _fields(stream: IO[bytes]) -> Iterator[str]:
    """The NUL-separated fields, as they arrive."""
    rest = b""
    while chunk := stream.read(_READ):
        *whole, rest = (rest + chunk).split(b"\0")
        for field in whole:
            yield field.decode("utf-8", "surrogateescape")
    if rest:
        yield rest.decode("utf-8", "surrogateescape")
