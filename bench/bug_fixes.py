"""Cases for `bench.code_issues` from commits that fix a bug: the message, the code before, and the files changed.

Such a commit says so in its subject, changes one or two source files in Python, and a test or a news entry. Printed as
JSON lines, the newest `--limit` of each repository. Messages are easier than issues: their authors know the answer.
"""

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.one_function_commits import git
from treering.code.locations.file_roles import role_of

_FIXES = re.compile(
    r"\b(?:fix(?:e[sd])?|bugs?|crash\w*|errors?|fail\w*|wrong\w*|incorrect\w*|regress\w*|broken|missing|leak\w*)\b",
    re.I,
)
_NOT_CODE = re.compile(
    r"\b(?:typos?|docs?|docstrings?|documentation|tests?|ci|lint\w*|flake8|mypy|typing|annotations?|changelog|pre-commit)\b",
    re.I,
)
_TRAILER = re.compile(r"^(?:[A-Z][\w-]+-by:|Signed-off|\(cherry picked|git-svn-id).*$", re.M)
_REFERENCE = re.compile(
    r"\s*\(?(?:(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?|see|refs?|issue|PR)[:\s]*)?(?:\w+/\w+)?#\d+\)?"
)
_TEST_OR_NEWS = re.compile(
    r"(?:^|/)tests?/|(?:^|/)test_[^/]*\.py$|(?:^|/)(?:changes|changelog|news|history|releases?)", re.I
)
MIN_LETTERS = 25  # of a message without references: less describes nothing
MAX_FILES = 8  # of a commit that is about one bug


def message_of(text: str) -> str:
    """A commit message without trailers and numbers of issues, which an agent would not be given."""
    return _REFERENCE.sub("", _TRAILER.sub("", text)).strip()


def fixes_in(name: str, directory: Path, limit: int) -> Iterator[dict[str, Any]]:
    """The newest cases of a repository, one for each set of changed files."""
    log = git(directory, "log", "--no-merges", "--name-status", "--no-renames", "--format=%x00%H%n%P%n%B%x01").decode(
        "utf-8", "replace"
    )
    seen = set[tuple[str, ...]]()
    for entry in log.split("\0")[1:]:
        head, _, listed = entry.partition("\1")
        _commit, parents, body = head.split("\n", 2)
        subject, message = body.partition("\n")[0], message_of(body)
        statuses = {path: status for status, _, path in (line.partition("\t") for line in listed.split("\n") if line)}
        if not (_FIXES.search(subject) and not _NOT_CODE.search(subject) and len(message) >= MIN_LETTERS and parents):
            continue
        changed = sorted(path for path in statuses if path.endswith(".py") and role_of(path) < 0)
        tested = any(_TEST_OR_NEWS.search(path) for path in statuses)
        if not tested or len(statuses) > MAX_FILES or not 1 <= len(changed) <= 2 or tuple(changed) in seen:
            continue
        if any(statuses[path] != "M" for path in changed):
            continue
        seen.add(tuple(changed))
        yield {"repo": name, "base_commit": parents, "problem_statement": message, "gold_files": changed}
        if len(seen) == limit:
            return


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("repositories", nargs="+", metavar="OWNER/NAME")
    options.add_argument("--mirror", type=Path, required=True, help="folder of bare repositories: owner+name/repo")
    options.add_argument("--limit", type=int, default=25, help="maximum number of cases of each repository (25)")
    given = options.parse_args()
    for name in given.repositories:
        for case in fixes_in(name, given.mirror / name.replace("/", "+") / "repo", given.limit):
            print(json.dumps(case))


if __name__ == "__main__":
    main()
