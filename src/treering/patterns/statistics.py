"""Statistics of patterns: significance, e-values, false discovery rate and base rates.

Patterns are tested every night. A p-value promises its error rate for one look at a time fixed beforehand: over a
hundred nights far more than one in twenty idle patterns has a night with p < 0.05, and a procedure over such p-values
(Benjamini and Hochberg's) inherits that. So belief rests on e-values. An e-value is what a gambler has made of one
unit by betting on the pattern at odds that are fair if it has no effect. Whichever night is chosen, and however, the
expected value is one unit if the pattern has no effect, and it is rarely much more. Over many patterns, the e-BH
procedure (Wang and Ramdas 2022) takes the k best where each has at least family / (q · k): of those, on average, at
most a share of q has no effect, whatever the dependence between patterns.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treering.core.errors import InvalidInput
from treering.core.settings.patterns import PatternSettings

Floats = NDArray[np.float64]

# Assumed shares of failures that the pattern prevents; the unit is split evenly over these bets.
BETS: Floats = np.array([0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97])
# With a rate of exactly 0 or 1, a single opposite outcome would prove anything.
_EDGE = 1e-9
# exp() of more overflows a float.
_MAX_EXPONENT = 700.0


def binomial_p(successes: int, n: int, rate: float) -> float:
    """Probability of `successes` or more out of `n` at `rate`: exact, also for n of a million.

    One-sided, since a two-sided test would call a clearly harmful pattern significant.
    """
    if not 0 <= successes <= n or not 0.0 <= rate <= 1.0:
        raise InvalidInput(
            f"{successes} successes of {n} at a rate of {rate}: give 0 <= successes <= n, 0 <= rate <= 1"
        )
    if successes == 0 or rate == 1.0:
        return 1.0
    if rate == 0.0:
        return 0.0
    if successes > n * rate:
        return min(1.0, _tail(successes, n, rate))
    return max(0.0, 1.0 - _tail(n - successes + 1, n, 1.0 - rate))


def _tail(first: int, n: int, rate: float) -> float:
    """Probability of `first` or more, where `first` lies above the mean, so that the terms decrease."""
    odds = rate / (1.0 - rate)
    total = term = 1.0
    for k in range(first, n):
        term *= (n - k) / (k + 1) * odds
        total += term
        if term < total * 1e-17:
            break
    return _probability(first, n, rate) * total


def _probability(k: int, n: int, rate: float) -> float:
    """Probability of exactly `k` of `n`, by Loader's expansion, which avoids cancellation."""
    if k == n:
        return math.exp(n * math.log(rate))
    if k == 0:
        return math.exp(n * math.log1p(-rate))
    log = (
        _stirling_error(n)
        - _stirling_error(k)
        - _stirling_error(n - k)
        - _deviance(k, n * rate)
        - _deviance(n - k, n * (1.0 - rate))
    )
    return math.exp(log) * math.sqrt(n / (2.0 * math.pi * k * (n - k)))


def _stirling_error(n: int) -> float:
    """log(n!) minus Stirling's approximation."""
    if n <= 15:
        return math.lgamma(n + 1.0) - (n + 0.5) * math.log(n) + n - 0.5 * math.log(2.0 * math.pi)
    square = n * n
    return (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / square) / square) / square) / square) / n


def _deviance(seen: float, expected: float) -> float:
    """seen · log(seen / expected) + expected - seen, accurate also if the two are nearly equal."""
    difference = seen - expected
    if abs(difference) >= 0.1 * (seen + expected):
        return seen * math.log(seen / expected) - difference
    share = difference / (seen + expected)
    total, power, odd = difference * share, 2.0 * seen * share, 1
    while True:
        power *= share * share
        odd += 2
        further = total + power / odd
        if further == total:
            return total
        total = further


def fisher_p(successes: int, n: int, other_successes: int, other_n: int) -> float:
    """Fisher's exact test, one-sided: probability of at least this many successes in the first group."""
    drawn, total = successes + other_successes, n + other_n

    def probability(k: int) -> float:
        return math.exp(_log_choose(n, k) + _log_choose(other_n, drawn - k) - _log_choose(total, drawn))

    return min(1.0, math.fsum(probability(k) for k in range(successes, min(n, drawn) + 1)))


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def confidence(success_rate: float, n: int, p_value: float) -> float:
    """Confidence in a pattern, 0 to 1: half success rate, three tenths sample size, two tenths p-value."""
    sample = -math.expm1(-n / 20.0)
    return min(1.0, max(0.0, 0.5 * success_rate + 0.3 * sample + 0.2 * (1.0 - p_value)))


def log_e_better(shares: ArrayLike, rates: ArrayLike) -> float:
    """The logarithm of the e-value against "no session succeeds more often than its rate says".

    `shares` are the success rates of the sessions (0 to 1), `rates` those expected without the pattern. For shares of 0
    or 1 this is a mixture of likelihood ratios. It is valid for any share between, so applications within a session may
    depend on each other in any way. It grows with each share and falls with each rate.
    """
    gains = np.asarray(shares, float) / np.clip(np.asarray(rates, float), _EDGE, 1.0) - 1.0
    logs = np.log1p(np.multiply.outer(BETS, gains)).sum(axis=1)
    return float(np.logaddexp.reduce(logs) - math.log(len(BETS)))


def log_e_worse(shares: ArrayLike, rates: ArrayLike) -> float:
    """Like `log_e_better`, against "no session succeeds less often than its rate says"."""
    return log_e_better(1.0 - np.asarray(shares, float), 1.0 - np.clip(np.asarray(rates, float), 0.0, 1.0 - _EDGE))


def log_decay(shares: ArrayLike, reference: float, base: float) -> float:
    """Logarithm of the evidence in the latest sessions that the rate has fallen from `reference` to `base` or below.

    A CUSUM of e-values: the maximum over all possible change points. While the rate is at least `reference`, a value
    above `c` occurs at most once in `c` sessions on average.
    """
    current = min(max(reference, _EDGE), 1.0 - _EDGE)
    fallen = np.clip(np.array([base, base - 0.2, base - 0.4]), 0.05, 0.98 * current)
    seen = np.asarray(shares, float)
    ratios = np.multiply.outer(fallen / current, seen) + np.multiply.outer((1.0 - fallen) / (1.0 - current), 1.0 - seen)
    since = np.cumsum(np.log(ratios)[:, ::-1], axis=1)
    best = np.maximum(since.max(axis=1, initial=-np.inf), -_MAX_EXPONENT)
    return float(np.logaddexp.reduce(best) - math.log(len(fallen)))


def e_value(log_e: float) -> float:
    """The e-value of its logarithm, capped at the largest float exponent."""
    return math.exp(min(log_e, _MAX_EXPONENT))


def discoveries(log_e_values: Mapping[str, float], rate: float, family: int | None = None) -> frozenset[str]:
    """Keys that e-BH accepts at a false discovery rate of `rate`.

    `family` counts every test ever begun, including those of patterns that were refined or deprecated since; without
    them the others would look too good.
    """
    tests = max(len(log_e_values), family or 0)
    ordered = sorted(log_e_values, key=lambda key: (-log_e_values[key], key))
    for taken in range(len(ordered), 0, -1):
        if log_e_values[ordered[taken - 1]] >= math.log(tests / (rate * taken)):
            return frozenset(ordered[:taken])
    return frozenset()


def bounds(rate: float, n: float, certainty: float) -> tuple[float, float]:
    """Wilson's lower and upper bound of a rate, each with this certainty."""
    z = NormalDist().inv_cdf(certainty)
    centre = (rate + z * z / (2.0 * n)) / (1.0 + z * z / n)
    half = z * math.sqrt(rate * (1.0 - rate) / n + z * z / (4.0 * n * n)) / (1.0 + z * z / n)
    return max(0.0, centre - half), min(1.0, centre + half)


@dataclass(frozen=True, slots=True)
class Tally:
    """Number of sessions of a task type and the sum of their success rates; or episodes of a session and successes.

    In a difference, successes may grow while sessions do not: the remaining episodes succeeded more often.
    """

    successes: float = 0.0
    n: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(self.successes + other.successes, self.n + other.n)

    def __sub__(self, other: "Tally") -> "Tally":
        n = max(0, self.n - other.n)
        return Tally(min(max(0.0, self.successes - other.successes), float(n)), n)

    @property
    def share(self) -> float:
        return self.successes / self.n

    def inverted(self) -> "Tally":
        """The tally with failures counted as successes."""
        return Tally(self.n - self.successes, self.n)


@dataclass(frozen=True, slots=True)
class BaseRate:
    """How often a type of task succeeds without the pattern: estimate and upper bound."""

    rate: float
    upper: float
    n: float


class BaseRates:
    """How often each task type succeeds without the pattern in question.

    The rate of a type with few sessions is pulled towards the project's rate. The fewer the sessions, the higher its
    upper bound: an unknown base rate counts as a high one.
    """

    def __init__(self, tallies: Mapping[str | None, Tally], settings: PatternSettings) -> None:
        self._tallies = MappingProxyType(dict(tallies))
        self._settings = settings
        everything = sum(self._tallies.values(), Tally())
        weight = settings.base_weight
        self.overall = (everything.successes + weight * settings.floor_rate) / (everything.n + weight)
        self._known: dict[str | None, BaseRate] = {}

    def of(self, task_type: str | None) -> BaseRate:
        """The base rate of a task type; for an unseen type, estimated from the project's overall rate."""
        known = self._known.get(task_type)
        if known is None:
            known = self._known[task_type] = self._estimated(self._tallies.get(task_type, Tally()))
        return known

    def without(self, lost: Mapping[str | None, Tally]) -> "BaseRates":
        """Base rates without the episodes that used the pattern; `lost` is their part of each tally."""
        left = {name: tally - lost.get(name, Tally()) for name, tally in self._tallies.items()}
        return BaseRates(left, self._settings)

    def inverted(self) -> "BaseRates":
        """Failure rates instead of success rates."""
        return BaseRates({name: tally.inverted() for name, tally in self._tallies.items()}, self._settings)

    def _estimated(self, tally: Tally) -> BaseRate:
        n = tally.n + self._settings.base_weight
        rate = (tally.successes + self._settings.base_weight * self.overall) / n
        return BaseRate(rate, max(rate, bounds(rate, n, self._settings.base_certainty)[1]), n)
