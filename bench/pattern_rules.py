"""Worlds in which it is known what each pattern does, and the rules that judge them night by night."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from treering.core.patterns import PatternStatus
from treering.core.settings.patterns import PatternSettings
from treering.patterns.statistics import BaseRates, Tally, binomial_p, confidence
from treering.patterns.validation import PatternVerdict, SessionCount, Trial, judge_all, measure_trial

START = datetime(2026, 1, 1, tzinfo=UTC)
DAYS, TASK_TYPES = 180, 8
HALF = DAYS // 2
# How much of the spread between applications is spread between sessions: what goes wrong once goes wrong again.
WITHIN = 4.0
CONTROLS_A_DAY, FEW_CONTROLS = 1.5, 0.15
SETTINGS = PatternSettings()
VALIDATED, CANDIDATE = PatternStatus.VALIDATED, PatternStatus.CANDIDATE


@dataclass(frozen=True)
class Kind:
    """What a pattern does: by how much it lifts the success of a task, and until when."""

    name: str
    lift: float
    number: int
    stops: bool = False


KINDS = (
    Kind("do nothing", 0.0, 24),
    Kind("hurt by 0.15", -0.15, 6),
    *(Kind(f"help by {lift}", lift, 4) for lift in (0.1, 0.2, 0.3)),
    *(Kind(f"help by {lift} for half the time", lift, 2, stops=True) for lift in (0.1, 0.2, 0.3)),
)
PATTERNS = tuple(kind for kind in KINDS for _ in range(kind.number))


@dataclass(frozen=True)
class World:
    """Everything that happens, whatever anybody believes: the same for every rule."""

    bases: Mapping[str | None, float]
    controls: tuple[Mapping[str | None, Tally], ...]
    """Of all days until the one in question: sessions without a pattern, by task type."""
    sessions: tuple[tuple[SessionCount, ...], ...]
    """Of each pattern, the oldest first."""
    base: tuple[float, ...]
    """Of each pattern, over the task types in which it is used."""
    rate: tuple[float, ...]
    """Of each pattern, while it works."""

    def until(self, pattern: int, day: int) -> tuple[SessionCount, ...]:
        sessions = self.sessions[pattern]
        return sessions[: bisect_left(sessions, START + timedelta(days=day + 1), key=lambda each: each.at)]


def world(seed: int, controls_a_day: float = CONTROLS_A_DAY) -> World:
    pick = np.random.default_rng(seed)
    bases: dict[str | None, float] = {f"type {i}": pick.uniform(0.3, 0.85) for i in range(TASK_TYPES)}
    told = [_used(pick, kind, bases) for kind in PATTERNS]
    return World(
        bases=bases,
        controls=_controls(pick, bases, controls_a_day),
        sessions=tuple(each[0] for each in told),
        base=tuple(each[1] for each in told),
        rate=tuple(each[2] for each in told),
    )


def _controls(
    pick: np.random.Generator, bases: Mapping[str | None, float], a_day: float
) -> tuple[Mapping[str | None, Tally], ...]:
    known: dict[str | None, Tally] = dict.fromkeys(bases, Tally())
    days = []
    for _ in range(DAYS):
        for name, base in bases.items():
            shares = [_outcomes(pick, base, size) / size for size in pick.integers(1, 6, pick.poisson(a_day))]
            known[name] += Tally(sum(shares), len(shares))
        days.append(dict(known))
    return tuple(days)


def _used(
    pick: np.random.Generator, kind: Kind, bases: Mapping[str | None, float]
) -> tuple[tuple[SessionCount, ...], float, float]:
    """A pattern's sessions, its base rate and its rate: used for one to three types of task, seldom or often."""
    types = list(pick.choice([str(name) for name in bases], pick.integers(1, 4), replace=False))
    weights = pick.dirichlet(np.ones(len(types)))
    a_day = np.exp(pick.uniform(np.log(0.3), np.log(2.5)))
    sessions = []
    for day in range(DAYS):
        for second in sorted(pick.integers(0, 86_400, pick.poisson(a_day))):
            name = str(pick.choice(types, p=weights))
            lift = 0.0 if kind.stops and day >= HALF else kind.lift
            size = 1 if pick.random() < 0.5 else int(np.exp(pick.uniform(0, np.log(101))))
            successes = _outcomes(pick, min(0.98, max(0.02, bases[name] + lift)), size)
            at = START + timedelta(days=day, seconds=int(second))
            sessions.append(SessionCount(at, successes, 0, size, ((name, size),)))
    base = sum(weight * bases[str(name)] for name, weight in zip(types, weights, strict=True))
    rate = sum(
        weight * min(0.98, max(0.02, bases[str(name)] + kind.lift)) for name, weight in zip(types, weights, strict=True)
    )
    return tuple(sessions), float(base), float(rate)


def _outcomes(pick: np.random.Generator, rate: float, size: int) -> int:
    return int(pick.binomial(size, pick.beta(WITHIN * rate, WITHIN * (1.0 - rate))))


@dataclass
class Standing:
    """What a rule believes of one pattern, and since when."""

    status: PatternStatus = CANDIDATE
    since: datetime | None = None
    tests: int = 1

    def counting(self, sessions: tuple[SessionCount, ...]) -> tuple[SessionCount, ...]:
        if self.status is not PatternStatus.UNDER_REVIEW or self.since is None:
            return sessions
        return sessions[bisect_right(sessions, self.since, key=lambda each: each.at) :]


Rule = Callable[[World, int, list[Standing], list[tuple[SessionCount, ...]]], None]


def ours(settings: PatternSettings, bases: Callable[[World, int], BaseRates] | None = None) -> Rule:
    """The rule of the library, under these settings."""

    def night(world: World, day: int, standing: list[Standing], sessions: list[tuple[SessionCount, ...]]) -> None:
        now = START + timedelta(days=day + 1)
        rates = bases(world, day) if bases else BaseRates(world.controls[day], settings)
        judge_night(standing, sessions, [rates] * len(standing), now, settings)

    return night


def judge_night(
    standing: Sequence[Standing],
    sessions: Sequence[tuple[SessionCount, ...]],
    rates: Sequence[BaseRates],
    now: datetime,
    settings: PatternSettings,
) -> dict[str, PatternVerdict]:
    """As the library does it: of what is under review only what came since counts, and a review is one more test."""
    trials = {
        str(i): Trial(each.status, each.counting(sessions[i]), rates[i], each.since, each.tests if sessions[i] else 0)
        for i, each in enumerate(standing)
    }
    verdicts = judge_all({key: measure_trial(trial, now, settings) for key, trial in trials.items()}, settings)
    for key, judged in verdicts.items():
        each = standing[int(key)]
        if judged.status is not each.status:
            each.tests += judged.status is PatternStatus.UNDER_REVIEW
            each.status, each.since = judged.status, now
    return verdicts


def known_bases(world: World, day: int) -> BaseRates:
    """As if every base rate were known: what its estimation costs."""
    return BaseRates({name: Tally(base * 10**7, 10**7) for name, base in world.bases.items()}, SETTINGS)


def naive(world: World, day: int, standing: list[Standing], sessions: list[tuple[SessionCount, ...]]) -> None:
    """PT4 by the letter: every application counts, and 0.5 is what has to be beaten."""
    begun = START + timedelta(days=day + 1 - SETTINGS.window_days)
    for i, each in enumerate(standing):
        window = [one for one in sessions[i] if one.at > begun]
        _believe(each, sum(one.successes for one in window), sum(one.n for one in window), SETTINGS.floor_rate)


def by_session(world: World, day: int, standing: list[Standing], sessions: list[tuple[SessionCount, ...]]) -> None:
    """PT4 by session against the estimated base rate, looked at every night: without e-values."""
    begun = START + timedelta(days=day + 1 - SETTINGS.window_days)
    rates = BaseRates(world.controls[day], SETTINGS)
    for i, each in enumerate(standing):
        window = [one for one in sessions[i] if one.at > begun]
        base = np.mean([rates.of(one.task_types[0][0]).rate for one in window]) if window else 0.0
        null = max(SETTINGS.floor_rate, float(base))
        _believe(each, sum(one.succeeded for one in window), len(window), null)


def _believe(standing: Standing, successes: int, n: int, null: float) -> None:
    if n < SETTINGS.least_evidence:
        return
    rate, p_value = successes / n, binomial_p(successes, n, null)
    met = (
        rate >= SETTINGS.success_threshold
        and p_value < SETTINGS.significance
        and confidence(rate, n, p_value) >= SETTINGS.least_confidence
    )
    standing.status = VALIDATED if met else PatternStatus.UNDER_REVIEW


TREERING = "Treering"
RULES: Mapping[str, Rule] = {
    TREERING: ours(SETTINGS),
    "PT4 alone: 0.5, each application counts": naive,
    "PT4 by session, base rate, p-value every night": by_session,
}
CERTAINTIES = (0.5, 0.8, 0.9, 0.95)


@dataclass(frozen=True)
class Run:
    """One rule in one world: what it believed each night, of each pattern."""

    believed: NDArray[np.bool_]
    sessions: NDArray[np.int64]
    """How many sessions each pattern had by each night."""
    applications: NDArray[np.int64]
    base: NDArray[np.float64]
    rate: NDArray[np.float64]

    @property
    def once(self) -> NDArray[np.bool_]:
        """Those that were believed on some night."""
        found: NDArray[np.bool_] = np.logical_or.reduce(self.believed, axis=0)
        return found


def run(made: World, rule: Rule) -> Run:
    standing = [Standing() for _ in PATTERNS]
    believed = np.zeros((DAYS, len(PATTERNS)), bool)
    sessions, applications = np.zeros((2, DAYS, len(PATTERNS)), int)
    for day in range(DAYS):
        seen = [made.until(i, day) for i in range(len(PATTERNS))]
        rule(made, day, standing, seen)
        believed[day] = [each.status is VALIDATED for each in standing]
        sessions[day] = [len(each) for each in seen]
        applications[day] = [sum(one.n for one in each) for each in seen]
    return Run(believed, sessions, applications, np.array(made.base), np.array(made.rate))


def all_rules(seed: int) -> list[Run]:
    made = world(seed)
    return [run(made, rule) for rule in RULES.values()]


def all_certainties(seed: int) -> list[Run]:
    """With as many sessions to estimate base rates from as elsewhere, with a tenth of them, and with rates known."""
    worlds = (world(seed), world(seed, FEW_CONTROLS))
    rules = [ours(SETTINGS.replace(base_certainty=certainty)) for certainty in CERTAINTIES]
    return [*(run(made, rule) for made in worlds for rule in rules), run(worlds[0], ours(SETTINGS, known_bases))]
