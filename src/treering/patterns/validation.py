"""Whether a pattern is believed: from what came of it, session by session, to a status and the reason in words.

PT4's conditions come first: five sessions in 90 days, success, p-value, confidence. They are looked at every night,
over thousands of patterns, and their p-value counts a session as won where most of it was, which flatters long
sessions. So its e-value has to stand as well, and that one takes the share of each session that succeeded, holds it
against the most that the base rate of its tasks may be, and competes with all other tests (`discoveries`).

What is promised, and what is not. On any night, those that e-BH takes are idle in a share of at most
`false_discovery_rate` on average. A validated pattern stays so until evidence speaks against it, also when it would not
be taken again: that share is measured in `bench/pattern_worlds.py`, not proven. The base rate is bounded with
`base_certainty`, not known; and it compares tasks of one type. Where a pattern is used for the easier ones among them,
or since everything got easier, what made them easy looks like its doing.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from treering.core.patterns import PatternStatus
from treering.core.settings.patterns import PatternSettings
from treering.core.values import Count, Share, Text, Value
from treering.patterns.statistics import (
    FLOOR_RATE,
    BaseRate,
    BaseRates,
    Floats,
    as_number,
    binomial_p,
    bounds,
    confidence,
    discoveries,
    log_decay,
    log_e_better,
    log_e_worse,
)

MAX_P_VALUE = 0.05  # the p-value that a validated pattern stays below, by requirement
WATCHED_SESSIONS = 60  # latest sessions of a validated pattern that are compared with the earlier ones
# How surely a validated pattern was at least as good as its reference rate: what was chosen for doing well did a little
# worse in truth.
REFERENCE_CERTAINTY = 0.75
SESSIONS_PER_FALSE_ALARM = 1_000.0  # mean number of sessions, at least; ten times as many delay a true alarm by half
# One in twenty good candidates is reviewed in error at most, however many nights look at it.
FAILURE_LIKELIHOOD_RATIO = 20.0


@dataclass(frozen=True, slots=True)
class SessionCount:
    """What came of a pattern in one session: one piece of evidence, however often it was applied."""

    at: datetime
    """Of the last application in it."""
    successes: int
    partial: int
    n: int
    task_types: tuple[tuple[str | None, int], ...]
    """How many of the applications were of which type."""

    @property
    def succeeded(self) -> bool:
        """Whether it counts as a success: more than half did."""
        return 2 * self.successes > self.n

    @property
    def share(self) -> float:
        """What succeeded altogether."""
        return self.successes / self.n


@dataclass(frozen=True, slots=True)
class Trial:
    """One pattern as the night finds it."""

    status: PatternStatus
    sessions: tuple[SessionCount, ...]
    """All of the present generation of evidence, the oldest first; of one under review, only what came since.

    Old glory does not bring it back, also not as a part of a session that went on.
    """
    bases: BaseRates
    """Of episodes that did not use it."""
    since: datetime | None = None
    """When it took its present status: a validated one is watched by what came after."""
    tests: int = 1
    """How many tests of it were begun, this one included: its evidence began anew, or it was reviewed. 0 of one that
    was never tried."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What the evidence of one pattern comes to."""

    sessions: int
    applications: int
    success_rate: float | None
    base_rate: float
    null_rate: float
    """What it has to beat: the bound above its base rate, and 0.5 at least."""
    p_value: float | None
    confidence: float
    log_e: float
    log_worse: float
    """How strongly all evidence says that a candidate fails too often, or more often than without it."""
    log_decay: float
    """How strongly the latest sessions say that a validated one no longer works as it did."""


class Judged(Value):
    """What validation says of a pattern."""

    status: PatternStatus
    sessions: Count
    applications: Count
    success_rate: Share | None
    base_rate: Share
    null_rate: Share
    improvement: float | None
    """By how much it succeeds more often than its base rate."""
    p_value: Share | None
    e_value: float
    confidence: Share
    reason: Text


@dataclass(frozen=True, slots=True)
class _Columns:
    """Sessions, the oldest first: what came of each, and what would have without the pattern."""

    successes: Floats
    partial: Floats
    n: Floats
    rates: Floats
    """As estimated."""
    uppers: Floats
    """At most."""

    @property
    def shares(self) -> Floats:
        return self.successes / self.n


def measure(trial: Trial, now: datetime, settings: PatternSettings) -> Measured:
    """What its evidence comes to: PT4's figures by the last 90 days, the e-values by the whole generation."""
    columns = _columns(trial.sessions, trial.bases)
    begun, n = _first_after(trial.sessions, now - timedelta(days=settings.window_days)), len(trial.sessions)
    if begun == n:
        base, null = trial.bases.overall, max(FLOOR_RATE, trial.bases.overall)
        success_rate = p_value = None
        sure = 0.0
    else:
        base = float(columns.rates[begun:].mean())
        null = max(FLOOR_RATE, float(columns.uppers[begun:].mean()))
        success_rate = float(((columns.successes + 0.5 * columns.partial) / columns.n)[begun:].mean())
        p_value = binomial_p(int((2 * columns.successes > columns.n)[begun:].sum()), n - begun, null)
        sure = confidence(success_rate, n - begun, p_value)
    return Measured(
        sessions=n - begun,
        applications=int(columns.n[begun:].sum()),
        success_rate=success_rate,
        base_rate=base,
        null_rate=null,
        p_value=p_value,
        confidence=sure,
        log_e=_log_better(columns),
        log_worse=_log_worse(columns, settings) if trial.status is PatternStatus.CANDIDATE else 0.0,
        log_decay=_log_decay(trial, columns, settings) if trial.status is PatternStatus.VALIDATED else 0.0,
    )


def _first_after(sessions: Sequence[SessionCount], moment: datetime) -> int:
    return bisect_right(sessions, moment, key=lambda each: each.at)


def _columns(sessions: Sequence[SessionCount], bases: BaseRates) -> _Columns:
    expected = [_expected(each, bases) for each in sessions]
    return _Columns(
        np.array([each.successes for each in sessions], float),
        np.array([each.partial for each in sessions], float),
        np.array([each.n for each in sessions], float),
        np.array([each.rate for each in expected], float),
        np.array([each.upper for each in expected], float),
    )


def _expected(session: SessionCount, bases: BaseRates) -> BaseRate:
    """What a session would come to without the pattern, by the types of its applications."""
    if len(session.task_types) == 1:
        return bases.of(session.task_types[0][0])
    parts = [(count / session.n, bases.of(name)) for name, count in session.task_types]
    return BaseRate(
        rate=sum(share * base.rate for share, base in parts),
        upper=sum(share * base.upper for share, base in parts),
        n=min(base.n for _, base in parts),
    )


def _log_better(columns: _Columns) -> float:
    """The weaker of two proofs: that it beats its base rate, and that it beats a coin. Both have to stand."""
    beats_coin = log_e_better(columns.shares, FLOOR_RATE)
    return min(beats_coin, log_e_better(columns.shares, columns.uppers))


def _log_worse(columns: _Columns, settings: PatternSettings) -> float:
    below_threshold = log_e_worse(columns.shares, settings.success_threshold)
    return float(np.logaddexp(below_threshold, log_e_worse(columns.shares, columns.rates)) - np.log(2.0))


def _log_decay(trial: Trial, columns: _Columns, settings: PatternSettings) -> float:
    """Its latest sessions against what it was validated for: that rate's lower bound, its base rate, the threshold.

    However long they took: what is used once a month may have stopped working, too.
    """
    n = len(trial.sessions)
    begun = max(_first_after(trial.sessions, trial.since) if trial.since else 0, n - WATCHED_SESSIONS)
    if not 0 < begun <= n - settings.least_evidence:
        return 0.0
    base = max(FLOOR_RATE, float(columns.rates[begun:].mean()))
    was = bounds(float(columns.shares[:begun].mean()), begun, REFERENCE_CERTAINTY)[0]
    return log_decay(columns.shares[begun:], max(was, base, settings.success_threshold), base)


def judge(measured: Measured, status: PatternStatus, settings: PatternSettings, *, discovered: bool) -> Judged:
    """The status that the evidence gives a pattern; `discovered`: whether its e-value stands among all (`discoveries`).

    It is validated by PT4's conditions and its e-value together. It loses that only to evidence against it, not to a
    night on which one of the conditions is missed: a status that flaps helps nobody.
    """
    after, reason = _verdict(measured, status, settings, discovered)
    return Judged(
        status=after,
        sessions=measured.sessions,
        applications=measured.applications,
        success_rate=measured.success_rate,
        base_rate=measured.base_rate,
        null_rate=measured.null_rate,
        improvement=None if measured.success_rate is None else measured.success_rate - measured.base_rate,
        p_value=measured.p_value,
        e_value=as_number(measured.log_e),
        confidence=measured.confidence,
        reason=f"{_told(measured)}{reason}",
    )


def _verdict(
    measured: Measured, status: PatternStatus, settings: PatternSettings, discovered: bool
) -> tuple[PatternStatus, str]:
    if status is PatternStatus.DEPRECATED:
        return status, "deprecated, and stays so"
    if status is PatternStatus.VALIDATED:
        return _watched(measured)
    if measured.sessions < settings.least_evidence:
        return status, f"fewer than {settings.least_evidence} sessions decide nothing"
    missed = _missed(measured, settings, discovered)
    if not missed:
        return PatternStatus.VALIDATED, "better than its base rate, and more than chance explains"
    if status is PatternStatus.CANDIDATE and measured.log_worse >= np.log(FAILURE_LIKELIHOOD_RATIO):
        return PatternStatus.UNDER_REVIEW, "it fails too often, or more often than tasks of its kind do without it"
    return status, f"not yet proven: {', '.join(missed)}"


def _watched(measured: Measured) -> tuple[PatternStatus, str]:
    if measured.log_decay >= np.log(SESSIONS_PER_FALSE_ALARM):
        return PatternStatus.UNDER_REVIEW, "its latest sessions are worse than what it was validated for"
    return PatternStatus.VALIDATED, "nothing speaks against it"


def _missed(measured: Measured, settings: PatternSettings, discovered: bool) -> list[str]:
    """The conditions of a validated pattern that this one does not meet."""
    rate, p_value = measured.success_rate or 0.0, 1.0 if measured.p_value is None else measured.p_value
    conditions = (
        (rate >= settings.success_threshold, f"success below {settings.success_threshold:.0%}"),
        (p_value < MAX_P_VALUE, f"p = {p_value:.2g} is not below {MAX_P_VALUE:g}"),
        (
            measured.confidence >= settings.least_confidence,
            f"confidence {measured.confidence:.2f} is below {settings.least_confidence:g}",
        ),
        (discovered, f"an e-value of {as_number(measured.log_e):.3g} is too little among so many patterns"),
    )
    return [missed for met, missed in conditions if not met]


def _told(measured: Measured) -> str:
    if measured.success_rate is None:
        return "no session in the window: "
    return (
        f"{measured.success_rate:.0%} success in {measured.sessions} session{'s' * (measured.sessions != 1)} "
        f"({measured.base_rate:.0%} without it, {measured.null_rate:.0%} at most): "
    )


@dataclass(frozen=True, slots=True)
class Tested:
    """A pattern after its sessions were measured: they need not be kept."""

    status: PatternStatus
    tests: int
    measured: Measured


def tried(trial: Trial, now: datetime, settings: PatternSettings) -> Tested:
    return Tested(trial.status, trial.tests, measure(trial, now, settings))


def judge_all(tested: Mapping[str, Tested], settings: PatternSettings, *, retired: int = 0) -> dict[str, Judged]:
    """What the night says of every pattern.

    `retired` counts the tests of patterns that are out of use, deprecated ones above all: they were tried, too.
    """
    standing = {key: each.measured.log_e for key, each in tested.items() if each.tests}
    family = retired + sum(each.tests for each in tested.values())
    found = discoveries(standing, settings.false_discovery_rate, family)
    return {key: judge(each.measured, each.status, settings, discovered=key in found) for key, each in tested.items()}
