"""Validation: from the outcomes of a pattern by session to its status, with the reason in words.

PT4's conditions come first: five sessions in 90 days, success rate, p-value, confidence. They are checked every night
for thousands of patterns, and their p-value counts a session as a success if most of it succeeded, which favours long
sessions. So the e-value has to pass as well: it uses the success rate of each session, compares it with the upper bound
of the base rate of its tasks, and is corrected for all other tests (`discoveries`).

Guarantees and limits: on any night, at most `false_discovery_rate` of the patterns that e-BH accepts have no effect, on
average. A validated pattern keeps its status until there is evidence against it, even if it would not be accepted
again; the resulting share is measured in `bench/pattern_worlds.py`, not proven. The base rate is an upper bound with
`base_certainty`, and it compares tasks of one type: if a pattern is used for the easier ones among them, or since all
tasks became easier, that looks like an effect of the pattern.
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
    BaseRate,
    BaseRates,
    Floats,
    binomial_p,
    bounds,
    confidence,
    discoveries,
    e_value,
    log_decay,
    log_e_better,
    log_e_worse,
)


@dataclass(frozen=True, slots=True)
class SessionCount:
    """Outcomes of a pattern in one session: one piece of evidence, however often it was applied."""

    at: datetime
    """Time of the last application in the session."""
    successes: int
    partial: int
    n: int
    task_types: tuple[tuple[str | None, int], ...]
    """Number of applications by task type."""

    @property
    def succeeded(self) -> bool:
        """Whether more than half of the applications succeeded."""
        return 2 * self.successes > self.n

    @property
    def share(self) -> float:
        """Share of applications that succeeded."""
        return self.successes / self.n


@dataclass(frozen=True, slots=True)
class Trial:
    """Input of a validation: one pattern with its sessions."""

    status: PatternStatus
    sessions: tuple[SessionCount, ...]
    """All sessions of the present generation of evidence, oldest first; under review, only applications since then.

    Earlier successes do not end a review, even in a session that continued after it began.
    """
    bases: BaseRates
    """Base rates of episodes that did not use the pattern."""
    since: datetime | None = None
    """Start of its present status; a validated pattern is watched by the sessions after it."""
    tests: int = 1
    """Tests begun, including this one: one per reset of the evidence or review; 0 if it was never applied."""


@dataclass(frozen=True, slots=True)
class EvidenceMeasure:
    """Measures of the evidence of one pattern."""

    sessions: int
    applications: int
    success_rate: float | None
    base_rate: float
    null_rate: float
    """The rate it has to beat: the upper bound of its base rate, at least 0.5."""
    p_value: float | None
    confidence: float
    log_e: float
    log_worse: float
    """Log e-value for: a candidate fails too often, or more often than tasks do without it."""
    log_decay: float
    """Log of the evidence that a validated pattern no longer works as it did."""


class PatternVerdict(Value):
    """Result of validating a pattern."""

    status: PatternStatus
    sessions: Count
    applications: Count
    success_rate: Share | None
    base_rate: Share
    null_rate: Share
    improvement: float | None
    """Success rate minus base rate."""
    p_value: Share | None
    e_value: float
    confidence: Share
    reason: Text


@dataclass(frozen=True, slots=True)
class _SessionColumns:
    """Sessions as arrays, oldest first: their outcomes, and the rates expected without the pattern."""

    successes: Floats
    partial: Floats
    n: Floats
    rates: Floats
    """Estimated base rates."""
    uppers: Floats
    """Upper bounds of the base rates."""

    @property
    def shares(self) -> Floats:
        return self.successes / self.n


def measure(trial: Trial, now: datetime, settings: PatternSettings) -> EvidenceMeasure:
    """PT4's figures over the last 90 days, e-values over the whole generation of evidence."""
    columns = _columns(trial.sessions, trial.bases)
    first, n = _first_after(trial.sessions, now - timedelta(days=settings.window_days)), len(trial.sessions)
    if first == n:
        base, null = trial.bases.overall, max(settings.floor_rate, trial.bases.overall)
        success_rate = p_value = None
        sureness = 0.0
    else:
        base = float(columns.rates[first:].mean())
        null = max(settings.floor_rate, float(columns.uppers[first:].mean()))
        success_rate = float(((columns.successes + 0.5 * columns.partial) / columns.n)[first:].mean())
        p_value = binomial_p(int((2 * columns.successes > columns.n)[first:].sum()), n - first, null)
        sureness = confidence(success_rate, n - first, p_value)
    return EvidenceMeasure(
        sessions=n - first,
        applications=int(columns.n[first:].sum()),
        success_rate=success_rate,
        base_rate=base,
        null_rate=null,
        p_value=p_value,
        confidence=sureness,
        log_e=_log_better(columns, settings),
        log_worse=_log_worse(columns, settings) if trial.status is PatternStatus.CANDIDATE else 0.0,
        log_decay=_log_decay(trial, columns, settings) if trial.status is PatternStatus.VALIDATED else 0.0,
    )


def _first_after(sessions: Sequence[SessionCount], moment: datetime) -> int:
    return bisect_right(sessions, moment, key=lambda each: each.at)


def _columns(sessions: Sequence[SessionCount], bases: BaseRates) -> _SessionColumns:
    expected = [_expected(each, bases) for each in sessions]
    return _SessionColumns(
        np.array([each.successes for each in sessions], float),
        np.array([each.partial for each in sessions], float),
        np.array([each.n for each in sessions], float),
        np.array([each.rate for each in expected], float),
        np.array([each.upper for each in expected], float),
    )


def _expected(session: SessionCount, bases: BaseRates) -> BaseRate:
    """Base rate of a session: the mean over the task types of its applications."""
    if len(session.task_types) == 1:
        return bases.of(session.task_types[0][0])
    parts = [(count / session.n, bases.of(name)) for name, count in session.task_types]
    return BaseRate(
        rate=sum(share * base.rate for share, base in parts),
        upper=sum(share * base.upper for share, base in parts),
        n=min(base.n for _, base in parts),
    )


def _log_better(columns: _SessionColumns, settings: PatternSettings) -> float:
    """The smaller log e-value of two claims that both have to hold: it beats its base rate, and `floor_rate`."""
    beats_coin = log_e_better(columns.shares, settings.floor_rate)
    return min(beats_coin, log_e_better(columns.shares, columns.uppers))


def _log_worse(columns: _SessionColumns, settings: PatternSettings) -> float:
    below_threshold = log_e_worse(columns.shares, settings.success_threshold)
    return float(np.logaddexp(below_threshold, log_e_worse(columns.shares, columns.rates)) - np.log(2.0))


def _log_decay(trial: Trial, columns: _SessionColumns, settings: PatternSettings) -> float:
    """Compare its latest sessions with the rate it was validated for: its lower bound, base rate or the threshold.

    There is no time window, since a pattern used once a month may stop working, too.
    """
    n = len(trial.sessions)
    first = max(_first_after(trial.sessions, trial.since) if trial.since else 0, n - settings.watched_sessions)
    if not 0 < first <= n - settings.least_evidence:
        return 0.0
    base = max(settings.floor_rate, float(columns.rates[first:].mean()))
    earlier = bounds(float(columns.shares[:first].mean()), first, settings.reference_certainty)[0]
    return log_decay(columns.shares[first:], max(earlier, base, settings.success_threshold), base)


def judge(
    measured: EvidenceMeasure, status: PatternStatus, settings: PatternSettings, *, discovered: bool
) -> PatternVerdict:
    """The status that the evidence supports; `discovered` is whether its e-value passes among all (`discoveries`).

    A pattern is validated if PT4's conditions hold and its e-value passes. It loses that status only by evidence
    against it, not if a condition is missed once, so that the status does not flap.
    """
    after, reason = _decide(measured, status, settings, discovered)
    return PatternVerdict(
        status=after,
        sessions=measured.sessions,
        applications=measured.applications,
        success_rate=measured.success_rate,
        base_rate=measured.base_rate,
        null_rate=measured.null_rate,
        improvement=None if measured.success_rate is None else measured.success_rate - measured.base_rate,
        p_value=measured.p_value,
        e_value=e_value(measured.log_e),
        confidence=measured.confidence,
        reason=f"{_summary(measured)}{reason}",
    )


def _decide(
    measured: EvidenceMeasure, status: PatternStatus, settings: PatternSettings, discovered: bool
) -> tuple[PatternStatus, str]:
    if status is PatternStatus.DEPRECATED:
        return status, "deprecated for good"
    if status is PatternStatus.VALIDATED:
        return _watch(measured, settings)
    if measured.sessions < settings.least_evidence:
        return status, f"fewer than {settings.least_evidence} sessions are not enough evidence"
    unmet = _unmet_conditions(measured, settings, discovered)
    if not unmet:
        return PatternStatus.VALIDATED, "better than its base rate by more than chance explains"
    if status is PatternStatus.CANDIDATE and measured.log_worse >= np.log(settings.clearly):
        return PatternStatus.UNDER_REVIEW, "it fails too often, or more often than such tasks do without it"
    return status, f"not yet proven: {', '.join(unmet)}"


def _watch(measured: EvidenceMeasure, settings: PatternSettings) -> tuple[PatternStatus, str]:
    if measured.log_decay >= np.log(settings.alarm):
        return PatternStatus.UNDER_REVIEW, "its latest sessions are worse than what it was validated for"
    return PatternStatus.VALIDATED, "no evidence against it"


def _unmet_conditions(measured: EvidenceMeasure, settings: PatternSettings, discovered: bool) -> list[str]:
    """The conditions of a validated pattern that this one does not meet."""
    rate, p_value = measured.success_rate or 0.0, 1.0 if measured.p_value is None else measured.p_value
    conditions = (
        (rate >= settings.success_threshold, f"success below {settings.success_threshold:.0%}"),
        (p_value < settings.significance, f"p = {p_value:.2g} is not below {settings.significance:g}"),
        (
            measured.confidence >= settings.least_confidence,
            f"confidence {measured.confidence:.2f} is below {settings.least_confidence:g}",
        ),
        (discovered, f"an e-value of {e_value(measured.log_e):.3g} is too low given the number of tests"),
    )
    return [text for met, text in conditions if not met]


def _summary(measured: EvidenceMeasure) -> str:
    if measured.success_rate is None:
        return "no session in the window: "
    return (
        f"{measured.success_rate:.0%} success in {measured.sessions} session{'s' * (measured.sessions != 1)} "
        f"({measured.base_rate:.0%} without it, {measured.null_rate:.0%} at most): "
    )


@dataclass(frozen=True, slots=True)
class MeasuredPattern:
    """A pattern with the measures of its sessions, without the sessions."""

    status: PatternStatus
    tests: int
    measured: EvidenceMeasure


def measure_trial(trial: Trial, now: datetime, settings: PatternSettings) -> MeasuredPattern:
    return MeasuredPattern(trial.status, trial.tests, measure(trial, now, settings))


def judge_all(
    tested: Mapping[str, MeasuredPattern], settings: PatternSettings, *, retired: int = 0
) -> dict[str, PatternVerdict]:
    """Verdicts of all patterns by id; `retired` is the number of tests of patterns out of use, which count as well."""
    log_e_values = {key: each.measured.log_e for key, each in tested.items() if each.tests}
    family = retired + sum(each.tests for each in tested.values())
    found = discoveries(log_e_values, settings.false_discovery_rate, family)
    return {key: judge(each.measured, each.status, settings, discovered=key in found) for key, each in tested.items()}
