"""Names that sessions show again: how they are counted, and when a resolution is proven."""

from hypothesis import given
from hypothesis import strategies as st

from treering.observe.errors.resolution import EDIT_NAMED
from treering.observe.promotion.tallies import (
    MAX_NAMES,
    best_way,
    is_proven,
    joined,
    lower_bound,
    sessions_with,
    with_session,
)


def test_a_session_counts_a_name_once_and_its_repetitions_apart() -> None:
    tally = with_session({}, {"`make migrate`": 2}, counted=False)
    tally = with_session(tally, {"`make migrate`": 1, "editing `a.go`": 1}, counted=False)
    assert tally == {"`make migrate`": [2, 3], "editing `a.go`": [1, 1]}
    assert sessions_with({"tally": tally}, "`make migrate`") == 2


def test_a_session_that_is_finished_again_adds_only_new_names() -> None:
    tally = with_session({"`make`": [1, 1]}, {"`make`": 1, "`make migrate`": 1}, counted=True)
    assert tally == {"`make`": [1, 1], "`make migrate`": [1, 1]}


def test_a_way_is_proven_by_its_second_time() -> None:
    once, twice = {"tally": {"`make`": [1, 1]}}, {"tally": {"`make`": [1, 2]}}
    assert [is_proven(each, way) for each in (once, twice) if (way := best_way(each))] == [False, True]


def test_a_way_that_resolved_an_error_in_few_of_many_cases_is_not_proven() -> None:
    detail = {"tally": {"editing `a.go`": [2, 2]}, "resolved_times": 5}
    way = best_way(detail)
    assert way is not None
    assert not is_proven(detail, way)
    assert is_proven(detail | {"resolved_times": 4}, way)


def test_a_command_says_more_than_an_edit_and_a_general_way_more_than_a_file() -> None:
    counts = [2, 2]
    assert _best({"editing `a.go`": counts, "`make migrate`": counts, EDIT_NAMED: counts}) == "`make migrate`"
    assert _best({"editing `a.go`": counts, EDIT_NAMED: counts}) == EDIT_NAMED
    assert _best({"editing `a.go`": [3, 3], EDIT_NAMED: counts}) == "editing `a.go`"
    assert best_way({}) is None


def _best(tally: dict[str, list[int]]) -> str:
    way = best_way({"tally": tally})
    assert way is not None
    return way.name


def test_tainted_sessions_add_to_the_tally_of_clean_ones() -> None:
    clean = {"summary": "a", "tally": {"`make`": [1, 1]}, "resolved_times": 1}
    tainted = {"summary": "b", "tally": {"`make`": [2, 3]}, "resolved_times": 3}
    assert joined(clean, tainted) == {"summary": "b", "tally": {"`make`": [3, 4]}, "resolved_times": 4}


names = st.dictionaries(st.text(max_size=8), st.integers(1, 5), max_size=60)


@given(st.lists(names, max_size=5))
def test_a_tally_is_bounded_and_never_counts_more_sessions_than_there_were(sessions: list[dict[str, int]]) -> None:
    tally: dict[str, list[int]] = {}
    for shown in sessions:
        tally = with_session(tally, shown, counted=False)
    assert len(tally) <= MAX_NAMES
    assert all(1 <= counts[0] <= len(sessions) and counts[0] <= counts[1] for counts in tally.values())


@given(st.integers(0, 200), st.integers(0, 200))
def test_the_lower_bound_is_below_the_share_and_grows_with_the_number_of_trials(successes: int, failures: int) -> None:
    trials = successes + failures
    bound = lower_bound(successes, trials)
    assert 0 <= bound <= (successes / trials if trials else 0) + 1e-12
    assert lower_bound(2 * successes, 2 * trials) >= bound - 1e-12
