"""Impact is what brute force finds, totals are the size of the closure, and no history of edits shows in an answer."""

from collections import defaultdict
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.property.graphs_drawn import (
    IDS,
    PATHS,
    File,
    built,
    codes,
    dependences,
    depths,
    files_of,
    members_of,
    nodes_of,
    re_exporters,
)
from treering.code.graph import CodeGraph, ReachedNode, reach
from treering.code.graph.steps import WalkSteps
from treering.core.graph import EdgeKind

edits = st.lists(
    st.sampled_from(PATHS).flatmap(
        lambda path: st.tuples(
            st.just(path), st.sampled_from(("replace", "replace", "remove", "stale")), files_of(path)
        )
    ),
    max_size=8,
)

INHERITING = (EdgeKind.EXTENDS, EdgeKind.IMPLEMENTS)


def plain_dependents(graph: CodeGraph, node: str) -> dict[str, int]:
    """Everybody a change reaches with the fewest steps, by looking at every pair."""
    users: defaultdict[str, list[str]] = defaultdict(list)
    for each in dependences(graph):
        users[each.provider].append(each.dependent)
    members = members_of(graph, node)
    found = depths(members, users.__getitem__)
    for exporter in re_exporters(graph, members):
        found.setdefault(exporter, 1)
    return {id: depth for id, depth in found.items() if id not in members}


@given(codes)
def test_impact_equals_brute_force(code: dict[str, File]) -> None:
    graph = built(code)
    for node in nodes_of(graph):
        answer = graph.impact(node, cap=None)
        expected = plain_dependents(graph, node)
        assert {each.id: each.depth for each in answer.dependents} == expected
        assert answer.total == len(expected)
        assert answer.tests_total == len(answer.tests) == sum(each.test for each in answer.dependents)
        assert list(answer.dependents) == sorted(answer.dependents, key=lambda each: (each.depth, -each.score, each.id))


@given(codes, st.sampled_from(("pkg/", "tests/", "./")), st.sampled_from((1, None)))
def test_a_folder_reaches_what_its_files_reach_outside_it(code: dict[str, File], folder: str, cap: int | None) -> None:
    graph = built(code)
    files = [path for path in graph.paths if folder == "./" or path.startswith(folder)]
    assert graph.below(folder) == tuple(files)
    if not files:
        return
    inside = {id for id in nodes_of(graph) if id.partition("::")[0] in files}
    together = [plain_dependents(graph, file) for file in files]
    found = graph.impact(folder, cap=cap)
    assert found.total == len({id for each in together for id in each} - inside)
    if cap is None:
        assert {each.id for each in found.dependents} == {id for each in together for id in each} - inside
        used = {each.id for file in files for each in graph.dependencies(file, cap=None).dependencies}
        assert {each.id for each in graph.dependencies(folder, cap=None).dependencies} == used - inside


@given(codes)
def test_every_step_of_a_path_is_a_dependence_and_the_score_is_their_product(code: dict[str, File]) -> None:
    graph = built(code)
    factors: defaultdict[tuple[str, str], float] = defaultdict(float)
    for each in dependences(graph):
        factors[each.provider, each.dependent] = max(factors[each.provider, each.dependent], each.factor)
    for node in nodes_of(graph):
        for tied in graph.impact(node, cap=None).dependents:
            assert tied.path[0] in members_of(graph, node)
            assert len(tied.path) == tied.depth + 1
            if tied.kind != "exports":
                _assert_product(tied, factors)


def _assert_product(tied: ReachedNode, factors: dict[tuple[str, str], float]) -> None:
    best = 1.0
    for step in zip(tied.path, tied.path[1:], strict=False):
        best *= factors[step]
    assert 0 < tied.score <= best + 1e-5
    if tied.through is None and tied.depth == 1:
        assert tied.score > 0.14


@given(codes)
def test_the_score_is_the_best_product_of_all_shortest_ways(code: dict[str, File]) -> None:
    """Without overrides, where a chain of them may be shorter and worse than another."""
    plain = {
        path: file._replace(edges=tuple(edge for edge in file.edges if edge.kind not in INHERITING))
        for path, file in code.items()
    }
    graph = built(plain)
    every = dependences(graph)
    for node in nodes_of(graph):
        found = plain_dependents(graph, node)
        best = dict.fromkeys(members_of(graph, node), 1.0)
        for depth in range(1, max(found.values(), default=0) + 1):
            layer: defaultdict[str, float] = defaultdict(float)
            for each in every:
                if each.provider in best and found.get(each.dependent) == depth:
                    layer[each.dependent] = max(layer[each.dependent], best[each.provider] * each.factor)
            best |= layer
        for tied in graph.impact(node, cap=None).dependents:
            if tied.kind != EdgeKind.EXPORTS:
                assert tied.score == pytest.approx(best[tied.id], abs=1e-5)


@given(codes, st.sampled_from((0.0, 0.6)))
def test_each_answer_has_the_most_certain_last_edge(code: dict[str, File], level: float) -> None:
    graph = built(code)
    surest: defaultdict[tuple[str, str, EdgeKind], float] = defaultdict(float)
    for edge in graph.edges():
        ends = (edge.target, edge.origin) if edge.kind is EdgeKind.FLOWS_TO else (edge.origin, edge.target)
        key = (*ends, edge.kind)
        surest[key] = max(surest[key], edge.confidence)
    for node in nodes_of(graph):
        for tied in graph.impact(node, cap=None, min_confidence=level).dependents:
            assert tied.confidence == surest[tied.id, tied.through or tied.path[-2], tied.kind] >= level
        for tied in graph.dependencies(node, cap=None, min_confidence=level).dependencies:
            assert tied.confidence == surest[tied.path[-2], tied.through or tied.id, tied.kind] >= level


@given(codes)
def test_an_answer_that_is_held_stays_as_it_was_when_the_graph_changes(code: dict[str, File]) -> None:
    graph, same = built(code), built(code)
    held = [graph.impact(node).dependents for node in nodes_of(graph)]
    for path in graph.paths:
        graph.remove_file(path)
    assert held == [same.impact(node).dependents for node in nodes_of(same)]


@given(codes, st.integers(0, 4), st.integers(0, 6))
def test_cap_and_depth_leave_out_the_end_of_the_list_and_nothing_of_the_total(
    code: dict[str, File], depth: int, cap: int
) -> None:
    graph = built(code)
    for node in nodes_of(graph):
        whole = graph.impact(node, cap=None)
        near = [each for each in whole.dependents if each.depth <= depth]
        some = graph.impact(node, depth=depth, cap=cap)
        assert (some.total, some.tests_total) == (whole.total, whole.tests_total)
        assert len(some.dependents) == min(cap, len(near))
        assert [each.depth for each in some.dependents] == [each.depth for each in near[:cap]]


@given(codes, st.sampled_from((0.0, 0.6, 0.95)))
def test_totals_counted_at_once_are_those_that_searching_finds(code: dict[str, File], level: float) -> None:
    one_by_one, at_once = built(code), built(code)
    served = at_once._served(level)
    counts = reach.counts(served)
    for node in nodes_of(one_by_one):
        answer = one_by_one.impact(node, cap=0, min_confidence=level)
        number = at_once._number(node)
        assert (answer.total, answer.tests_total) == (counts.total[number], counts.tests[number])


@given(codes, st.sampled_from((0.0, 0.6, 0.95)))
def test_a_layer_leads_to_the_same_whichever_end_of_its_edges_is_read(code: dict[str, File], level: float) -> None:
    graph = built(code)
    for node in nodes_of(graph):
        answers = []
        for few in (True, False):
            with patch.object(WalkSteps, "_is_backward_cheaper", lambda *_, few=few: few):
                found = graph.impact(node, cap=None, min_confidence=level)
                answers.append((found.dependents, found.total, found.tests_total))
        assert answers[0] == answers[1]


@given(codes, st.sampled_from((0.6, 0.95)))
def test_least_confidence_asks_a_graph_without_the_edges_below_it(code: dict[str, File], level: float) -> None:
    graph = built(code)
    sure = built(
        {
            path: file._replace(edges=tuple(edge for edge in file.edges if edge.confidence >= level))
            for path, file in code.items()
        }
    )
    for node in nodes_of(graph):
        some, expected = graph.impact(node, min_confidence=level), sure.impact(node)
        assert (some.dependents, some.total, some.importers) == (
            expected.dependents,
            expected.total,
            expected.importers,
        )
        downwards = graph.dependencies(node, min_confidence=level).dependencies
        assert downwards == sure.dependencies(node).dependencies


@given(codes)
def test_dependents_and_dependencies_are_inverse(code: dict[str, File]) -> None:
    graph = built(code)
    functions = [id for id in nodes_of(graph) if members_of(graph, id) == {id}]
    downwards = {id: set(graph.dependencies(id, cap=None).dependencies.ids) for id in functions}
    for node in functions:
        users = {each.id for each in graph.impact(node, cap=None).dependents if each.kind != "exports"}
        for user in users & set(functions):
            assert node in downwards[user]
        for user in set(functions) - users - {node} - re_exporters(graph, {node}):
            assert node not in downwards[user]


@given(codes, st.sampled_from(IDS), st.sampled_from(IDS))
def test_a_path_is_as_short_as_any(code: dict[str, File], origin: str, target: str) -> None:
    graph = built(code)
    if origin not in graph or target not in graph:
        return
    used: defaultdict[str, list[str]] = defaultdict(list)
    for each in dependences(graph):
        used[each.dependent].append(each.provider)
    found = depths(members_of(graph, origin), used.__getitem__)
    ends = [found[id] for id in members_of(graph, target) if id in found]
    route = graph.path(origin, target)
    if not ends:
        assert not route
    else:
        assert len(route.steps) - 1 == min(ends)
        assert all(after in used[before] for before, after in zip(route.ids, route.ids[1:], strict=False))


@given(codes, edits)
def test_after_any_edits_the_graph_equals_a_fresh_build(
    code: dict[str, File], changes: list[tuple[str, str, File]]
) -> None:
    graph = built(code)
    now = dict(code)
    for path, verb, file in changes:
        # What a question leaves behind must not outlive the next edit.
        for node in nodes_of(graph):
            graph.impact(node, cap=0)
        if verb == "replace":
            graph.replace_file(path, file.definitions, file.edges)
            now[path] = file
        elif verb == "remove":
            graph.remove_file(path)
            now.pop(path, None)
        else:
            graph.mark_stale(path)
            if path in now:
                now[path] = now[path]._replace(edges=())
    assert_same(graph, built(now))
    assert_same(CodeGraph.load([graph.columns()]), built(now))


def assert_same(graph: CodeGraph, anew: CodeGraph) -> None:
    assert graph.paths == anew.paths
    assert graph.edges() == anew.edges()
    assert graph.cycles("symbol").found == anew.cycles("symbol").found
    assert graph.module_map().modules == anew.module_map().modules
    assert graph.module_map().edges == anew.module_map().edges
    for node in nodes_of(anew):
        assert graph.definition(node) == anew.definition(node)
        one, other = graph.impact(node, cap=3), anew.impact(node, cap=3)
        assert (one.dependents, one.total, one.tests_total) == (other.dependents, other.total, other.tests_total)
        assert sorted(one.members) == sorted(other.members)
        assert one.importers == other.importers
        assert graph.dependencies(node).dependencies == anew.dependencies(node).dependencies
        assert graph.data_flow(node).sinks == anew.data_flow(node).sinks
        assert graph.find(node).matches == anew.find(node).matches
