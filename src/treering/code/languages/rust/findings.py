"""Edges and unresolved uses found by the resolution of one file."""

import sys

from treering.code.facts import Edge, Facts, Resolved, Unresolved
from treering.code.languages.edges import EVIDENT, SURE, EdgeSet
from treering.code.languages.references import CodeReference, add_references
from treering.code.languages.rust.body import Declaration, qualname
from treering.code.languages.rust.names import PathTarget
from treering.core.graph import EdgeKind

_TYPES = frozenset({"struct", "enum", "union", "trait", "type"})


class Findings:
    def __init__(self, facts: Facts) -> None:
        self._path = path = facts.path
        self._edges = EdgeSet(facts)
        self._unresolved: dict[tuple[str, str, int], Unresolved] = {}
        self._reached: dict[str, int] = {}
        self._ids: dict[tuple[str, Declaration], str] = {}
        self.origin = path
        self.line = 1
        self.user = path
        """The definition that names what is reached; unlike `origin`, a constant or type may be one."""
        self.written: frozenset[str] = frozenset()
        """Paths in the item that is being resolved. Inference follows the types of other items as well."""

    def reach(self, found: PathTarget, path: str, kind: EdgeKind | None = EdgeKind.ANNOTATES) -> None:
        """Record a use of a declaration by a path; reading a constant is a dependency on it. An import has no kind."""
        if found.decl is None:
            return
        if found.decl.kind == "const":
            self.depend(found.path, found.decl, SURE, self.line)
            return
        self.reach_file(found.path)
        if kind is not None and found.decl.kind in _TYPES and path in self.written:
            self.refer(found.path, found.decl, kind)

    def refer(self, path: str, decl: Declaration, kind: EdgeKind) -> None:
        add_references(self._edges, (CodeReference(self.user, self.id_of(path, decl), kind, self.line),))

    def refer_to_function(self, path: str, decl: Declaration) -> None:
        """Record a function that is used as a value; a constant that holds it registers it."""
        self.refer(path, decl, EdgeKind.REFERENCES if self.user == self.origin else EdgeKind.REGISTERS)

    def run(self, root: str, line: int) -> None:
        """Record that a binary of the project, given by its root file, is run."""
        self.relate(self.origin, f"{root}::main", EdgeKind.REFERENCES, EVIDENT, line)

    def reach_file(self, path: str) -> None:
        if path != self._path and self.line < self._reached.get(path, sys.maxsize):
            self._reached[path] = self.line
            self._edges.add(Edge(self._path, path, EdgeKind.IMPORTS, SURE, self.line))

    def call(self, path: str, decl: Declaration, confidence: float, line: int, flow: int) -> None:
        self.reach_file(path)
        self._edges.add(Edge(self.origin, self.id_of(path, decl), EdgeKind.CALLS, confidence, line, flow))

    def depend(self, path: str, decl: Declaration, confidence: float, line: int) -> None:
        """Record a dependency without a call by name: a constant, an operator."""
        self.relate(self.origin, self.id_of(path, decl), EdgeKind.DEPENDS_LOGICALLY, confidence, line)

    def id_of(self, path: str, decl: Declaration) -> str:
        key = (path, decl)
        known = self._ids.get(key)
        if known is None:
            known = self._ids[key] = f"{path}::{qualname(decl)}"
        return known

    def relate(self, origin: str, target: str, kind: EdgeKind, confidence: float, line: int) -> None:
        if origin != target:
            self._edges.add(Edge(origin, target, kind, confidence, line))

    def add_unresolved(self, text: str, line: int) -> None:
        self._unresolved.setdefault((self.origin, text, line), Unresolved(self.origin, text, line))

    def all(self) -> Resolved:
        unresolved = sorted(self._unresolved.values(), key=lambda use: (use.line, use.origin, use.text))
        return Resolved(self._edges.all(), tuple(unresolved))
