"""Refinement: adds the condition on task features that best separates the failures of a pattern."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

from treering.core.conditions import Condition, Operator, Test, explain, holds
from treering.core.episodes import OutcomeStatus
from treering.core.errors import InvalidInput
from treering.core.patterns import Applicability, Application
from treering.core.settings.patterns import PatternSettings
from treering.core.values import Count, Share, Text, Value
from treering.patterns.statistics import fisher_p

# Beyond this, floats cannot represent every integer.
_EXACT = 2.0**53
_Session = tuple[bool, str]
"""A session id, or the id of an application without a session."""


class Refinement(Value):
    """A narrower applicability, or None, with the reason in words."""

    applicability: Applicability | None
    evidence: Count
    """The generation of evidence from now on; a new one if the applicability changed."""
    changes: tuple[Text, ...] = ()
    """The added conditions in words."""
    reason: Text
    p_value: Share | None = None
    """Probability of such a split if features had no effect, corrected for all splits tried."""
    gain: float | None = None
    """Information gain of the condition about the outcome, in bits."""


@dataclass(frozen=True, slots=True)
class _SplitSide:
    """Sessions on one side of a split."""

    successes: int
    n: int

    @property
    def failures(self) -> int:
        return self.n - self.successes

    @property
    def rate(self) -> float:
        return self.successes / self.n


@dataclass(frozen=True, slots=True)
class _Split:
    """A condition, with the sessions in which it holds and those in which it does not."""

    test: Test
    inside: _SplitSide
    outside: _SplitSide

    @property
    def better(self) -> _SplitSide:
        return max(self.inside, self.outside, key=lambda side: side.rate)

    @property
    def worse(self) -> _SplitSide:
        return self.outside if self.better is self.inside else self.inside

    @property
    def p_value(self) -> float:
        """Two-sided, since the better side was chosen by looking at the data."""
        better, worse = self.better, self.worse
        return min(1.0, 2.0 * fisher_p(better.successes, better.n, worse.successes, worse.n))

    @property
    def gain(self) -> float:
        sides, n = (self.inside, self.outside), self.inside.n + self.outside.n
        total_entropy = _entropy((self.inside.successes + self.outside.successes) / n)
        return total_entropy - sum(side.n / n * _entropy(side.rate) for side in sides)


def refine(
    applicability: Applicability, applications: Iterable[Application], settings: PatternSettings, *, evidence: int
) -> Refinement:
    """Narrow a pattern to where it works, by the single condition with the highest information gain.

    Applications of one session on one side of a split count once. A split is used only if its p-value, corrected for
    all splits tried, is at most `refinement_level`.
    """
    # Applications of purged episodes have no features.
    unique = tuple({each.id: each for each in applications if each.features}.values())
    succeeded = Counter(each.outcome is OutcomeStatus.SUCCESS for each in unique)
    if len(succeeded) < 2:
        known = "" if unique else " with known features"
        outcome = "no application failed" if succeeded[True] else f"no application{known} succeeded"
        return Refinement(applicability=None, evidence=evidence, reason=f"{outcome}: there is nothing to separate")
    splits = list(_splits(unique, (*applicability.conditions, *applicability.anti_conditions), settings))
    found = [split for split in splits if split.p_value * len(splits) <= settings.refinement_level]
    if not found:
        reason = f"none of {len(splits)} conditions separates the failures better than chance"
        return Refinement(applicability=None, evidence=evidence, reason=reason)
    best = max(found, key=lambda split: split.gain)
    if best.better.rate < settings.floor_rate:
        reason = f"even at its best it fails in {best.better.failures} of {best.better.n} sessions"
        return Refinement(applicability=None, evidence=evidence, reason=reason)
    return _narrowed(applicability, best, min(1.0, best.p_value * len(splits)), evidence)


def _narrowed(applicability: Applicability, split: _Split, p_value: float, evidence: int) -> Refinement:
    words, better, worse = explain(split.test), split.better, split.worse
    if split.better is split.inside:
        narrower = applicability.replace(conditions=(*applicability.conditions, split.test))
        change = f"only where {words}"
    else:
        narrower = applicability.replace(anti_conditions=(*applicability.anti_conditions, split.test))
        change = f"not where {words}"
    reason = (
        f"{change}: of the remaining sessions {better.successes} of {better.n} succeeded, of the excluded ones "
        f"{worse.successes} of {worse.n} (p = {p_value:.2g} corrected for all conditions tried)"
    )
    return Refinement(
        applicability=narrower,
        evidence=evidence + 1,
        changes=(change,),
        reason=reason,
        p_value=p_value,
        gain=split.gain,
    )


def _splits(
    applications: Sequence[Application], known: Sequence[Condition], settings: PatternSettings
) -> Iterator[_Split]:
    """Every split with enough sessions on both sides, each by the simplest condition that makes it.

    Splits that a condition of the pattern already makes are left out.
    """
    seen = {_canonical(_holds_in(each, applications)) for each in known}
    for test in _tests(applications, settings):
        held = _holds_in(test, applications)
        if (key := _canonical(held)) in seen:
            continue
        seen.add(key)
        split = _Split(test, _count_side(applications, held, True), _count_side(applications, held, False))
        if min(split.inside.n, split.outside.n) >= settings.refinement_side:
            yield split


def _holds_in(condition: Condition, applications: Sequence[Application]) -> tuple[bool, ...]:
    return tuple(holds(condition, each.features) for each in applications)


def _canonical(held: tuple[bool, ...]) -> tuple[bool, ...]:
    """The same for a condition and its negation, which make the same split."""
    return held if held[0] else tuple(not each for each in held)


def _count_side(applications: Sequence[Application], held: Sequence[bool], side: bool) -> _SplitSide:
    """Sessions on one side; one succeeded if more than half of its applications on that side did."""
    sessions: dict[_Session, list[bool]] = {}
    for each, here in zip(applications, held, strict=True):
        if here is side:
            sessions.setdefault(_session(each), []).append(each.outcome is OutcomeStatus.SUCCESS)
    return _SplitSide(sum(2 * sum(outcomes) > len(outcomes) for outcomes in sessions.values()), len(sessions))


def _session(application: Application) -> _Session:
    return (True, application.session) if application.session is not None else (False, application.id)


def _tests(applications: Sequence[Application], settings: PatternSettings) -> list[Test]:
    """Candidate conditions on the features, simplest first."""
    columns: dict[str, list[tuple[Any, _Session]]] = {}
    for each in applications:
        for name, value in _leaves(each.features):
            columns.setdefault(name, []).append((value, _session(each)))
    found = [test for name in sorted(columns) for test in _tests_of_field(name, columns[name], settings)]
    order = tuple(Operator)
    simplicity = {operator: order.index(operator) for operator in order} | {
        Operator.EXISTS: -1,
        Operator.IN: len(order),
    }
    return sorted(found, key=lambda test: simplicity[test.operator])


def _leaves(features: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Every feature by its dotted name."""
    for name, value in features.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{above}{name}.")
        elif value is not None and _is_valid_field(field := f"{above}{name}"):
            yield field, value


def _is_valid_field(field: str) -> bool:
    """Whether a condition accepts this field name; features may have any name."""
    try:
        Test.make(field=field, operator=Operator.EXISTS)
    except InvalidInput:
        return False
    return True


def _tests_of_field(name: str, observed: Sequence[tuple[Any, _Session]], settings: PatternSettings) -> Iterator[Test]:
    values = [value for value, _ in observed]
    yield Test(field=name, operator=Operator.EXISTS)
    plain: list[Any] = sorted({value for value in values if isinstance(value, bool)})
    plain += sorted({value for value in values if isinstance(value, str)})
    for value in _common(((each, at) for each, at in observed if isinstance(each, bool | str)), settings):
        yield Test(field=name, operator=Operator.EQ, value=value)
    if len(plain) <= settings.refinement_values:
        for size in range(2, len(plain)):
            for group in combinations(plain, size):
                yield Test(field=name, operator=Operator.IN, value=group)
    for cut in _cuts(sorted({value for value in values if _is_number(value)}), settings.refinement_cuts):
        yield Test(field=name, operator=Operator.RANGE, value=(cut, None))
        yield Test(field=name, operator=Operator.RANGE, value=(None, cut))
    parts = ((part, at) for each, at in observed if isinstance(each, tuple) for part in each if isinstance(part, str))
    for part in _common(parts, settings):
        yield Test(field=name, operator=Operator.CONTAINS, value=part)


def _common(observed: Iterable[tuple[bool | str, _Session]], settings: PatternSettings) -> list[bool | str]:
    """Values that occur in enough sessions; names of files and tickets are mostly unique."""
    sessions: dict[tuple[str, bool | str], set[_Session]] = {}
    for value, session in observed:
        sessions.setdefault((type(value).__name__, value), set()).add(session)
    return [value for (_, value), where in sorted(sessions.items()) if len(where) >= settings.refinement_side]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < _EXACT


def _cuts(numbers: Sequence[float], limit: int) -> list[float]:
    """Round numbers between neighbouring values, at most `limit`, spread evenly."""
    gaps = list(pairwise(numbers))
    step = max(1, math.ceil(len(gaps) / limit))
    return [cut for low, high in gaps[step // 2 :: step] if (cut := _between(low, high)) is not None]


def _between(low: float, high: float) -> float | None:
    """The number between the two with the fewest digits; None if there is none."""
    middle = low / 2 + high / 2
    rounded = (round(middle, digits) for digits in range(18))
    return next((cut for cut in rounded if low < cut < high), middle if low < middle < high else None)


def _entropy(share: float) -> float:
    return -sum(part * math.log2(part) for part in (share, 1.0 - share) if part > 0)
