"""Chains of directional edges between modules."""

from datetime import UTC, datetime
from time import process_time

from treering.core.co_access import CoAccessEdge
from treering.observe.co_access import edge_id
from treering.observe.synthesis.causal_chains import MAX_FILES, causal_chains

NOW = datetime(2026, 3, 2, tzinfo=UTC)


def edge(first: str, second: str, weight: float = 0.8, *, directional: bool = True) -> CoAccessEdge:
    return CoAccessEdge.make(
        id=edge_id(first, second),
        first=first,
        second=second,
        weight=weight,
        sessions=5,
        directional=directional,
        last_seen_at=NOW,
    )


def chains(*edges: CoAccessEdge) -> list[tuple[str, ...]]:
    return [each.files for each in causal_chains(edges)]


def test_the_longest_chain_stands_for_its_parts() -> None:
    assert chains(edge("a/x", "b/y"), edge("b/y", "c/z")) == [("a/x", "b/y", "c/z")]


def test_weak_and_undirected_edges_make_no_chain() -> None:
    assert chains(edge("a/x", "b/y", 0.7), edge("a/x", "c/z", directional=False)) == []


def test_chains_inside_a_module_are_left_out() -> None:
    assert chains(edge("a/x", "a/y")) == []


def test_the_strongest_chain_comes_first_and_is_as_strong_as_its_weakest_link() -> None:
    found = causal_chains([edge("a/x", "b/y", 0.9), edge("b/y", "c/z", 0.75), edge("d/x", "e/y", 0.8)])
    assert [(each.files[0], each.weight) for each in found] == [("d/x", 0.8), ("a/x", 0.75)]


def test_a_cycle_ends() -> None:
    found = chains(edge("a/x", "b/y"), edge("b/y", "c/z"), edge("c/z", "a/x"))
    assert found
    assert all(len(set(each)) == len(each) for each in found)


def test_a_dense_graph_is_bounded_in_length_and_time() -> None:
    paths = [f"m{number}/f" for number in range(40)]
    dense = [edge(one, other) for index, one in enumerate(paths) for other in paths[index + 1 :]]
    begin = process_time()
    found = chains(*dense)
    assert process_time() - begin < 5
    assert max(map(len, found)) == MAX_FILES
