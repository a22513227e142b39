"""The history of a git repository."""

import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from treering.adapters.git.runner import GitRunner, git_command
from treering.ports.repository import FileChange

_COMMIT = re.compile(r"[0-9a-fA-F]{4,64}")
_RENAMED = ("R", "C")
_COMMITTED = "\x01"
_Touch = tuple[datetime | None, str, str, str]
# A session on an old branch uses the old path long after the commit that renames the file elsewhere.
_MAX_BRANCH_AGE = timedelta(days=90)
# Paths per command: far below the system's limit on arguments.
_PATHS = 200


class GitRepository:
    """The repository around `root`."""

    def __init__(self, root: Path, command: str, environment: Mapping[str, str], seconds: float) -> None:
        self._root, self._git = root, GitRunner(root, command, environment, seconds)
        self._known: tuple[str, Sequence[tuple[int, str]]] | None = None
        self._read: tuple[tuple[tuple[str, ...], str], Sequence[_Touch]] | None = None

    def head(self) -> str | None:
        return self._asked("rev-parse", "--verify", "--quiet", "HEAD^{commit}")

    def known(self, commits: Iterable[str]) -> frozenset[str]:
        asked = [commit for commit in dict.fromkeys(commits) if _COMMIT.fullmatch(commit)]
        if not asked:
            return frozenset()
        output = self._git.run("cat-file", "--batch-check", given="".join(f"{commit}^{{commit}}\n" for commit in asked))
        found = (line.split()[1:2] == ["commit"] for line in output.splitlines())
        return frozenset(commit for commit, here in zip(asked, found, strict=True) if here)

    def commit_before(self, moment: datetime, head: str) -> str | None:
        times = self._times(head)
        place = bisect_right(times, moment.timestamp(), key=lambda each: each[0])
        return times[place - 1][1] if place else None

    def ends(self, commits: Sequence[str]) -> tuple[str, ...]:
        distinct = tuple(dict.fromkeys(commits))
        if len(distinct) < 2:
            return distinct
        ends = frozenset(self._git.run("merge-base", "--independent", *distinct).split())
        return tuple(commit for commit in distinct if commit in ends)

    def changes_since(self, seen: Sequence[str], head: str, paths: Iterable[str]) -> Mapping[str, FileChange]:
        wanted = tuple(dict.fromkeys(paths))
        if head in seen or not wanted:
            return {}
        touched = self._followed(tuple(seen), head, wanted)
        if not touched:
            return {}
        parted = (self._asked("merge-base", commit, head) for commit in seen)
        bases = dict.fromkeys((*seen, *(commit for commit in parted if commit is not None)))
        shares = [self._shares(base, head, {path: place for path, (place, _) in touched.items()}) for base in bases]
        return {
            path: FileChange(place, min((each[path] for each in shares), default=1.0), at)
            for path, (place, at) in touched.items()
        }

    def present(self, head: str, paths: Iterable[str]) -> frozenset[str]:
        there: set[str] = set()
        wanted = tuple(dict.fromkeys(paths))
        for batch in _batches(wanted):
            there |= set(self._git.run("ls-tree", "-r", "-z", "--name-only", head, "--", *batch).split("\0"))
        return frozenset(wanted) & there

    def renamed(self, head: str, first_used: Mapping[str, datetime]) -> Mapping[str, str]:
        here = self.present(head, first_used)
        absent = {
            path: at for path, at in first_used.items() if path not in here and not os.path.lexists(self._root / path)
        }
        if not absent:
            return {}
        base = self.commit_before(min(absent.values()) - _MAX_BRANCH_AGE, head)
        places = _renamed_places(self._log(() if base is None else (base,), head), absent)
        there = self.present(head, places.values())
        return {path: place for path, place in places.items() if place in there}

    def _times(self, head: str) -> Sequence[tuple[int, str]]:
        """Commit times in ascending order; read once per checked-out commit."""
        if self._known is None or self._known[0] != head:
            lines = self._git.run("log", "--reverse", "--topo-order", "--format=%ct %H", head).split()
            pairs = zip(lines[::2], lines[1::2], strict=True)
            # A stable sort: of two commits in one second, the later one stays last.
            self._known = head, sorted(((int(at), commit) for at, commit in pairs), key=lambda each: each[0])
        return self._known[1]

    def _followed(
        self, seen: tuple[str, ...], head: str, paths: Sequence[str]
    ) -> dict[str, tuple[str | None, datetime | None]]:
        """Present path of each touched path, and the time of its last change; renames are followed between commits."""
        places: dict[str, str | None] = {path: path for path in paths}
        at: dict[str, set[str]] = {path: {path} for path in paths}
        touched: dict[str, datetime | None] = {}
        for moment, status, old, new in self._log(seen, head):
            if status == "C":
                continue
            moved = at.pop(old, set())
            if status != "D":
                # A deleted path may have been created again.
                moved = moved | ({new} if places.get(new, new) is None else set())
                at.setdefault(new, set()).update(moved)
            places |= dict.fromkeys(moved, None if status == "D" else new)
            touched |= dict.fromkeys(moved, moment)
        # A merge may have deleted a file that no single commit deleted.
        there = self.present(head, [place for path in touched if (place := places[path]) is not None])
        return {path: (places[path] if places[path] in there else None, moment) for path, moment in touched.items()}

    def _log(self, seen: tuple[str, ...], head: str) -> Sequence[_Touch]:
        """Paths touched by the new commits, earliest first; the last log read is cached for the next page."""
        if self._read is None or self._read[0] != (seen, head):
            ways = ("log", "-M", "--format=%x01%ct", "--name-status", "-z", "--topo-order", "--reverse")
            output = self._git.run(*ways, "--no-ext-diff", "--no-textconv", head, "--not", *seen)
            self._read = (seen, head), list(_statuses(output.split("\0")))
        return self._read[1]

    def _shares(self, base: str, head: str, places: Mapping[str, str | None]) -> dict[str, float]:
        """Changed share of each file since `base`; 1 for a deleted file, unless it was already absent in `base`."""
        gone = [path for path, place in places.items() if place is None]
        lost = self.present(base, gone)
        shares = {path: float(path in lost) for path in gone}
        before = self._lines(base, places.keys() - gone)
        same = [path for path, place in places.items() if path == place]
        changed: dict[str, int | None] = {}
        for batch in _batches(same):
            changed |= dict(self._numbers("--no-renames", base, head, *batch))
        for path, place in places.items():
            if place is not None and path != place:
                counts = [count for _, count in self._numbers("-M1%", base, head, path, place)]
                changed[path] = None if None in counts else max((count or 0 for count in counts), default=0)
        for path in places.keys() - gone:
            count = changed.get(path, 0)
            shares[path] = 1.0 if count is None else min(1.0, count / max(1, before.get(path, 1)))
        return shares

    def _numbers(self, way: str, base: str, head: str, *paths: str) -> Iterator[tuple[str, int | None]]:
        ways = ("diff", "--numstat", "-z", way, "--no-ext-diff", "--no-textconv", base, head)
        return _numstat(self._git.run(*ways, "--", *paths))

    def _lines(self, commit: str, paths: Iterable[str]) -> dict[str, int]:
        """Number of lines of each file: the lines that a diff against the empty tree adds."""
        empty = self._git.run("hash-object", "-t", "tree", "--stdin").strip()
        lines: dict[str, int] = {}
        for batch in _batches(list(paths)):
            lines |= {path: count or 1 for path, count in self._numbers("--no-renames", empty, commit, *batch)}
        return lines

    def _asked(self, *arguments: str) -> str | None:
        """One line of output; None if git fails or prints nothing."""
        answer = self._git.ask(*arguments)
        return answer.text.strip() or None if answer.status == 0 else None


def open_repository(root: Path, environment: Mapping[str, str], seconds: float) -> GitRepository | None:
    """The repository at `root`; None without a repository or without git."""
    command = git_command(environment)
    if command is None or not (root / ".git").exists():
        return None
    return GitRepository(root, command, environment, seconds)


def _renamed_places(log: Iterable[_Touch], first_used: Mapping[str, datetime]) -> dict[str, str]:
    """Last path of each file that the log renames."""
    places = {path: path for path in first_used}
    at = {path: {path} for path in first_used}
    for moment, status, old, new in log:
        if status == "R" and (moved := at.pop(old, None)):
            at.setdefault(new, set()).update(moved)
            places |= dict.fromkeys(moved, new)
        elif status == "A" and places.get(new, new) != new and moment is not None and moment <= first_used[new]:
            # Another file is at this path since then, and it is the one that was used.
            at[places[new]].discard(new)
            at.setdefault(new, set()).add(new)
            places[new] = new
    return {path: place for path, place in places.items() if path != place}


def _statuses(fields: Sequence[str]) -> Iterator[_Touch]:
    """Time, status letter, old path and new path, from `--format=%x01%ct --name-status -z`."""
    moment: datetime | None = None
    each = iter([field.lstrip("\n") for field in fields])
    for status in each:
        if status.startswith(_COMMITTED):
            moment = datetime.fromtimestamp(int(status[1:]), UTC)
        elif status:
            old = next(each, "")
            yield moment, status[0], old, next(each, "") if status[0] in _RENAMED else old


def _numstat(output: str) -> Iterator[tuple[str, int | None]]:
    """Old path, and the larger of added and deleted lines; None for a binary file."""
    fields = iter(output.split("\0"))
    for field in fields:
        if not field:
            continue
        added, deleted, path = field.split("\t", 2)
        if not path:
            path, _new = next(fields, ""), next(fields, "")
        yield path, max(int(added), int(deleted)) if added.isdigit() and deleted.isdigit() else None


def _batches(paths: Sequence[str]) -> Iterator[Sequence[str]]:
    return (paths[start : start + _PATHS] for start in range(0, len(paths), _PATHS))
