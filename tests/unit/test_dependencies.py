"""Whatever is imported is declared: nothing comes in only because something else brings it along."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

HERE = Path(__file__).parents[2]
DECLARED = tomllib.loads((HERE / "pyproject.toml").read_text())
OWN = {"treering", "tests", "bench"}
EXTRAS = DECLARED["project"]["optional-dependencies"]
PROJECT = [*DECLARED["project"]["dependencies"], *(each for extra in EXTRAS.values() for each in extra)]
GROUPS = {
    name: [each for each in group if isinstance(each, str)] for name, group in DECLARED["dependency-groups"].items()
}

FOR_TESTS = [*PROJECT, *GROUPS["test"], *GROUPS["panel"], *GROUPS["agents"]]
FOR_BENCHES = [*FOR_TESTS, *GROUPS["bench"], *GROUPS["calibration"]]


@pytest.mark.parametrize(("folder", "declared"), [("src", PROJECT), ("tests", FOR_TESTS), ("bench", FOR_BENCHES)])
def test_what_is_imported_is_declared(folder: str, declared: list[str]) -> None:
    names = {_named(each) for each in declared}
    brought_by = _distributions()
    missing = {
        module
        for module in _imported((HERE / folder).rglob("*.py")) - OWN - sys.stdlib_module_names
        if module in brought_by and not names & {_named(each) for each in brought_by[module]}
    }
    assert missing == set()


@cache
def _distributions() -> Mapping[str, list[str]]:
    return packages_distributions()


def _named(requirement: str) -> str:
    """What is required, as registries compare names."""
    name = re.match(r"[\w.-]+", requirement)
    assert name
    return re.sub(r"[-_.]+", "-", name[0]).lower()


def _imported(files: Iterable[Path]) -> set[str]:
    """The first part of each name that is imported."""
    found = set[str]()
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return found
