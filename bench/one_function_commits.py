"""Commits of Python repositories that changed one function and its tests, found in their git histories."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_TEST = re.compile(r"(^|/)(test_[^/]*|[^/]*_test)\.py$")
_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
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
    log = git(
        directory, "log", "--no-merges", "--name-status", "--no-renames", "--format=%x00%H", "--", "*.py"
    ).decode()
    found = 0
    for entry in log.split("\0")[1:]:
        commit, *lines = entry.split()
        if len(lines) > 2 * MAX_FILES:
            continue
        statuses = dict(zip(lines[1::2], lines[::2], strict=True))
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
    try:
        tree = ast.parse(git(directory, "show", f"{commit}^:{code[0]}"))
    except (SyntaxError, ValueError, subprocess.CalledProcessError):
        return None
    around = {_function_at(tree, int(start), int(count or 1)) for start, count, *_ in _HUNK.findall(diff)}
    if len(around) != 1 or None in around:
        return None
    qualname = around.pop() or ""
    return FunctionChange(name, commit, code[0], qualname, tuple(path for path in tests if statuses[path] == "M"))


def _function_at(tree: ast.Module, line: int, count: int) -> str | None:
    """Return the outermost function, or method of a class, around the lines; None if there is none."""
    last = line + max(count, 1) - 1
    names: list[str] = []
    body = tree.body
    while True:
        node = next(
            (n for n in body if isinstance(n, _NAMED) and n.lineno <= line and last <= (n.end_lineno or 0)), None
        )
        if node is None:
            return None
        names.append(node.name)
        if not isinstance(node, ast.ClassDef):
            return ".".join(names)
        body = node.body
