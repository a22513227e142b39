"""Commits that changed one function and its tests, found in the git histories of repositories."""

import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from treering.code.facts import Definition
from treering.code.language_choice import language_of, load_language
from treering.code.language_table import LANGUAGES

_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_TEST = re.compile(
    r"""(^|/)(test_[^/]*|[^/]*_test)\.py$
    | _test\.go$
    | \.(test|spec)\.[cm]?[jt]sx?$
    | (^|/)tests/[^.]*\.rs$
    """,
    re.VERBOSE,
)
_SUFFIXES = tuple(suffix for language in LANGUAGES for suffix in language.suffixes)
_RUST_TESTS = ("tests", "test")
"""Modules inside a file of Rust that hold its tests: a change there is not a change of the code."""
MAX_FILES = 8
"""A commit that changes more files is hardly about one function."""


class FunctionChange(NamedTuple):
    """A commit, the only function that it changed outside tests, and the test files that it changed."""

    repository: str
    commit: str
    path: str
    qualname: str
    tests: tuple[str, ...]

    @property
    def function(self) -> str:
        return f"{self.path}:{self.qualname}"


def is_test_file(path: str) -> bool:
    return _TEST.search(path) is not None


def git(directory: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", f"--git-dir={directory}", *arguments], capture_output=True, check=True).stdout


def changes_in(name: str, directory: Path, limit: int) -> Iterator[FunctionChange]:
    """Yield the newest `limit` such commits of a repository, newest first."""
    patterns = [f"*{suffix}" for suffix in _SUFFIXES]
    log = git(
        directory, "log", "--no-merges", "--name-status", "--no-renames", "--format=%x00%H", "--", *patterns
    ).decode()
    found = 0
    for entry in log.split("\0")[1:]:
        commit, *lines = entry.rstrip("\n").split("\n")
        statuses = {path: status for status, _, path in (line.partition("\t") for line in lines if line)}
        if len(statuses) > MAX_FILES:
            continue
        change = _change(name, directory, commit, statuses)
        if change is not None:
            yield change
            found += 1
            if found == limit:
                return


def _change(name: str, directory: Path, commit: str, statuses: dict[str, str]) -> FunctionChange | None:
    tests = sorted(path for path in statuses if is_test_file(path))
    code = [path for path in statuses if path not in tests and not path.endswith("conftest.py")]
    if len(code) != 1 or statuses[code[0]] != "M" or not any(statuses[path] == "M" for path in tests):
        return None
    diff = git(directory, "diff", "-U0", f"{commit}^", commit, "--", code[0]).decode("utf-8", "replace")
    language = load_language(language_of(code[0]) or "")
    before = language.extract(code[0], git(directory, "show", f"{commit}^:{code[0]}"))
    if before.problems:
        return None
    around = {
        _function_at(before.definitions, int(start), int(count or 1)) for start, count, *_ in _HUNK.findall(diff)
    } - {""}
    if len(around) != 1 or None in around:
        return None
    qualname = around.pop() or ""
    return FunctionChange(name, commit, code[0], qualname, tuple(path for path in tests if statuses[path] == "M"))


def _function_at(definitions: Sequence[Definition], line: int, count: int) -> str | None:
    """Return the outermost function, or method of a class, around the lines.

    Empty if they are in a module of tests, None if there is no function around them.
    """
    last = line + max(count, 1) - 1
    around = [each for each in definitions if each.line <= line and last <= each.end_line]
    if any(each.kind == "module" and each.qualname in _RUST_TESTS for each in around):
        return ""
    functions = [each for each in around if each.kind in ("function", "method")]
    return min(functions, key=lambda each: len(each.qualname)).qualname if functions else None
