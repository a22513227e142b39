"""Random code for the graph's property tests, and the plainest possible answers about it."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from hypothesis import strategies as st

from treering.code.facts import CallFlow, Definition, DefinitionKind, Edge
from treering.code.graph import CodeGraph, ServedEdge
from treering.code.graph.kinds import WEIGHTS
from treering.core.graph import EdgeKind

PATHS = ("a.py", "b.py", "pkg/c.py", "pkg/d.py", "tests/test_e.py")
QUALNAMES = ("f", "g", "K", "K.m", "K.n", "K.m.inner", "test_h")
KIND_OF_NAME = {"K": DefinitionKind.CLASS, "K.m": DefinitionKind.METHOD, "K.n": DefinitionKind.METHOD}


class File(NamedTuple):
    """What one version of a file says."""

    definitions: tuple[Definition, ...]
    edges: tuple[Edge, ...]


def definition(qualname: str) -> Definition:
    kind = KIND_OF_NAME.get(qualname, DefinitionKind.FUNCTION)
    return Definition(qualname, kind, 1, 9, test=qualname.startswith("test_"))


IDS = tuple(f"{path}::{name}" for path in PATHS for name in QUALNAMES)
MAY_CALL = frozenset({EdgeKind.CALLS, EdgeKind.REFERENCES, EdgeKind.REGISTERS})
CONFIDENCES = st.sampled_from((1.0, 0.9, 0.5))


@st.composite
def edges_of(draw: st.DrawFn, path: str) -> Edge:
    kind = draw(st.sampled_from(tuple(EdgeKind)))
    own = tuple(f"{path}::{name}" for name in QUALNAMES)
    if kind is EdgeKind.IMPORTS:
        ends = path, draw(st.sampled_from(PATHS))
    elif kind is EdgeKind.EXPORTS:
        ends = path, draw(st.sampled_from(IDS))
    else:
        ends = draw(st.sampled_from((path, *own))), draw(st.sampled_from(IDS))
    flow = draw(st.sampled_from((0, 1, 2, 3, 4, 7))) if kind is EdgeKind.CALLS else 0
    return Edge(*ends, kind, draw(CONFIDENCES), draw(st.integers(1, 9)), CallFlow(flow))


def files_of(path: str) -> st.SearchStrategy[File]:
    names = st.lists(st.sampled_from(QUALNAMES), unique=True, max_size=len(QUALNAMES))
    definitions = names.map(lambda all: tuple(map(definition, all)))
    return st.builds(File, definitions, st.lists(edges_of(path), max_size=12).map(tuple))


codes = st.fixed_dictionaries({}, optional={path: files_of(path) for path in PATHS})


def built(code: dict[str, File]) -> CodeGraph:
    graph = CodeGraph()
    for path, file in code.items():
        graph.replace_file(path, file.definitions, file.edges)
    return graph


def nodes_of(graph: CodeGraph) -> list[str]:
    return [id for path in graph.paths for id in members_of(graph, path)]


def members_of(graph: CodeGraph, node: str) -> set[str]:
    path, separator, _ = node.partition("::")
    inside = {f"{path}::{each.qualname}" for each in graph.definitions(path)}
    if not separator:
        return {path, *inside}
    return {node, *(each for each in inside if each.startswith(f"{node}."))}


class Dependence(NamedTuple):
    provider: str
    dependent: str
    factor: float


def dependences(graph: CodeGraph) -> list[Dependence]:
    """Who feels a change of whom, each pair found by looking at every edge, and at every chain of overrides."""
    edges = graph.edges()
    plain = [_turned(edge) for edge in edges if edge.kind is not EdgeKind.EXPORTS]
    calls = [edge for edge in edges if edge.kind in MAY_CALL and not edge.flow & CallFlow.EXACT]
    lifted = [
        Dependence(method, call.origin, factor * WEIGHTS[call.kind] * call.confidence)
        for method in nodes_of(graph)
        for overridden, factor in overridden_by(graph, edges, method)
        for call in calls
        if call.target == overridden
    ]
    return plain + lifted


def _turned(edge: ServedEdge) -> Dependence:
    factor = WEIGHTS[edge.kind] * edge.confidence
    if edge.kind is EdgeKind.FLOWS_TO:
        return Dependence(edge.origin, edge.target, factor)
    return Dependence(edge.target, edge.origin, factor)


def overridden_by(graph: CodeGraph, edges: Iterable[ServedEdge], method: str) -> Iterator[tuple[str, float]]:
    def callable(id: str) -> bool:
        known = graph.definition(id)
        return known is not None and known.kind in {DefinitionKind.METHOD, DefinitionKind.FUNCTION}

    waiting, seen = deque([(method, 1.0)]), {method}
    while waiting:
        at, factor = waiting.popleft()
        for edge in edges:
            inherits = edge.kind in {EdgeKind.IMPLEMENTS, EdgeKind.EXTENDS}
            if inherits and edge.origin == at and callable(at) and callable(edge.target):
                further = factor * WEIGHTS[edge.kind] * edge.confidence
                yield edge.target, further
                if edge.target not in seen:
                    seen.add(edge.target)
                    waiting.append((edge.target, further))


def depths(starts: Iterable[str], following: Callable[[str], Iterable[str]]) -> dict[str, int]:
    """Breadth first, one node at a time."""
    found = dict.fromkeys(starts, 0)
    waiting = deque(found)
    while waiting:
        at = waiting.popleft()
        for other in following(at):
            if other not in found:
                found[other] = found[at] + 1
                waiting.append(other)
    return found


def re_exporters(graph: CodeGraph, members: set[str]) -> set[str]:
    return {
        edge.origin
        for edge in graph.edges()
        if edge.kind is EdgeKind.EXPORTS and edge.target in members and edge.target.partition("::")[0] != edge.origin
    }
