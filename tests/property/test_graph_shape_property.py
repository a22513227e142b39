"""Cycles are strongly connected components, the map is a partition that no order decides, the closure is exact."""

from collections import defaultdict
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tests.property.graphs_drawn import PATHS, File, built, codes, depths, nodes_of
from treering.code.facts import CallFlow, Edge
from treering.code.graph import CodeGraph
from treering.code.graph.communities import communities, modularity
from treering.code.graph.module_names import is_test
from treering.code.graph.typos import closest, distance
from treering.core.graph import EdgeKind

weights = st.lists(
    st.tuples(st.integers(0, 11), st.integers(0, 11), st.sampled_from((0.5, 1.0, 3.0))), min_size=0, max_size=40
)
words = st.text("abc", max_size=6)


def uses(graph: CodeGraph, *, imports: bool) -> dict[str, set[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for edge in graph.edges():
        if (edge.kind is EdgeKind.IMPORTS) == imports and edge.kind is not EdgeKind.EXPORTS:
            ends = (edge.target, edge.origin) if edge.kind is EdgeKind.FLOWS_TO else (edge.origin, edge.target)
            found[ends[0]].add(ends[1])
    return found


@given(codes, st.booleans())
def test_cycles_are_mutually_reachable_nodes(code: dict[str, File], imports: bool) -> None:
    graph = built(code)
    used = uses(graph, imports=imports)
    reach = {node: set(depths([node], lambda at: used.get(at, ()))) for node in nodes_of(graph)}
    together = {tuple(sorted(other for other in reach[node] if node in reach[other])) for node in nodes_of(graph)}
    expected = {group for group in together if len(group) > 1}
    found = graph.cycles("file" if imports else "symbol")
    assert {cycle.members for cycle in found} == expected
    for cycle in found:
        assert cycle.example[0] == cycle.example[-1] == cycle.members[0]
        assert all(after in used[before] for before, after in pairwise(cycle.example))
        assert len(set(cycle.example)) == len(cycle.example) - 1 >= 2


@given(codes)
def test_the_closure_of_files_equals_following_every_use(code: dict[str, File]) -> None:
    graph = built(code)
    used: defaultdict[str, set[str]] = defaultdict(set)
    for imports in (True, False):
        for origin, targets in uses(graph, imports=imports).items():
            used[origin.partition("::")[0]] |= {target.partition("::")[0] for target in targets}
    reach = {path: set(depths([path], used.__getitem__)) - {path} for path in graph.paths}
    files = graph.file_graph()
    for path in graph.paths:
        assert set(files.dependencies(path)) == reach[path]
        assert set(files.dependents(path)) == {other for other in graph.paths if path in reach[other]}


@given(codes, st.permutations(PATHS))
def test_every_file_is_in_one_module_whatever_came_first(code: dict[str, File], order: list[str]) -> None:
    found = built(code).module_map()
    files = [file for module in found.modules for file in module.files]
    assert sorted(files) == sorted(code)
    assert len({module.name for module in found.modules}) == len(found.modules)
    assert all({file.path for file in module.central} <= set(module.files) for module in found.modules)
    assert abs(sum(module.centrality for module in found.modules) - bool(code)) < 1e-5
    again = built({path: code[path] for path in order if path in code}).module_map()
    assert (again.modules, again.edges) == (found.modules, found.edges)


@given(codes)
def test_every_direction_on_the_map_has_a_use_behind_it(code: dict[str, File]) -> None:
    graph = built(code)
    found = graph.module_map()
    used = {
        (one.partition("::")[0], other.partition("::")[0])
        for imports in (True, False)
        for one, others in uses(graph, imports=imports).items()
        for other in others
    }
    files = {module.name: module.files for module in found.modules}
    for module in found.modules:
        assert len({file.startswith("tests/") for file in module.files}) == 1
    for edge in found.edges:
        code_files = [file for file in files[edge.origin] if not is_test(file)]
        behind = [
            pair for pair in used if pair[0] in (code_files or files[edge.origin]) and pair[1] in files[edge.target]
        ]
        assert len(behind) == edge.files > 0


@given(codes)
def test_every_flow_has_an_edge_behind_each_of_its_steps(code: dict[str, File]) -> None:
    graph = built(code)
    moved = set()
    for edge in graph.edges():
        if edge.kind is EdgeKind.FLOWS_TO:
            moved.add((edge.origin, edge.target))
        if edge.kind is EdgeKind.CALLS and edge.flow & CallFlow.ARGUMENTS:
            moved.add((edge.origin, edge.target))
        if edge.kind is EdgeKind.CALLS and edge.flow & CallFlow.RESULT:
            moved.add((edge.target, edge.origin))
    for node in nodes_of(graph):
        found = graph.data_flow(node)
        for each in (*found.sinks, *found.sources):
            assert all(step in moved for step in pairwise(each.path))


FOLDERS = ("", "docs/", "lib/", "lib/a/", "lib/b/", "web/x/")
placed = st.lists(
    st.tuples(st.sampled_from(FOLDERS), st.integers(0, 3)).map(lambda each: f"{each[0]}f{each[1]}.py"),
    unique=True,
    max_size=14,
)


@given(placed, st.lists(st.tuples(st.integers(0, 13), st.integers(0, 13)), max_size=10))
def test_a_file_without_ties_is_with_its_folder_and_never_with_strangers(
    paths: list[str], used: list[tuple[int, int]]
) -> None:
    graph = CodeGraph()
    uses = {(paths[one], paths[other]) for one, other in used if max(one, other) < len(paths) and one != other}
    for path in paths:
        edges = [Edge(path, other, EdgeKind.IMPORTS, 1.0, 1) for one, other in sorted(uses) if one == path]
        graph.replace_file(path, (), edges)
    tied = {path for ends in uses for path in ends}
    mates = {file: set(module.files) for module in graph.module_map().modules for file in module.files}
    assert set(mates) == set(paths)
    for path in set(paths) - tied:
        around = [path[: place + 1] for place, letter in enumerate(path) if letter == "/"]
        near = next((each for each in reversed(around) if any(other.startswith(each) for other in tied)), None)
        if near is not None:
            assert any(other.startswith(near) for other in mates[path] & tied)
        else:
            assert not mates[path] & tied
            assert {other.rpartition("/")[0].partition("/")[0] for other in mates[path]} == {
                path.rpartition("/")[0].partition("/")[0]
            }
    for path in tied:
        top = path.partition("/")[0] if "/" in path else None
        joined = any(path in ends and ends[0] in mates[path] and ends[1] in mates[path] for ends in uses)
        assert joined or mates[path] == {path} or any(top and other.startswith(f"{top}/") for other in mates[path])


@given(weights)
def test_groups_hold_together_and_are_better_than_one_or_each_alone(edges: list[tuple[int, int, float]]) -> None:
    neighbours: list[dict[int, float]] = [{} for _ in range(12)]
    for one, other, weight in edges:
        if one != other:
            neighbours[one][other] = neighbours[other][one] = weight
    groups = communities(neighbours)
    assert groups == communities(neighbours)
    best = modularity(neighbours, groups)
    assert best >= max(modularity(neighbours, range(12)), modularity(neighbours, [0] * 12)) - 1e-9
    parted = [{other for other in each if groups[other] == groups[node]} for node, each in enumerate(neighbours)]
    for node in range(12):
        together = depths([str(node)], lambda at: map(str, parted[int(at)]))
        assert {int(each) for each in together} == {other for other in range(12) if groups[other] == groups[node]}


@given(words, words)
def test_slips_are_counted_as_one_by_one_changes(one: str, other: str) -> None:
    assert distance(one, other, 9) == distance(other, one, 9)
    assert (distance(one, other, 9) == 0) == (one == other)
    assert abs(len(one) - len(other)) <= distance(one, other, 9) <= max(len(one), len(other))


@given(st.text("abcd_", min_size=4, max_size=12), st.data())
def test_one_slip_is_forgiven(word: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(word) - 1))
    slip = data.draw(
        st.sampled_from(
            (
                word[:place] + word[place + 1 :] + "x",
                word[:place] + "z" + word[place:],
                word[:place] + "z" + word[place + 1 :],
            )
        )
    )
    if distance(slip, word, 2) == 1:
        assert closest(slip, [word, "entirely_other"]) == [word]


@given(codes)
def test_data_rises_before_it_descends(code: dict[str, File]) -> None:
    """No way leads down into a function and up to another of its callers, unless a flow was stated."""
    graph = built(code)
    calls = [edge for edge in graph.edges() if edge.kind is EdgeKind.CALLS]
    flows = {(edge.origin, edge.target) for edge in graph.edges() if edge.kind is EdgeKind.FLOWS_TO}
    up = {(edge.target, edge.origin) for edge in calls if edge.flow & 2}
    down = {(edge.origin, edge.target) for edge in calls if edge.flow & 1}
    for node in nodes_of(graph):
        answer = graph.data_flow(node, depth=6)
        for flowing in (*answer.sinks, *answer.sources):
            phases = {0}
            for step in pairwise(flowing.path):
                after = {0} if step in flows else set()
                after |= {0} if step in up and 0 in phases else set()
                after |= {1} if step in down else set()
                phases = after
            assert phases
