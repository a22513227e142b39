"""`pyproject.toml`: the console scripts of a project as entry points."""

from pathlib import PurePosixPath
from typing import Any

from treering.code.facts import Edge, Facts, Resolved, SymbolLookup, SyntaxProblem, Unresolved
from treering.code.languages.python.body import PythonBody
from treering.code.languages.python.evaluator import PythonEvaluator
from treering.code.languages.python.values import ClassValue, FunctionValue
from treering.code.languages.toml import read_toml
from treering.core.graph import EdgeKind

_TABLES = (("project", "scripts"), ("project", "gui-scripts"), ("tool", "poetry", "scripts"))


def is_manifest(path: str) -> bool:
    return PurePosixPath(path).name == "pyproject.toml"


def extract_manifest(path: str, source: bytes) -> Facts:
    read = read_toml(source)
    if isinstance(read, SyntaxProblem):
        return Facts(path, (), PythonBody(), (read,))
    lines = source.decode().splitlines()
    scripts = []
    for table in _TABLES:
        for name, target in _table(read, table).items():
            if isinstance(target, str):
                line = next((number for number, text in enumerate(lines, 1) if target in text), 1)
                scripts.append((str(name), target, line))
    return Facts(path, (), PythonBody(scripts=tuple(scripts)))


def _table(read: Any, path: tuple[str, ...]) -> dict[str, Any]:
    for name in path:
        read = read.get(name) if isinstance(read, dict) else None
    return read if isinstance(read, dict) else {}


def resolve_manifest(facts: Facts, lookup: SymbolLookup) -> Resolved:
    """Add an edge from the manifest to the function of each script."""
    project = PythonEvaluator(facts.path, (), lookup)
    edges, unresolved = [], []
    for _, target, line in facts.body.scripts:
        module, _, name = target.partition(":")
        values = project.imported_from(facts.path, module.strip(), name.strip()) if name else ()
        found = [value for value in values if isinstance(value, (FunctionValue, ClassValue))]
        for value in found:
            identity = f"{value.path}::{value.qualname}"
            edges.append(Edge(facts.path, identity, EdgeKind.IS_ENTRYPOINT_FOR, 1.0, line))
        if not found:
            unresolved.append(Unresolved(facts.path, target, line))
    return Resolved(tuple(edges), tuple(unresolved))
