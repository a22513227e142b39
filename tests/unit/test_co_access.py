"""Co-access edges of sessions."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from treering.code.history.co_access_seeds import ID_PREFIX as GIT_PREFIX
from treering.observe.co_access import SessionPair, edge_id, updated_edges, weight_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)
KEY = ("a.go", "b.go")


def test_first_session_makes_an_edge() -> None:
    (edge,) = updated_edges({}, {KEY: SessionPair(4, 4, 2_000)}, {"a.go": 1, "b.go": 1}, NOW, task_type="build")
    assert (edge.first, edge.second, edge.directional) == ("a.go", "b.go", True)
    assert (edge.count, edge.sessions, edge.mean_delta_ms, edge.weight) == (4, 1, 500.0, 0.5)
    assert dict(edge.by_task_type) == {"build": 1}
    assert not edge.id.startswith(GIT_PREFIX)
    assert edge.id == edge_id("b.go", "a.go")


def test_later_sessions_add_up() -> None:
    (edge,) = updated_edges({}, {KEY: SessionPair(2, 2, 1_000)}, {"a.go": 1, "b.go": 1}, NOW, task_type="build")
    later = NOW + timedelta(days=1)
    pairs = {KEY: SessionPair(2, 2, 3_000)}
    (edge,) = updated_edges({KEY: edge}, pairs, {"a.go": 2, "b.go": 2}, later, task_type="insights")
    assert (edge.count, edge.sessions, edge.mean_delta_ms, edge.directional) == (4, 2, 1_000.0, True)
    assert dict(edge.by_task_type) == {"build": 1, "insights": 1}
    assert edge.last_seen_at == later


def test_order_is_that_of_the_accesses_until_a_session_contradicts() -> None:
    counts = {"a.go": 1, "b.go": 1}
    (edge,) = updated_edges({}, {KEY: SessionPair(5, 0, 0)}, counts, NOW)
    assert (edge.first, edge.second, edge.directional) == ("b.go", "a.go", True)
    (edge,) = updated_edges({KEY: edge}, {KEY: SessionPair(5, 5, 0)}, counts, NOW)
    assert (edge.first, edge.second, edge.directional) == ("a.go", "b.go", False)


def test_weight_falls_if_one_file_is_touched_alone() -> None:
    (edge,) = updated_edges({}, {KEY: SessionPair(1)}, {"a.go": 1, "b.go": 1}, NOW)
    (lower,) = updated_edges({KEY: edge}, {}, {"a.go": 4, "b.go": 1}, NOW)
    assert lower.weight < edge.weight
    assert updated_edges({KEY: lower}, {}, {"a.go": 4, "b.go": 1}, NOW) == []


def test_unusable_pairs_are_left_out() -> None:
    pairs = {("../x", "b.go"): SessionPair(1), ("a.go", "a.go"): SessionPair(1), KEY: SessionPair(0)}
    assert updated_edges({}, pairs, {}, NOW) == []


@given(st.integers(0, 500), st.integers(0, 1000), st.integers(0, 1000))
def test_weights_are_shares(sessions: int, first: int, second: int) -> None:
    assert 0 <= weight_of(sessions, first, second) <= 1
