"""Does `impact` of a function list the test files that the commit which changed it also changed?

Commits that changed one function and its tests are taken from git histories. The repository is indexed as it was before
each commit, with its history until then, and `impact` is asked about the function. A file of tests is reached if the
file or a definition in it is among the dependents; `test_files` lists those that are likely to test the function, best
first. A file that only the commit itself connects to the function (its first test there) could not be reached before: a
second row leaves such files out.
"""

import argparse
import json
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import treering
from bench.one_function_commits import FunctionChange, changes_in, git, is_test_file
from bench.results import table, write_section
from treering.core.errors import TreeringError

HEADERS = (
    *("repository", "commits", "changed test files reached", "of them listed", "a changed one in the first 5"),
    *("median share of test files listed", "without any answer"),
)
TOP = 5


class Outcome(NamedTuple):
    change: FunctionChange
    reached: frozenset[str]
    """Files among the dependents."""
    listed: tuple[str, ...]
    """Files of tests, ranked."""
    every: int
    """Files of tests in the repository."""
    connected: frozenset[str]
    """Changed files of tests that do not reach the function before the commit, but do after it."""
    bare: bool
    """Whether the answer named no dependent, no importing file and no unresolved use."""

    @property
    def wanted(self) -> frozenset[str]:
        return frozenset(self.change.tests)

    @property
    def found(self) -> int:
        return len(self.wanted & set(self.listed))

    @property
    def in_top(self) -> bool:
        return bool(self.wanted & set(self.listed[:TOP]))

    def without_new(self) -> "Outcome":
        """The same for the files of tests that the commit does not connect."""
        tests = tuple(each for each in self.change.tests if each not in self.connected)
        return self._replace(change=self.change._replace(tests=tests))

    @property
    def share(self) -> float:
        return len(self.listed) / self.every if self.every else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mirror", type=Path, required=True, help="folder of git directories, owner+name/repo")
    parser.add_argument("--commits", type=Path, help="JSON list of commits instead of those found in the histories")
    parser.add_argument("--repositories", nargs="*", default=[], help="owner/name of the repositories to search")
    parser.add_argument("--limit", type=int, default=12, help="commits per repository")
    parser.add_argument("--show", action="store_true", help="print every commit")
    parser.add_argument("--title", help="write the table to the results page under this title")
    given = parser.parse_args()
    changes = stored(given.commits) if given.commits else collected(given.mirror, given.repositories, given.limit)
    outcomes = measured(given.mirror, changes, show=given.show)
    rows = [row(name, some) for name, some in sorted(by_repository(outcomes).items())]
    older = [each for each in (outcome.without_new() for outcome in outcomes) if each.wanted]
    body = table(HEADERS, [*rows, row("all", outcomes), row("all without first tests", older)])
    if given.title:
        write_section("impact-commits", given.title, body)
    else:
        print(body)


def stored(path: Path) -> list[FunctionChange]:
    changes = []
    for each in json.loads(path.read_text("utf-8")):
        file, _, qualname = each["function"].partition(":")
        changes.append(FunctionChange(each["repo"], each["commit"], file, qualname, tuple(each["tests"])))
    return changes


def directory_of(mirror: Path, name: str) -> Path:
    return mirror / name.replace("/", "+") / "repo"


def collected(mirror: Path, names: Sequence[str], limit: int) -> list[FunctionChange]:
    return [change for name in names for change in changes_in(name, directory_of(mirror, name), limit)]


def by_repository(outcomes: Iterable[Outcome]) -> dict[str, list[Outcome]]:
    found: defaultdict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        found[outcome.change.repository].append(outcome)
    return found


def row(name: str, outcomes: Sequence[Outcome]) -> tuple[object, ...]:
    tests = sum(len(each.wanted) for each in outcomes)
    return (
        name,
        len(outcomes),
        f"{sum(len(each.reached & each.wanted) for each in outcomes) / tests:.3f}",
        f"{sum(each.found for each in outcomes) / tests:.3f}",
        f"{sum(each.in_top for each in outcomes) / len(outcomes):.3f}",
        f"{median(each.share for each in outcomes):.3f}",
        sum(each.bare for each in outcomes),
    )


def measured(mirror: Path, changes: Sequence[FunctionChange], *, show: bool) -> list[Outcome]:
    """Ask about every change, oldest first; a repository is indexed once, then updated from commit to commit."""
    outcomes = []
    with tempfile.TemporaryDirectory() as folder:
        for change in reversed(changes):
            root = Path(folder) / change.repository.replace("/", "+")
            directory, database = directory_of(mirror, change.repository), Path(folder) / f"{root.name}.db"
            check_out(directory, f"{change.commit}^", root)
            outcome = asked(change, root, database)
            if outcome.wanted - outcome.reached:
                check_out(directory, change.commit, root)
                after = asked(change, root, database)
                outcome = outcome._replace(connected=outcome.wanted & after.reached - outcome.reached)
            outcomes.append(outcome)
            if show:
                listed = f"{len(outcome.listed)} of {outcome.every}"
                found = f"{outcome.found} of {len(change.tests)}{' top' if outcome.in_top else ''}"
                print(f"{change.commit[:8]} {change.repository} {change.function}: {found}, {listed}", flush=True)
                for path in sorted(outcome.wanted - set(outcome.listed)):
                    print(f"    {_why_missing(outcome, path)}: {path}", flush=True)
    return outcomes


def _why_missing(outcome: Outcome, path: str) -> str:
    if path in outcome.reached:
        return "not listed"
    return "connected by the commit" if path in outcome.connected else "not reached"


def check_out(directory: Path, commit: str, root: Path) -> None:
    """Check out a commit in `root`, a clone that is made first: git's ignore rules depend on what it tracks."""
    if not root.exists():
        subprocess.run(["git", "clone", "--quiet", "--shared", "--no-checkout", directory, root], check=True)
    git(root / ".git", f"--work-tree={root}", "checkout", "--quiet", "--force", commit)


def asked(change: FunctionChange, root: Path, database: Path) -> Outcome:
    every = sum(1 for path in root.rglob("*") if is_test_file(path.relative_to(root).as_posix()))
    with treering.open(str(database), project=root.name, repository=root, background=False) as memory:
        memory.code.index(root)
        try:
            found = memory.code.impact(change.function, cap=None)
        except TreeringError as exc:
            print(f"{change.function}: {exc}")
            return Outcome(change, frozenset(), (), every, frozenset(), True)
    reached = frozenset(each.partition("::")[0] for each in found.dependents.ids)
    listed = tuple(file.path for file in found.test_files if is_test_file(file.path))
    bare = not found.total and not found.importers and not found.unresolved
    return Outcome(change, reached, listed, every, frozenset(), bare)


if __name__ == "__main__":
    main()
