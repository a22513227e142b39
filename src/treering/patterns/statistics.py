"""What the counts of a pattern say, and how far chance can explain them.

A pattern is looked at every night. A p-value promises its error rate for one look at a time fixed beforehand: over a
hundred nights far more than one in twenty idle patterns has a night with p < 0.05, and a procedure over such p-values
(Benjamini and Hochberg's) inherits that. So belief rests on e-values. An e-value is what a gambler has made of one
unit who bet on the pattern at odds that are fair if it does nothing. Whatever night one looks, and however that night
was chosen, he has one unit on average if it does nothing, and seldom much more. Over many patterns, the e-BH procedure
(Wang and Ramdas 2022) takes the k best where each has at least family / (q · k): of those, on average, a share of at
most q does nothing, however the patterns depend on each other.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treering.core.errors import InvalidInput

FLOOR_RATE = 0.5  # a pattern has to beat a coin toss, by requirement
# Sessions that the project's overall rate stands for where a task type has few: rates of task types between 0.3 and
# 0.85 lie about as far apart as samples of six do.
BASE_WEIGHT = 6.0
# How surely the bound to beat lies above the base rate; at 0.8 the false discovery rate is used up, at 0.95 fewer
# patterns that help are seen (`bench/pattern_worlds.py`).
BASE_CERTAINTY = 0.9

Floats = NDArray[np.float64]

# The share of failures that the pattern prevents, as the gambler imagines it: he splits his unit evenly over these.
BETS: Floats = np.array([0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97])
# A rate of exactly 0 or 1 would make one outcome impossible, and a single one of those proof of anything.
_EDGE = 1e-9
# exp of more than this is no float.
_LARGEST = 700.0


def binomial_p(successes: int, n: int, rate: float) -> float:
    """The chance of `successes` or more in `n` where each succeeds at `rate`: exact, also for a million.

    One-sided: the question is whether a pattern is better. A two-sided test would call a pattern that clearly hurts
    significant.
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
    """The sum of the chances of `first` or more, which lies above the mean: each is smaller than the one before."""
    odds = rate / (1.0 - rate)
    total = term = 1.0
    for k in range(first, n):
        term *= (n - k) / (k + 1) * odds
        total += term
        if term < total * 1e-17:
            break
    return _chance(first, n, rate) * total


def _chance(k: int, n: int, rate: float) -> float:
    """The chance of exactly `k` of `n`, by Loader's expansion: no difference of large numbers loses its digits."""
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
    """log(n!) less Stirling's formula for it."""
    if n <= 15:
        return math.lgamma(n + 1.0) - (n + 0.5) * math.log(n) + n - 0.5 * math.log(2.0 * math.pi)
    square = n * n
    return (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / square) / square) / square) / square) / n


def _deviance(seen: float, expected: float) -> float:
    """seen · log(seen / expected) + expected - seen, also where the two are nearly equal."""
    apart = seen - expected
    if abs(apart) >= 0.1 * (seen + expected):
        return seen * math.log(seen / expected) - apart
    share = apart / (seen + expected)
    total, power, odd = apart * share, 2.0 * seen * share, 1
    while True:
        power *= share * share
        odd += 2
        further = total + power / odd
        if further == total:
            return total
        total = further


def fisher_p(successes: int, n: int, other_successes: int, other_n: int) -> float:
    """Fisher's exact test: the chance that the successes of both groups, dealt at random, give the first so many."""
    drawn, total = successes + other_successes, n + other_n

    def chance(k: int) -> float:
        return math.exp(_log_choose(n, k) + _log_choose(other_n, drawn - k) - _log_choose(total, drawn))

    return min(1.0, math.fsum(chance(k) for k in range(successes, min(n, drawn) + 1)))


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def confidence(success_rate: float, n: int, p_value: float) -> float:
    """How far a pattern can be relied on, of 1: half its success, three tenths its evidence, the rest its test."""
    sample = -math.expm1(-n / 20.0)
    return min(1.0, max(0.0, 0.5 * success_rate + 0.3 * sample + 0.2 * (1.0 - p_value)))


def log_e_better(shares: ArrayLike, rates: ArrayLike) -> float:
    """The logarithm of the e-value against "no session succeeds more often than its rate says".

    `shares` are what succeeded of each session (0 to 1), `rates` what would have without the pattern. Where a share
    is 0 or 1 this is a mixture of likelihood ratios. It holds for anything in between as well, so that applications
    of one session may depend on each other in any way. It grows with each share and falls with each rate.
    """
    gains = np.asarray(shares, float) / np.clip(np.asarray(rates, float), _EDGE, 1.0) - 1.0
    logs = np.log1p(np.multiply.outer(BETS, gains)).sum(axis=1)
    return float(np.logaddexp.reduce(logs) - math.log(len(BETS)))


def log_e_worse(shares: ArrayLike, rates: ArrayLike) -> float:
    """The same against "no session succeeds less often than its rate says"."""
    return log_e_better(1.0 - np.asarray(shares, float), 1.0 - np.clip(np.asarray(rates, float), 0.0, 1.0 - _EDGE))


def log_decay(shares: ArrayLike, reference: float, base: float) -> float:
    """The logarithm of how strongly the latest sessions say that a rate of `reference` has fallen to `base` or below.

    A CUSUM of e-values: the best over all moments at which it may have fallen. While the rate is at least
    `reference`, more than `c` comes up once in `c` sessions on average, or more seldom.
    """
    kept = min(max(reference, _EDGE), 1.0 - _EDGE)
    fallen = np.clip(np.array([base, base - 0.2, base - 0.4]), 0.05, 0.98 * kept)
    seen = np.asarray(shares, float)
    ratios = np.multiply.outer(fallen / kept, seen) + np.multiply.outer((1.0 - fallen) / (1.0 - kept), 1.0 - seen)
    since = np.cumsum(np.log(ratios)[:, ::-1], axis=1)
    best = np.maximum(since.max(axis=1, initial=-np.inf), -_LARGEST)
    return float(np.logaddexp.reduce(best) - math.log(len(fallen)))


def as_number(log_e: float) -> float:
    """An e-value as a number; what is larger than numbers are is as large as they can be."""
    return math.exp(min(log_e, _LARGEST))


def discoveries(log_e_values: Mapping[str, float], rate: float, family: int | None = None) -> frozenset[str]:
    """Those that e-BH takes at a false discovery rate of `rate`.

    `family` counts every test that was ever begun, also of patterns that were refined or deprecated since: whoever
    forgets the losers finds the winners too good.
    """
    tests = max(len(log_e_values), family or 0)
    ordered = sorted(log_e_values, key=lambda key: (-log_e_values[key], key))
    for taken in range(len(ordered), 0, -1):
        if log_e_values[ordered[taken - 1]] >= math.log(tests / (rate * taken)):
            return frozenset(ordered[:taken])
    return frozenset()


def bounds(rate: float, n: float, certainty: float) -> tuple[float, float]:
    """Wilson's bounds: the rate lies above the first, and below the second, each with this certainty."""
    z = NormalDist().inv_cdf(certainty)
    centre = (rate + z * z / (2.0 * n)) / (1.0 + z * z / n)
    half = z * math.sqrt(rate * (1.0 - rate) / n + z * z / (4.0 * n * n)) / (1.0 + z * z / n)
    return max(0.0, centre - half), min(1.0, centre + half)


@dataclass(frozen=True, slots=True)
class Tally:
    """Sessions of one task type, and the sum of the shares of their episodes that succeeded; or a session's episodes.

    The difference of two may gain successes where it loses no session: the others in it succeeded more often.
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

    def turned(self) -> "Tally":
        """With failures counted as successes."""
        return Tally(self.n - self.successes, self.n)


@dataclass(frozen=True, slots=True)
class BaseRate:
    """How often a kind of task succeeds by itself: as estimated, and at most."""

    rate: float
    upper: float
    n: float


class BaseRates:
    """How often each task type succeeds without the pattern in question.

    A type with few sessions lies between its own rate and the project's. Its bound lies the further above, the fewer
    they are: an unknown base rate is a high one.
    """

    def __init__(self, tallies: Mapping[str | None, Tally]) -> None:
        self._tallies = MappingProxyType(dict(tallies))
        everything = sum(self._tallies.values(), Tally())
        weight = BASE_WEIGHT
        self.overall = (everything.successes + weight * FLOOR_RATE) / (everything.n + weight)
        self._known: dict[str | None, BaseRate] = {}

    def of(self, task_type: str | None) -> BaseRate:
        """That of a task type; of one that nobody has seen, what the project's overall rate allows."""
        known = self._known.get(task_type)
        if known is None:
            known = self._known[task_type] = self._estimated(self._tallies.get(task_type, Tally()))
        return known

    def without(self, lost: Mapping[str | None, Tally]) -> "BaseRates":
        """The same without the episodes in which the pattern was used: `lost` is what leaves with them."""
        left = {name: tally - lost.get(name, Tally()) for name, tally in self._tallies.items()}
        return BaseRates(left)

    def turned(self) -> "BaseRates":
        """How often each fails."""
        return BaseRates({name: tally.turned() for name, tally in self._tallies.items()})

    def _estimated(self, tally: Tally) -> BaseRate:
        n = tally.n + BASE_WEIGHT
        rate = (tally.successes + BASE_WEIGHT * self.overall) / n
        return BaseRate(rate, max(rate, bounds(rate, n, BASE_CERTAINTY)[1]), n)
