"""Graphs of shapes that no plain recursion or square effort survives, and names that nobody should choose."""

from collections.abc import Sequence

import numpy as np
import pytest

from treering.code.facts import CallFlow, Definition, DefinitionKind, EntryPoint
from treering.code.graph import CodeGraph, EdgeColumns, GraphColumns
from treering.code.graph.kinds import KIND_CODE
from treering.core.errors import NotFound
from treering.core.graph import EdgeKind

MANY = 20_000
PATH = "code.py"


def function(number: int) -> str:
    return f"{PATH}::f{number:05}"


def shaped(origins: range, targets: Sequence[int]) -> CodeGraph:
    """One file of many functions, of which origins call targets, one by one; the last is a test and a command.

    Where there are fewer targets, they begin anew.
    """
    last = MANY - 1
    definitions = tuple(
        Definition(
            f"f{number:05}",
            DefinitionKind.FUNCTION,
            number + 1,
            number + 1,
            test=number == last,
            entry=EntryPoint.COMMAND if number == last else None,
        )
        for number in range(MANY)
    )
    count = len(origins)
    edges = EdgeColumns(
        np.array(origins, np.int32),
        np.resize(np.array(targets, np.int32), count),
        np.full(count, MANY, np.int32),
        np.full(count, KIND_CODE[EdgeKind.CALLS], np.uint8),
        np.zeros(count, np.uint8),
        np.full(count, CallFlow.ARGUMENTS | CallFlow.RESULT, np.uint8),
        np.ones(count, np.int32),
        np.ones(count, np.float32),
    )
    return CodeGraph.load([GraphColumns({PATH: definitions}, [*map(function, range(MANY)), PATH], edges)])


@pytest.fixture(scope="module")
def chain() -> CodeGraph:
    """Each calls the one before."""
    return shaped(range(1, MANY), range(MANY - 1))


@pytest.fixture(scope="module")
def star() -> CodeGraph:
    """All call the first."""
    return shaped(range(1, MANY), range(1))


def test_a_long_chain_is_walked_to_its_end(chain: CodeGraph) -> None:
    answer = chain.impact(function(0), cap=5)
    assert answer.dependents.ids == tuple(map(function, range(1, 6)))
    assert (answer.total, answer.tests_total) == (MANY - 1, 1)
    assert len(chain.dependencies(function(MANY - 1), cap=None).dependencies) == MANY - 1
    assert len(chain.path(function(MANY - 1), function(0)).steps) == MANY
    assert not chain.path(function(0), function(MANY - 1))
    assert not chain.cycles("symbol")


def test_an_entry_point_at_the_end_of_a_long_chain_is_found_with_its_way(chain: CodeGraph) -> None:
    (entry,) = chain.entry_points(function(0))
    assert (entry.id, entry.depth, len(entry.path)) == (function(MANY - 1), MANY - 1, MANY)


def test_data_is_followed_through_one_call_in_a_long_chain(chain: CodeGraph) -> None:
    answer = chain.data_flow(function(MANY // 2), depth=10**9, cap=300)
    assert (len(answer.sources), len(answer.sinks), answer.capped) == (2, 2, False)


def test_a_ring_is_one_cycle_of_all() -> None:
    ring = CodeGraph.load([shaped(range(MANY), (MANY - 1, *range(MANY - 1))).columns()])
    (cycle,) = ring.cycles("symbol")
    assert len(cycle.members) == len(cycle.example) - 1 == MANY
    ring.prepare()
    assert {ring.impact(function(number), cap=0).total for number in (0, 1, MANY // 2, MANY - 1)} == {MANY - 1}


def test_a_function_that_all_call_has_all_as_direct_dependents(star: CodeGraph) -> None:
    answer = star.impact(function(0), cap=None)
    assert {each.depth for each in answer.dependents[:500]} == {1}
    assert len(answer.dependents) == answer.total == MANY - 1
    assert star.impact(function(1)).total == 0
    assert len(star.data_flow(function(0), cap=50).sources) == 50


ODD = (
    *("", " ", "::", ":", "a::", "::b", "/", "..", "%", "a\x00b", "x" * 100_000, "\ud800", "🦀", "f:0"),
    *("f:9" + "9" * 99, "code.py:" + "9" * 5_000),
)


@pytest.mark.parametrize("name", ODD, ids=range(len(ODD)))
def test_an_odd_name_is_no_error_and_finds_nothing(chain: CodeGraph, name: str) -> None:
    assert chain.find(name).matches == ()
    for ask in (chain.impact, chain.dependencies, chain.data_flow, chain.entry_points):
        with pytest.raises(NotFound):
            ask(name)


@pytest.mark.parametrize("path", ["a b.py", "ü.py", "a'\".py", "(x).py", "x.d.ts", "new\nline.py", "-.py"])
def test_files_of_odd_names_are_found_by_them(path: str) -> None:
    graph = CodeGraph()
    graph.replace_file(path, (Definition("f", DefinitionKind.FUNCTION, 1, 2),), ())
    assert graph.find(f"{path}::f").only == f"{path}::f"
    assert graph.find(f"{path}:1").only == f"{path}::f"
    assert graph.module_map().modules[0].files == (path,)


def test_a_line_after_the_end_refers_to_the_file(chain: CodeGraph) -> None:
    assert chain.find(f"{PATH}:{MANY + 1}").only == PATH
    assert chain.find(f"{PATH}:{MANY}:1").only == function(MANY - 1)


def test_an_empty_graph_answers() -> None:
    graph = CodeGraph.load([])
    assert (len(graph), graph.paths, graph.edges()) == (0, (), ())
    assert not graph.cycles()
    assert not graph.entry_points()
    assert graph.module_map().modules == ()
    assert graph.find("anything").matches == ()
    graph.prepare()
