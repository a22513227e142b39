"""Files that are about the code rather than the code itself: they count less unless a question asks for them."""

import re
from typing import NamedTuple

from treering.code.locations.question import CodeQuestion


class FileRole(NamedTuple):
    """Files with a matching path count `weight`, or in full if the question matches `asked`."""

    name: str
    path: re.Pattern[str]
    asked: re.Pattern[str]
    weight: float


def _role(name: str, path: str, asked: str, weight: float) -> FileRole:
    return FileRole(name, re.compile(path, re.I), re.compile(rf"\b(?:{asked})", re.I), weight)


# Chosen with the weights of the ranking: see docs/decisions/0035-where.md.
ROLES = (
    _role(
        "form",
        # An issue that was written into a form contains all of its words.
        r"(?:^|/)\.(?:github|gitlab|gitea|forgejo)/(?:issue_template|pull_request_template|merge_request_template)",
        r"issue template|issue form|pull request template|bug report form",
        0.1,
    ),
    _role(
        "test",
        # A package `test` or `testing` inside the source may be the code that users test with: django/test.
        r"(?:^|/)(?:tests|__tests__|specs?)/|^(?:test|testing)/|(?:^|/)src/test/"
        r"|(?:^|/)test_[^/]*$|[._]test\.[^/]*$|\.spec\.[^/]*$|(?:^|/)conftest\.py$",
        r"tests?\b|testing\b|tested\b|fixtures?\b",
        0.4,
    ),
    _role(
        "example",
        r"(?:^|/)(?:examples?|samples?|demos?|tutorials?|benchmarks?|asv_bench)/",
        r"example|sample|demo|tutorial|benchmark",
        0.5,
    ),
    _role(
        "vendored",
        r"(?:^|/)(?:_?vendor(?:ed)?|third_party|extern|node_modules)/",
        r"vendor|third.party",
        0.5,
    ),
    _role(
        "documentation",
        r"(?:^|/)docs?/|\.(?:md|mdx|rst|txt|adoc)$",
        r"document|docs?\b|readme|guide|changelog|release notes|explained|described",
        0.5,
    ),
    _role(
        "set-up",
        r"(?:^|/)(?:setup|conf|noxfile|tasks|fabfile|versioneer|_?version|__version__|release)\.py$"
        r"|(?:^|/)(?:scripts?|tools|ci|\.github)/|\.(?:toml|cfg|ini|ya?ml|json|lock|xml|csv|tsv|properties|env)$"
        r"|(?:^|/)(?:dockerfile|makefile)[^/]*$",
        r"config|setting|set.?up|install|build|package|release|version|workflow|pipeline|dependenc|script|data\b"
        r"|docker|makefile|json|ya?ml|toml|csv",
        0.8,
    ),
)


def role_of(path: str) -> int:
    """Index of the first role that fits, or -1 for code."""
    return next((place for place, role in enumerate(ROLES) if role.path.search(path)), -1)


_TEST = next(place for place, role in enumerate(ROLES) if role.name == "test")


def role_in(path: str, symbol: str, of_file: int) -> int:
    """The role of a definition: that of its file, but test for the module of tests that a file of Rust ends with."""
    return _TEST if path.endswith(".rs") and symbol.startswith(("tests.", "test.")) else of_file


def role_weights(question: CodeQuestion) -> tuple[float, ...]:
    """Weight of the files of each role for a question; the last is that of code."""
    weights = [1.0 if not question.is_report and role.asked.search(question.text) else role.weight for role in ROLES]
    return (*weights, 1.0)
