"""The history of a git repository. Nothing is written, nothing that its configuration names is run."""

import re
import shutil
import subprocess
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from treering.core.errors import RepositoryUnavailable
from treering.ports.repository import FileChange

_COMMIT = re.compile(r"[0-9a-fA-F]{4,64}")
_RENAMED = ("R", "C")
# Paths that one command names: far below what a system takes as arguments.
_PATHS = 200


class GitRepository:
    """One repository, around `root`."""

    def __init__(self, root: Path, command: str, environment: Mapping[str, str], seconds: float) -> None:
        self._root = root
        self._command = command
        # A hook or an alias of git runs us with variables that point to its own repository.
        kept = {name: value for name, value in environment.items() if not name.startswith("GIT_")}
        self._environment = {**kept, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
        self._seconds = seconds
        self._known: tuple[str, Sequence[tuple[int, str]]] | None = None

    def head(self) -> str | None:
        return self._asked("rev-parse", "--verify", "--quiet", "HEAD^{commit}")

    def has(self, commit: str) -> bool:
        if not _COMMIT.fullmatch(commit):
            return False
        return self._asked("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}") is not None

    def commit_before(self, moment: datetime) -> str | None:
        times = self._times()
        place = bisect_right(times, moment.timestamp(), key=lambda each: each[0])
        return times[place - 1][1] if place else None

    def last_change(self, path: str) -> datetime | None:
        told = self._asked("log", "-1", "--format=%cI", "HEAD", "--", path)
        return None if told is None else datetime.fromisoformat(told).astimezone(UTC)

    def changes_between(self, commit: str, head: str, paths: Iterable[str]) -> Mapping[str, FileChange]:
        wanted = tuple(dict.fromkeys(paths))
        if commit == head or not wanted:
            return {}
        now = self._followed(commit, head, wanted)
        before = self._lines(commit, now)
        return {
            path: FileChange(place, 1.0 if place is None else self._share(commit, head, path, place, before))
            for path, place in now.items()
        }

    def _times(self) -> Sequence[tuple[int, str]]:
        """When each commit was made, the earliest first; read once for each commit that is checked out."""
        head = self.head() or ""
        if self._known is None or self._known[0] != head:
            lines = self._run("log", "--reverse", "--topo-order", "--format=%ct %H", "HEAD").split() if head else []
            pairs = zip(lines[::2], lines[1::2], strict=True)
            # Stable: of two commits in one second the later one stays behind.
            self._known = head, sorted(((int(at), commit) for at, commit in pairs), key=lambda each: each[0])
        return self._known[1]

    def _followed(self, commit: str, head: str, paths: Sequence[str]) -> dict[str, str | None]:
        """Where each path that was touched is now; renames are followed from commit to commit."""
        places: dict[str, str | None] = {path: path for path in paths}
        at: dict[str, set[str]] = {path: {path} for path in paths}
        touched: set[str] = set()
        log = ("log", "-M", "--format=", "--name-status", "-z", "--topo-order", "--reverse", f"{commit}..{head}")
        for status, old, new in _statuses(self._run(*log, "--no-ext-diff", "--no-textconv").split("\0")):
            if status == "C":
                continue
            moved = at.pop(old, set())
            if status != "D":
                # What was deleted on the way may be there again.
                moved = moved | ({new} if places.get(new, new) is None else set())
                at.setdefault(new, set()).update(moved)
            places |= dict.fromkeys(moved, None if status == "D" else new)
            touched |= moved
        missing = self._absent(head, [place for place in places.values() if place is not None])
        return {path: None if place in missing else place for path, place in places.items() if path in touched}

    def _absent(self, head: str, paths: Sequence[str]) -> set[str]:
        """A merge may have taken away what no commit on the way did."""
        there: set[str] = set()
        for batch in _batches(paths):
            there |= set(self._run("ls-tree", "-r", "-z", "--name-only", head, "--", *batch).split("\0"))
        return set(paths) - there

    def _share(self, commit: str, head: str, path: str, place: str, before: Mapping[str, int]) -> float:
        """How many of its lines were changed; a file that is not text is changed wholly."""
        ways = ("diff", "--numstat", "-z", "-M1%", "--no-ext-diff", "--no-textconv", commit, head)
        counts = [count for _, count in _numstat(self._run(*ways, "--", path, place))]
        if None in counts:
            return 1.0
        return min(1.0, max((count or 0 for count in counts), default=0) / max(1, before.get(path, 1)))

    def _lines(self, commit: str, paths: Iterable[str]) -> dict[str, int]:
        """How many lines each file had: what a diff against nothing adds."""
        empty = self._run("hash-object", "-t", "tree", "--stdin").strip()
        lines: dict[str, int] = {}
        for batch in _batches(list(paths)):
            ways = ("diff", "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", empty, commit)
            lines |= {path: count or 1 for path, count in _numstat(self._run(*ways, "--", *batch))}
        return lines

    def _asked(self, *arguments: str) -> str | None:
        """One line of an answer; None where git has none."""
        try:
            return self._run(*arguments).strip() or None
        except RepositoryUnavailable as exc:
            if isinstance(exc.__cause__, subprocess.CalledProcessError):
                return None
            raise

    def _run(self, *arguments: str) -> str:
        safe = ("--no-pager", "--literal-pathspecs", "-c", "core.quotePath=false", "-c", "core.fsmonitor=false")
        try:
            done = subprocess.run(
                [self._command, *safe, "-C", str(self._root), *arguments],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=self._seconds,
                check=True,
            )
        except subprocess.CalledProcessError as exc:
            why = exc.stderr.decode(errors="replace").strip().splitlines() or [f"status {exc.returncode}"]
            raise RepositoryUnavailable(f"git cannot read {self._root}: {why[-1]}; see `git status` there") from exc
        except (OSError, subprocess.TimeoutExpired) as exc:
            raise RepositoryUnavailable(f"git did not answer in {self._root} ({exc}); try again later") from exc
        return done.stdout.decode("utf-8", "surrogateescape")


def open_repository(root: Path, environment: Mapping[str, str], seconds: float) -> GitRepository | None:
    """The repository at `root`; None where there is none, or no git."""
    command = shutil.which("git", path=environment.get("PATH"))
    if command is None or not (root / ".git").exists():
        return None
    return GitRepository(root, command, environment, seconds)


def _statuses(fields: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Letter, path before and path after, from `--name-status -z`."""
    each = iter([field.lstrip("\n") for field in fields])
    for status in each:
        if not status:
            continue
        old = next(each, "")
        yield status[0], old, next(each, "") if status[0] in _RENAMED else old


def _numstat(told: str) -> Iterator[tuple[str, int | None]]:
    """Path before, and how many lines were added or deleted, whichever is more; None of a file that is not text."""
    fields = iter(told.split("\0"))
    for field in fields:
        if not field:
            continue
        added, deleted, path = field.split("\t", 2)
        if not path:
            path, _new = next(fields, ""), next(fields, "")
        yield path, max(int(added), int(deleted)) if added.isdigit() and deleted.isdigit() else None


def _batches(paths: Sequence[str]) -> Iterator[Sequence[str]]:
    return (paths[start : start + _PATHS] for start in range(0, len(paths), _PATHS))
