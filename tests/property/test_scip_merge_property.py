"""Merging SCIP edges is idempotent and does not affect edges of other sources."""

from hypothesis import given
from hypothesis import strategies as some

from treering.code.encoding import edges_in, pack_edges, pack_further, unpack_edges, unpack_further
from treering.code.facts import CallFlow, Edge
from treering.code.scip import ScipEdges
from treering.code.scip.merge import changed_scip_edges
from treering.core.graph import EdgeKind, GraphSource
from treering.ports.code import FileContents

PATHS = ("a.py", "b.py", "c.py")
OTHERS = (GraphSource.LLM, GraphSource.AGENT)
kinds = some.sampled_from((EdgeKind.CALLS, EdgeKind.IMPORTS))


def edges_from(path: str, confidence: float | None = None) -> some.SearchStrategy[list[Edge]]:
    sure = some.sampled_from((0.5, 1.0)) if confidence is None else some.just(confidence)
    edge = some.builds(
        Edge,
        some.sampled_from((path, f"{path}::f")),
        some.sampled_from(PATHS),
        kinds,
        sure,
        some.integers(1, 9),
        some.sampled_from((0, 1)),
    )
    return some.lists(edge, max_size=4, unique=True)


@some.composite
def files(draw: some.DrawFn) -> list[FileContents]:
    found = []
    for path in PATHS:
        told = {source: draw(edges_from(path)) for source in (*OTHERS, GraphSource.SCIP)}
        found.append(FileContents(path, True, b"", pack_edges(draw(edges_from(path))), pack_further(told)))
    return found


@some.composite
def indexes(draw: some.DrawFn) -> list[ScipEdges]:
    def one() -> ScipEdges:
        named = draw(some.sets(some.sampled_from(PATHS)))
        return ScipEdges({path: tuple(draw(edges_from(path, 1.0))) for path in sorted(named)}, {}, (), "hand")

    return [one() for _ in range(draw(some.integers(1, 2)))]


def added(contents: list[FileContents], read: list[ScipEdges]) -> list[FileContents]:
    new = changed_scip_edges(contents, read)
    return [FileContents(*each[:4], new.get(each[0], each[4])) for each in map(_fields, contents)]


def _fields(file: FileContents) -> tuple[str, bool, bytes, bytes, bytes]:
    return file.path, file.resolved, file.definitions, file.edges, file.further


def told_by(file: FileContents, source: GraphSource) -> set[Edge]:
    found = unpack_further(file.further).get(source)
    return set(edges_in(found)) if found is not None else set()


@given(files(), indexes())
def test_adding_twice_is_adding_once(contents: list[FileContents], read: list[ScipEdges]) -> None:
    once = added(contents, read)
    assert changed_scip_edges(once, read) == {}


@given(files(), indexes(), indexes())
def test_earlier_scip_edges_are_replaced_completely(
    contents: list[FileContents], before: list[ScipEdges], read: list[ScipEdges]
) -> None:
    for one, other in zip(added(contents, read), added(added(contents, before), read), strict=True):
        assert told_by(one, GraphSource.SCIP) == told_by(other, GraphSource.SCIP)


@given(files(), indexes())
def test_other_sources_keep_their_edges_without_duplicates(contents: list[FileContents], read: list[ScipEdges]) -> None:
    for before, after in zip(contents, added(contents, read), strict=True):
        for source in OTHERS:
            assert told_by(before, source) == told_by(after, source)
        sure = {edge[:3] for edge in map(_ends, edges_in(unpack_edges(after.edges))) if edge[3] == 1.0}
        said = {edge for each in read for edge in each.edges.get(after.path, ())}
        assert told_by(after, GraphSource.SCIP) == {edge for edge in said if _ends(edge)[:3] not in sure}


def test_an_exact_call_stays_exact() -> None:
    known = Edge("a.py::f", "b.py::C.m", EdgeKind.CALLS, 0.9, 3, CallFlow.EXACT | CallFlow.RESULT)
    said = Edge("a.py::f", "b.py::C.m", EdgeKind.CALLS, 1.0, 3, CallFlow.ARGUMENTS)
    file = FileContents("a.py", True, b"", pack_edges([known]), b"")
    (after,) = added([file], [ScipEdges({"a.py": (said,)}, {}, (), "hand")])
    (edge,) = told_by(after, GraphSource.SCIP)
    assert (edge.flow, edge.confidence) == (CallFlow.EXACT | CallFlow.ARGUMENTS, 1.0)


def _ends(edge: Edge) -> tuple[str, str, EdgeKind, float]:
    return edge.origin, edge.target, edge.kind, edge.confidence
