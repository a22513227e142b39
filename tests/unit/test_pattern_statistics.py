"""What counts say: the exact test against slower ones, PT4's confidence, e-values, base rates, false discoveries."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from treering.core.errors import InvalidInput
from treering.core.settings.patterns import PatternSettings
from treering.patterns.base_rates import losses_of
from treering.patterns.statistics import (
    BASE_WEIGHT,
    BETS,
    BaseRates,
    Tally,
    binomial_p,
    bounds,
    confidence,
    discoveries,
    e_value,
    fisher_p,
    log_decay,
    log_e_better,
    log_e_worse,
)
from treering.ports.patterns import UsedEpisode

SETTINGS = PatternSettings()


def summed(successes: int, n: int, rate: float) -> float:
    """The same chance as a sum of fractions, without a rounding."""
    p = Fraction(rate)
    return float(sum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(successes, n + 1)))


def walked(successes: int, n: int, rate: float) -> float:
    """The same chance by walking from the likeliest count outwards in 40 digits: no logarithm, no gamma function."""
    with localcontext() as context:
        context.prec = 40
        p = Decimal(rate)
        odds, mode = p / (1 - p), int((n + 1) * rate)
        above = below = Decimal(0)

        def add(k: int, weight: Decimal) -> None:
            nonlocal above, below
            if k >= successes:
                above += weight
            else:
                below += weight

        weight, k = Decimal(1), mode
        while k <= n and (weight > Decimal(10) ** -60 or k <= successes):
            add(k, weight)
            weight *= odds * (n - k) / (k + 1)
            k += 1
        weight, k = Decimal(mode) / (n - mode + 1) / odds if mode else Decimal(0), mode - 1
        while k >= 0 and (weight > Decimal(10) ** -60 or k >= successes):
            add(k, weight)
            weight *= Decimal(k) / (n - k + 1) / odds
            k -= 1
        return float(above / (above + below))


@pytest.mark.parametrize("n", [1, 2, 5, 17, 60])
@pytest.mark.parametrize("rate", [0.01, 0.5, 0.62, 0.97])
def test_the_binomial_test_equals_the_sum_of_fractions(n: int, rate: float) -> None:
    for successes in range(n + 1):
        assert binomial_p(successes, n, rate) == pytest.approx(summed(successes, n, rate), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize(
    ("successes", "n", "rate"),
    [
        (500_900, 1_000_000, 0.5),
        (499_000, 1_000_000, 0.5),
        (850_500, 1_000_000, 0.85),
        (300, 1_000_000, 0.0002),
        (999_990, 1_000_000, 0.99998),
        (510_000, 1_000_000, 0.5),
        (6_100, 10_000, 0.6),
        (700, 1_000, 0.7),
    ],
)
def test_it_stays_exact_up_to_a_million(successes: int, n: int, rate: float) -> None:
    assert binomial_p(successes, n, rate) == pytest.approx(walked(successes, n, rate), rel=1e-10)


def test_known_values_of_the_test() -> None:
    assert binomial_p(8, 10, 0.5) == pytest.approx(56 / 1024)
    assert binomial_p(0, 10, 0.5) == binomial_p(3, 3, 1.0) == binomial_p(0, 0, 0.5) == 1.0
    assert binomial_p(1, 10, 0.0) == 0.0
    assert binomial_p(1_000_000, 1_000_000, 0.5) == 0.0


def test_what_hurts_is_not_significant() -> None:
    assert binomial_p(1, 40, 0.5) > 0.999


@pytest.mark.parametrize(("successes", "n", "rate"), [(-1, 5, 0.5), (6, 5, 0.5), (1, 5, 1.5), (1, 5, float("nan"))])
def test_what_is_no_count_or_rate_is_refused(successes: int, n: int, rate: float) -> None:
    with pytest.raises(InvalidInput):
        binomial_p(successes, n, rate)


def test_confidence_is_that_of_the_requirement() -> None:
    assert confidence(0.8, 20, 0.01) == pytest.approx(0.5 * 0.8 + 0.3 * (1 - math.exp(-1)) + 0.2 * 0.99)
    assert confidence(1.0, 10**9, 0.0) == 1.0
    assert confidence(0.0, 0, 1.0) == 0.0


def test_fishers_test_equals_the_sum_of_fractions() -> None:
    for a in range(6):
        for b in range(5):
            ways = [
                Fraction(math.comb(5, k) * math.comb(4, a + b - k), math.comb(9, a + b))
                for k in range(a, min(5, a + b) + 1)
            ]
            assert fisher_p(a, 5, b, 4) == pytest.approx(float(sum(ways)), rel=1e-12)


def test_the_e_value_of_plain_outcomes_is_a_mixture_of_likelihood_ratios() -> None:
    rate, successes, failures = 0.6, 9, 2
    better = rate + BETS * (1 - rate)
    mixture = np.mean((better / rate) ** successes * ((1 - better) / (1 - rate)) ** failures)
    assert e_value(log_e_better([1.0] * 9 + [0.0] * 2, [rate] * 11)) == pytest.approx(mixture)


def test_an_e_value_is_one_on_average_where_the_pattern_does_nothing() -> None:
    """Over every sequence of outcomes, each with its chance; also where each session has a rate of its own."""
    rates = [0.5, 0.7, 0.85, 0.6]
    for log_e in (log_e_better, log_e_worse):
        expected = 0.0
        for number in range(2 ** len(rates)):
            outcomes = [float(number >> i & 1) for i in range(len(rates))]
            chance = math.prod(r if x else 1 - r for x, r in zip(outcomes, rates, strict=True))
            expected += chance * e_value(log_e(outcomes, rates))
        assert expected == pytest.approx(1.0)


def test_without_evidence_an_e_value_is_one() -> None:
    assert log_e_better([], []) == log_e_worse([], []) == pytest.approx(0.0)


def test_looking_every_night_does_not_let_chance_through() -> None:
    """Ville's inequality, where p-values fail: 200 looks at idle patterns, each free to stop at its best."""
    pick, looks, idle = np.random.default_rng(3), 150, 150
    by_p = by_e = 0
    for _ in range(idle):
        outcomes = (pick.random(looks) < 0.6).astype(float)
        totals = outcomes.cumsum().astype(int)
        by_p += any(binomial_p(int(totals[n - 1]), n, 0.6) < 0.05 for n in range(5, looks))
        by_e += any(log_e_better(outcomes[:n], np.full(n, 0.6)) >= math.log(20) for n in range(5, looks))
    assert by_p > 0.15 * idle
    assert by_e <= 0.05 * idle


def test_an_enormous_e_value_is_still_a_number() -> None:
    assert math.isfinite(e_value(log_e_better(np.ones(100_000), np.full(100_000, 0.5))))


def test_a_fall_shows_in_the_latest_sessions_whatever_came_before() -> None:
    good, fallen = [1.0] * 9 + [0.0], [1.0, 0.0] * 5
    assert log_decay(good * 5, 0.85, 0.5) < math.log(20)
    assert log_decay(good * 5 + fallen * 2, 0.85, 0.5) > math.log(20)
    assert log_decay(good * 50 + fallen * 2, 0.85, 0.5) == pytest.approx(log_decay(good + fallen * 2, 0.85, 0.5))


def test_false_alarms_are_as_rare_as_promised() -> None:
    """At its reference rate a pattern is alarmed about once in `alarm` sessions, or more seldom."""
    pick, alarm, sessions = np.random.default_rng(5), 50.0, 10_000
    alarms, begun, shares = 0, 0, (pick.random(sessions) < 0.8).astype(float)
    for n in range(1, sessions + 1):
        if log_decay(shares[max(begun, n - 60) : n], 0.8, 0.6) >= math.log(alarm):
            alarms, begun = alarms + 1, n
    assert 0 < alarms <= sessions / alarm


def test_e_bh_takes_the_k_best_that_each_have_family_over_q_k() -> None:
    values = {"a": math.log(39.0), "b": math.log(41.0), "c": math.log(30.0), "d": 0.0}
    assert discoveries(values, 0.1) == {"a", "b", "c"}
    assert discoveries(values, 0.1, family=10) == frozenset()
    assert discoveries({"b": math.log(41.0), "d": 0.0}, 0.05) == {"b"}
    assert discoveries({"b": math.log(39.0), "d": 0.0}, 0.05) == frozenset()
    assert discoveries({}, 0.05) == frozenset()


def test_bounds_hold_the_rate_between_them() -> None:
    low, high = bounds(0.6, 50, 0.95)
    assert (low, high) == (pytest.approx(0.4833, abs=1e-3), pytest.approx(0.7062, abs=1e-3))
    assert bounds(0.6, 50, 0.5) == (pytest.approx(0.6), pytest.approx(0.6))


def test_a_base_rate_rests_on_its_own_sessions_where_there_are_many() -> None:
    rates = BaseRates({"fix": Tally(800.0, 1_000), "write": Tally(300.0, 1_000)})
    assert rates.of("fix").rate == pytest.approx(0.8, abs=0.01)
    assert 0.8 < rates.of("fix").upper < 0.83
    assert rates.overall == pytest.approx(0.55, abs=0.01)


def test_where_there_are_few_it_lies_near_the_projects_and_its_bound_far_above() -> None:
    rates = BaseRates({"fix": Tally(800.0, 1_000), "new": Tally(0.0, 2)})
    assert 0.5 < rates.of("new").rate < rates.overall
    assert rates.of("unseen").rate == pytest.approx(rates.overall)
    assert rates.of("unseen").upper > rates.overall + 0.1
    assert BaseRates({}).of(None).upper > 0.7


def used(session: str, succeeded: bool, successes: int, n: int, episode: str = "") -> UsedEpisode:
    return UsedEpisode("p", episode or f"of {session}", "fix", session, succeeded, successes, n)


def test_episodes_that_used_the_pattern_are_no_base() -> None:
    everything = BaseRates({"fix": Tally(80.0, 100)})
    alone = [used(f"s{place}", True, 1, 1) for place in range(50)]
    assert everything.without(losses_of(alone)).of("fix").rate == pytest.approx(0.6, abs=0.01)
    assert everything.without(losses_of(alone)).of("fix").n == pytest.approx(50 + BASE_WEIGHT)


def about(number: float) -> Any:
    return pytest.approx(number)


def test_a_session_keeps_the_share_of_its_other_episodes() -> None:
    """Of ten episodes eight succeeded, among them the one that used the pattern: seven of nine did without it."""
    assert losses_of([used("s", True, 8, 10)])["fix"] == Tally(about(8 / 10 - 7 / 9), 0)
    assert losses_of([used("s", False, 8, 10)])["fix"] == Tally(about(8 / 10 - 8 / 9), 0)
    assert losses_of([used("s", True, 1, 2, "a"), used("s", False, 1, 2, "b")])["fix"] == Tally(0.5, 1)
    assert losses_of([used("s", True, 8, 10), used("s", True, 8, 10)]) == losses_of([used("s", True, 8, 10)])
    assert losses_of([]) == {}
