"""What the resolution of one file has found so far: edges, each once, and uses whose target is not known."""

from treering.core.graph import EdgeKind
from treering.index.facts import Edge, Resolved, Unresolved
from treering.index.languages.rust.body import Decl, qualname
from treering.index.languages.rust.names import Found

SURE = 1.0
EVIDENT = 0.9
"""Through a type that the code makes evident."""


class Findings:
    def __init__(self, path: str) -> None:
        self._path = path
        self._edges: dict[tuple[str, str, EdgeKind], Edge] = {}
        self._unresolved: dict[tuple[str, str, int], Unresolved] = {}
        self.origin = path
        self.line = 1

    def reach(self, found: Found) -> None:
        """The file names a declaration of another file; what reads a constant depends on it."""
        if found.decl is None:
            return
        if found.decl.kind == "const":
            self.depend(found.path, found.decl, SURE, self.line)
        else:
            self.reach_file(found.path)

    def reach_file(self, path: str) -> None:
        if path != self._path:
            self._add(Edge(self._path, path, EdgeKind.IMPORTS, SURE, self.line))

    def call(self, path: str, decl: Decl, confidence: float, line: int, flow: int) -> None:
        self.reach_file(path)
        self._add(Edge(self.origin, f"{path}::{qualname(decl)}", EdgeKind.CALLS, confidence, line, flow))

    def depend(self, path: str, decl: Decl, confidence: float, line: int) -> None:
        """A constant read, an operator used, a function passed on: needed without being called by its name."""
        self.tie(self.origin, f"{path}::{qualname(decl)}", EdgeKind.DEPENDS_LOGICALLY, confidence, line)

    def tie(self, origin: str, target: str, kind: EdgeKind, confidence: float, line: int) -> None:
        if origin != target:
            self._add(Edge(origin, target, kind, confidence, line))

    def unknown(self, text: str, line: int) -> None:
        self._unresolved.setdefault((self.origin, text, line), Unresolved(self.origin, text, line))

    def _add(self, edge: Edge) -> None:
        """The surest of several uses of the same, at its first line; what flows in any of them flows."""
        key = (edge.origin, edge.target, edge.kind)
        before = self._edges.get(key)
        if before is None:
            self._edges[key] = edge
        elif before != edge:
            self._edges[key] = Edge(
                edge.origin,
                edge.target,
                edge.kind,
                max(before.confidence, edge.confidence),
                min(before.line, edge.line),
                before.flow | edge.flow,
            )

    def all(self) -> Resolved:
        edges = sorted(self._edges.values(), key=lambda edge: (edge.origin, edge.kind, edge.target))
        return Resolved(
            tuple(edges), tuple(sorted(self._unresolved.values(), key=lambda use: (use.line, use.origin, use.text)))
        )
