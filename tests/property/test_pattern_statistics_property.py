"""Invariants of the statistics of patterns, of their lives and of their refinement, whatever the evidence."""

import math
from datetime import timedelta
from fractions import Fraction
from typing import Any
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from tests.samples import NOW
from treering.core.conditions import holds
from treering.core.patterns import Applicability, Application, PatternStatus
from treering.core.settings.patterns import PatternSettings
from treering.patterns.base_rates import losses_of
from treering.patterns.evidence import group_by_session
from treering.patterns.lifecycle import TRANSITIONS, Cause, is_allowed
from treering.patterns.refinement import refine
from treering.patterns.statistics import (
    BaseRates,
    Tally,
    binomial_p,
    bounds,
    confidence,
    discoveries,
    fisher_p,
    log_decay,
    log_e_better,
    log_e_worse,
)
from treering.patterns.validation import MAX_P_VALUE, SessionCount, Trial, judge_all, measure_trial
from treering.ports.patterns import SessionOutcomes, UsedEpisode

SETTINGS = PatternSettings()
shares = st.floats(0, 1)
counts = st.integers(0, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
evidence = st.lists(st.tuples(shares, shares), max_size=30)


@given(count=counts, rate=shares)
def test_the_binomial_test_is_the_sum_of_its_chances(count: tuple[int, int], rate: float) -> None:
    successes, n = count
    p = Fraction(rate)
    exact = float(sum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(successes, n + 1)))
    assert math.isclose(binomial_p(successes, n, rate), exact, rel_tol=1e-10, abs_tol=1e-14)


@given(n=st.integers(1, 1_000_000), part=shares, rate=shares)
def test_more_successes_are_never_less_significant(n: int, part: float, rate: float) -> None:
    successes = min(n - 1, int(part * n))
    more, fewer = binomial_p(successes + 1, n, rate), binomial_p(successes, n, rate)
    assert 0.0 <= more <= fewer * (1 + 1e-9) <= 1.0 + 1e-9


@given(one=shares, other=shares, n=st.integers(0, 10**9), p=shares)
def test_confidence_is_a_share_that_grows_with_success(one: float, other: float, n: int, p: float) -> None:
    low, high = sorted((one, other))
    assert 0.0 <= confidence(low, n, p) <= confidence(high, n, p) <= 1.0


@given(seen=evidence, raised=shares)
def test_an_e_value_falls_as_what_has_to_be_beaten_rises(seen: list[tuple[float, float]], raised: float) -> None:
    outcomes, rates = [share for share, _ in seen], [rate for _, rate in seen]
    higher = [max(rate, raised) for rate in rates]
    assert log_e_better(outcomes, higher) <= log_e_better(outcomes, rates) + 1e-9
    assert log_e_worse(outcomes, higher) >= log_e_worse(outcomes, rates) - 1e-9


@given(seen=evidence, data=st.data())
def test_an_e_value_does_not_depend_on_the_order(seen: list[tuple[float, float]], data: st.DataObject) -> None:
    mixed = data.draw(st.permutations(seen))
    first, second = (log_e_better([x for x, _ in each], [r for _, r in each]) for each in (seen, mixed))
    assert math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-9)


@given(outcomes=st.lists(shares, min_size=1, max_size=30), reference=shares, base=shares)
def test_decay_is_a_number_and_another_failure_never_lessens_it(
    outcomes: list[float], reference: float, base: float
) -> None:
    before = log_decay(outcomes, reference, base)
    assert math.isfinite(before)
    assert log_decay([*outcomes[:-1], 0.0], reference, base) >= before - 1e-9


@given(
    values=st.dictionaries(st.text(max_size=3), st.floats(-50, 700)), rate=st.floats(0.01, 0.5), more=st.integers(0, 99)
)
def test_more_tests_never_mean_more_discoveries(values: dict[str, float], rate: float, more: int) -> None:
    found = discoveries(values, rate)
    assert discoveries(values, rate, len(values) + more) <= found
    if found:
        worst = min(values[key] for key in found)
        assert worst >= math.log(len(values) / (rate * len(found))) - 1e-9
        assert all(values[key] <= worst for key in values.keys() - found)


@given(rate=shares, n=st.floats(0.5, 1e6), certainty=st.floats(0.5, 0.99))
def test_bounds_are_shares_around_the_rate(rate: float, n: float, certainty: float) -> None:
    low, high = bounds(rate, n, certainty)
    assert 0.0 <= low <= rate + 1e-9
    assert rate - 1e-9 <= high <= 1.0


tallies = st.dictionaries(st.none() | st.sampled_from("abc"), counts.map(lambda c: Tally(float(c[0]), c[1])))


@given(known=tallies, used=tallies, name=st.none() | st.sampled_from("abcd"))
def test_a_base_rate_lies_between_its_own_and_the_projects(
    known: dict[str | None, Tally], used: dict[str | None, Tally], name: str | None
) -> None:
    for rates in (BaseRates(known), BaseRates(known).without(used)):
        base = rates.of(name)
        assert 0.0 <= base.rate <= base.upper <= 1.0
    tally, base = known.get(name, Tally()), BaseRates(known).of(name)
    own = tally.successes / tally.n if tally.n else BaseRates(known).overall
    low, high = sorted((own, BaseRates(known).overall))
    assert low - 1e-9 <= base.rate <= high + 1e-9


@given(a=counts, b=counts)
def test_fishers_test_is_a_chance(a: tuple[int, int], b: tuple[int, int]) -> None:
    assert 0.0 <= fisher_p(*a, *b) <= 1.0


statuses = st.sampled_from(PatternStatus)


@given(walk=st.lists(statuses, min_size=1, max_size=30), causes=st.lists(st.sampled_from(Cause), min_size=30))
def test_no_path_leads_out_of_deprecated(walk: list[PatternStatus], causes: list[Cause]) -> None:
    now, deprecated = walk[0], walk[0] is PatternStatus.DEPRECATED
    for wanted, cause in zip(walk[1:], causes, strict=False):
        now = wanted if is_allowed(now, wanted, cause) else now
        deprecated = deprecated or now is PatternStatus.DEPRECATED
        assert (now is PatternStatus.DEPRECATED) == deprecated


sessions = st.builds(
    lambda days, successes, partial, failed, kind: SessionCount(
        NOW - timedelta(days=days),
        successes,
        partial,
        successes + partial + failed,
        ((kind, successes + partial + failed),),
    ),
    st.floats(0, 120),
    st.integers(1, 3),
    st.integers(0, 2),
    st.integers(0, 4),
    st.none() | st.sampled_from("ab"),
)
trials = st.builds(
    lambda status, found, known, since: Trial(
        status,
        tuple(sorted(found, key=lambda each: each.at)),
        BaseRates(known),
        None if since is None else NOW - timedelta(days=since),
    ),
    statuses,
    st.lists(sessions, max_size=40),
    tallies,
    st.none() | st.floats(0, 120),
)


@given(given_trials=st.dictionaries(st.sampled_from("pqrst"), trials), retired=st.integers(0, 1_000))
def test_a_judgement_moves_only_along_the_table_and_validates_only_what_meets_every_condition(
    given_trials: dict[str, Trial], retired: int
) -> None:
    measured = {key: measure_trial(each, NOW, SETTINGS) for key, each in given_trials.items()}
    for key, judged in judge_all(measured, SETTINGS, retired=retired).items():
        before = given_trials[key].status
        assert judged.status is before or is_allowed(before, judged.status, Cause.VALIDATION)
        assert judged.reason
        if judged.sessions < SETTINGS.least_evidence and before is not PatternStatus.VALIDATED:
            assert judged.status is before
        if judged.status is PatternStatus.VALIDATED and before is not PatternStatus.VALIDATED:
            assert judged.success_rate is not None
            assert judged.success_rate >= SETTINGS.success_threshold
            assert judged.p_value is not None
            assert judged.p_value < MAX_P_VALUE
            assert judged.confidence >= SETTINGS.least_confidence
            assert judged.e_value >= 1 / SETTINGS.false_discovery_rate


rows = st.builds(
    lambda session, kind, days, successes, partial, failed: SessionOutcomes(
        "p", 1, session, kind, NOW - timedelta(days=days), successes, partial, successes + partial + failed
    ),
    st.sampled_from("abc"),
    st.none() | st.sampled_from("xy"),
    st.floats(0, 120),
    st.integers(1, 3),
    st.integers(0, 2),
    st.integers(0, 4),
)


@given(given_rows=st.lists(rows, max_size=20))
def test_counting_by_session_loses_and_invents_nothing(given_rows: list[SessionOutcomes]) -> None:
    found = group_by_session(sorted(given_rows, key=lambda each: each.session))
    for field in ("n", "successes", "partial"):
        assert sum(getattr(each, field) for each in found) == sum(getattr(each, field) for each in given_rows)
    assert all(sum(count for _, count in each.task_types) == each.n for each in found)
    assert [each.at for each in found] == sorted(each.at for each in found)
    assert len(found) == len({each.session for each in given_rows})


EPISODES = st.lists(
    st.tuples(st.none() | st.sampled_from("xy"), st.sampled_from("abc"), st.booleans(), st.booleans()), max_size=25
)


@given(episodes=EPISODES)
def test_without_a_pattern_base_rates_are_those_of_the_other_episodes(
    episodes: list[tuple[str | None, str, bool, bool]],
) -> None:
    """Counted plainly: of each session and type, the share of the episodes that did not use it."""
    everybody, others = (_shares(episodes, but_used) for but_used in (False, True))
    used = [
        UsedEpisode("p", str(place), kind, session, succeeded, *_whole(episodes, kind, session))
        for place, (kind, session, succeeded, is_used) in enumerate(episodes)
        if is_used
    ]
    found = BaseRates(everybody).without(losses_of([*used, *used]))
    for name in (None, "x", "y", "unseen"):
        expected, got = BaseRates(others).of(name), found.of(name)
        assert math.isclose(got.rate, expected.rate, abs_tol=1e-9)
        assert math.isclose(got.n, expected.n)


def _whole(episodes: list[tuple[str | None, str, bool, bool]], kind: str | None, session: str) -> tuple[int, int]:
    of = [succeeded for one, where, succeeded, _ in episodes if (one, where) == (kind, session)]
    return sum(of), len(of)


def _shares(episodes: list[tuple[str | None, str, bool, bool]], but_used: bool) -> dict[str | None, Tally]:
    left = [each for each in episodes if not (but_used and each[3])]
    found = dict[str | None, Tally]()
    for kind, session in {(each[0], each[1]) for each in left}:
        successes, n = _whole(left, kind, session)
        found[kind] = found.get(kind, Tally()) + Tally(successes / n, 1)
    return found


leaves: st.SearchStrategy[Any] = (
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-1, 1) | st.sampled_from("ab")
)
features = st.dictionaries(
    st.sampled_from(["x", "y.z", "", "\n"]),
    leaves | st.lists(leaves, max_size=3) | st.dictionaries(st.text("pq"), leaves),
)


@given(seen=st.lists(st.tuples(features, st.sampled_from(["SUCCESS", "PARTIAL", "FAILURE"])), max_size=25))
def test_a_refinement_leaves_out_failures_first_whatever_the_features(seen: list[tuple[dict[str, Any], str]]) -> None:
    applications = [
        Application.make(id=str(i), pattern="p", at=NOW, outcome=outcome, features=found)
        for i, (found, outcome) in enumerate(seen)
    ]
    lenient: dict[str, Any] = {"REFINEMENT_LEVEL": 0.99, "MIN_SIDE_SESSIONS": 1}
    with patch.multiple("treering.patterns.refinement", **lenient):
        refined = refine(Applicability(), applications, evidence=4)
    assert refined.reason
    if refined.applicability is None:
        assert refined.evidence == 4
        return
    assert refined.evidence == 5
    (added,) = (*refined.applicability.conditions, *refined.applicability.anti_conditions)
    wanted = bool(refined.applicability.conditions)
    stays = [each.outcome == "SUCCESS" for each in applications if holds(added, each.features) is wanted]
    leaves_out = [each.outcome == "SUCCESS" for each in applications if holds(added, each.features) is not wanted]
    assert sum(stays) / len(stays) > sum(leaves_out) / len(leaves_out)


def test_every_cause_has_its_transitions() -> None:
    assert {cause for causes in TRANSITIONS.values() for cause in causes} == set(Cause)
    assert not any(is_allowed(PatternStatus.DEPRECATED, status) for status in PatternStatus)
