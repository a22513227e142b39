"""Where a pattern fails: the one test of the task's features that sets failures apart, made part of its conditions."""

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
from treering.core.values import Count, Share, Text, Value
from treering.patterns.statistics import FLOOR_RATE, fisher_p

REFINEMENT_LEVEL = 0.05  # chance of finding a split where there is none, over all splits that were tried
MIN_SIDE_SESSIONS = 3  # sessions on each side of a split: one or two are an anecdote
MAX_GROUPED_VALUES = 6  # values of a field that are tried in every grouping; six have 31
MAX_CUTS = 16  # places at which the values of a number are cut: each further one makes chance finds likelier

# Beyond this not every whole number is a float of its own.
_EXACT = 2.0**53
_Session = tuple[bool, str]
"""A session, or an application that belongs to none."""


class Refinement(Value):
    """A narrower applicability with the reason in words; without one, why there is none."""

    applicability: Applicability | None
    evidence: Count
    """The generation of evidence from now on: a new one where the applicability changed."""
    changes: tuple[Text, ...] = ()
    """What was added, a line each."""
    reason: Text
    p_value: Share | None = None
    """The chance of a split like this where features decide nothing, over all the splits that were tried."""
    gain: float | None = None
    """Bits that the test tells about the outcome."""


@dataclass(frozen=True, slots=True)
class _Side:
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
    """A test, and what came of the sessions in which it holds and in which it does not."""

    test: Test
    inside: _Side
    outside: _Side

    @property
    def kept(self) -> _Side:
        return max(self.inside, self.outside, key=lambda side: side.rate)

    @property
    def left_out(self) -> _Side:
        return self.outside if self.kept is self.inside else self.inside

    @property
    def chance(self) -> float:
        """Which side does better was seen in the data, so that either could have come up."""
        kept, left_out = self.kept, self.left_out
        return min(1.0, 2.0 * fisher_p(kept.successes, kept.n, left_out.successes, left_out.n))

    @property
    def gain(self) -> float:
        sides, n = (self.inside, self.outside), self.inside.n + self.outside.n
        whole = _entropy((self.inside.successes + self.outside.successes) / n)
        return whole - sum(side.n / n * _entropy(side.rate) for side in sides)


def refine(applicability: Applicability, applications: Iterable[Application], *, evidence: int) -> Refinement:
    """Narrow a pattern to where it works, by the single test that tells most about its failures.

    Applications of one session on one side of a test count once, and a split has to be rarer by chance than
    `refinement_level`, all the splits tried taken together: what noise offers is left.
    """
    # Of what was forgotten for good nothing is known, and that tells nothing about failing.
    once = tuple({each.id: each for each in applications if each.features}.values())
    succeeded = Counter(each.outcome is OutcomeStatus.SUCCESS for each in once)
    if len(succeeded) < 2:
        known = "" if once else " of which something is known"
        told = "no application failed" if succeeded[True] else f"no application{known} succeeded"
        return Refinement(applicability=None, evidence=evidence, reason=f"{told}: there is nothing to set apart")
    splits = list(_splits(once, (*applicability.conditions, *applicability.anti_conditions)))
    found = [split for split in splits if split.chance * len(splits) <= REFINEMENT_LEVEL]
    if not found:
        reason = f"none of {len(splits)} tests of the features sets failures apart more clearly than chance does"
        return Refinement(applicability=None, evidence=evidence, reason=reason)
    best = max(found, key=lambda split: split.gain)
    if best.kept.rate < FLOOR_RATE:
        reason = f"also where it does best it fails in {best.kept.failures} of {best.kept.n} sessions"
        return Refinement(applicability=None, evidence=evidence, reason=reason)
    return _narrowed(applicability, best, min(1.0, best.chance * len(splits)), evidence)


def _narrowed(applicability: Applicability, split: _Split, p_value: float, evidence: int) -> Refinement:
    words, kept, left_out = explain(split.test), split.kept, split.left_out
    if split.kept is split.inside:
        narrower = applicability.replace(conditions=(*applicability.conditions, split.test))
        change = f"only where {words}"
    else:
        narrower = applicability.replace(anti_conditions=(*applicability.anti_conditions, split.test))
        change = f"not where {words}"
    reason = (
        f"{change}: of the sessions that stay {kept.successes} of {kept.n} succeeded, of those left out "
        f"{left_out.successes} of {left_out.n} (p = {p_value:.2g} over all tests tried)"
    )
    return Refinement(
        applicability=narrower,
        evidence=evidence + 1,
        changes=(change,),
        reason=reason,
        p_value=p_value,
        gain=split.gain,
    )


def _splits(applications: Sequence[Application], known: Sequence[Condition]) -> Iterator[_Split]:
    """Every way of parting them, each once, by the simplest test that does it; with enough sessions on both sides.

    What a condition of the pattern parts already is not parted again.
    """
    seen = {_parting(_held(each, applications)) for each in known}
    for test in _tests(applications):
        held = _held(test, applications)
        if (parting := _parting(held)) in seen:
            continue
        seen.add(parting)
        split = _Split(test, _counted(applications, held, True), _counted(applications, held, False))
        if min(split.inside.n, split.outside.n) >= MIN_SIDE_SESSIONS:
            yield split


def _held(condition: Condition, applications: Sequence[Application]) -> tuple[bool, ...]:
    return tuple(holds(condition, each.features) for each in applications)


def _parting(held: tuple[bool, ...]) -> tuple[bool, ...]:
    """What holds where another does not parts them the same way."""
    return held if held[0] else tuple(not each for each in held)


def _counted(applications: Sequence[Application], held: Sequence[bool], side: bool) -> _Side:
    """The sessions on one side: each a success where more than half of its applications there were."""
    sessions: dict[_Session, list[bool]] = {}
    for each, here in zip(applications, held, strict=True):
        if here is side:
            sessions.setdefault(_session(each), []).append(each.outcome is OutcomeStatus.SUCCESS)
    return _Side(sum(2 * sum(outcomes) > len(outcomes) for outcomes in sessions.values()), len(sessions))


def _session(application: Application) -> _Session:
    return (True, application.session) if application.session is not None else (False, application.id)


def _tests(applications: Sequence[Application]) -> list[Test]:
    """What the features can be asked, the simplest first."""
    columns: dict[str, list[tuple[Any, _Session]]] = {}
    for each in applications:
        for name, value in _leaves(each.features):
            columns.setdefault(name, []).append((value, _session(each)))
    found = [test for name in sorted(columns) for test in _of_field(name, columns[name])]
    order = tuple(Operator)
    simplicity = {operator: order.index(operator) for operator in order} | {
        Operator.EXISTS: -1,
        Operator.IN: len(order),
    }
    return sorted(found, key=lambda test: simplicity[test.operator])


def _leaves(features: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Every field by its dotted name, with its value."""
    for name, value in features.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{above}{name}.")
        elif value is not None and _can_be_asked(field := f"{above}{name}"):
            yield field, value


def _can_be_asked(field: str) -> bool:
    """Features may have any name, a condition only one that can be read."""
    try:
        Test.make(field=field, operator=Operator.EXISTS)
    except InvalidInput:
        return False
    return True


def _of_field(name: str, told: Sequence[tuple[Any, _Session]]) -> Iterator[Test]:
    values = [value for value, _ in told]
    yield Test(field=name, operator=Operator.EXISTS)
    plain: list[Any] = sorted({value for value in values if isinstance(value, bool)})
    plain += sorted({value for value in values if isinstance(value, str)})
    for value in _common(((each, at) for each, at in told if isinstance(each, bool | str))):
        yield Test(field=name, operator=Operator.EQ, value=value)
    if len(plain) <= MAX_GROUPED_VALUES:
        for size in range(2, len(plain)):
            for group in combinations(plain, size):
                yield Test(field=name, operator=Operator.IN, value=group)
    for cut in _cuts(sorted({value for value in values if _is_number(value)}), MAX_CUTS):
        yield Test(field=name, operator=Operator.RANGE, value=(cut, None))
        yield Test(field=name, operator=Operator.RANGE, value=(None, cut))
    parts = ((part, at) for each, at in told if isinstance(each, tuple) for part in each if isinstance(part, str))
    for part in _common(parts):
        yield Test(field=name, operator=Operator.CONTAINS, value=part)


def _common(told: Iterable[tuple[bool | str, _Session]]) -> list[bool | str]:
    """The values that enough sessions have: the names of files and tickets are as many as there are tasks."""
    sessions: dict[tuple[str, bool | str], set[_Session]] = {}
    for value, session in told:
        sessions.setdefault((type(value).__name__, value), set()).add(session)
    return [value for (_, value), where in sorted(sessions.items()) if len(where) >= MIN_SIDE_SESSIONS]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < _EXACT


def _cuts(numbers: Sequence[float], most: int) -> list[float]:
    """Round numbers between neighbours; of many, as many as `most`, spread evenly."""
    gaps = list(pairwise(numbers))
    step = max(1, math.ceil(len(gaps) / most))
    return [cut for low, high in gaps[step // 2 :: step] if (cut := _between(low, high)) is not None]


def _between(low: float, high: float) -> float | None:
    """The number with the fewest digits that lies between, if there is one."""
    middle = low / 2 + high / 2
    rounded = (round(middle, digits) for digits in range(18))
    return next((cut for cut in rounded if low < cut < high), middle if low < middle < high else None)


def _entropy(share: float) -> float:
    return -sum(part * math.log2(part) for part in (share, 1.0 - share) if part > 0)
