"""How likely a session uses an item, corrected by what earlier sessions did with such items. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import exp, log
from typing import Any

from treering.core.injection_rules import UNTRACEABLE_TYPES
from treering.core.injections import InjectedItem, InjectionPoint, ItemOutcome

IGNORED_IN_A_ROW = 5  # times after which an item is halved in its chance at a point
_RATE = 0.08  # of learning: about twelve items that were all ignored halve the odds twice
_MAX_SHIFT = 1.5  # so that strong candidates are still tried, and a rate can recover
_MIN_CHANCE = 0.001


@dataclass(frozen=True, slots=True)
class InjectionRate:
    """Outcomes of the items of one type at one point, and the correction of estimates that was learned from them."""

    used: int = 0
    ignored: int = 0
    contradicted: int = 0
    shift: float = 0.0

    def after(self, item: InjectedItem, outcome: ItemOutcome) -> InjectionRate:
        """The rate after one more outcome: the step of a logistic regression whose only parameter is `shift`."""
        error = (outcome is ItemOutcome.USED) - item.score
        weight = 2 if outcome is ItemOutcome.CONTRADICTED else 1
        shift = min(_MAX_SHIFT, max(-_MAX_SHIFT, self.shift + weight * _RATE * error))
        counted = {outcome.value: getattr(self, outcome.value) + 1}
        return replace(self, shift=shift, **counted)


@dataclass(frozen=True, slots=True)
class InjectionRates:
    """Rates by point and type."""

    rates: Mapping[tuple[str, str], InjectionRate]

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> InjectionRates:
        """The rates in a project setting; an unreadable one is left out."""
        found: dict[tuple[str, str], InjectionRate] = {}
        for name, stored in values.items():
            point, _, type = name.partition(" ")
            try:
                used, ignored, contradicted, shift = stored
                found[point, type] = InjectionRate(int(used), int(ignored), int(contradicted), float(shift))
            except (TypeError, ValueError):
                continue  # stored by another release
        return cls(found)

    def to_values(self) -> dict[str, list[float]]:
        return {
            f"{point} {type}": [each.used, each.ignored, each.contradicted, round(each.shift, 6)]
            for (point, type), each in sorted(self.rates.items())
        }

    def of(self, point: InjectionPoint, type: str) -> InjectionRate:
        return self.rates.get((point.value, type), InjectionRate())

    def after(self, outcomes: Iterable[tuple[InjectedItem, ItemOutcome]]) -> InjectionRates:
        """The rates after these outcomes."""
        rates = dict(self.rates)
        for item, outcome in outcomes:
            kind = item.type or item.kind.value
            if kind not in UNTRACEABLE_TYPES or outcome is not ItemOutcome.IGNORED:
                known = rates.get((item.point.value, kind), InjectionRate())
                rates[item.point.value, kind] = known.after(item, outcome)
        return InjectionRates(rates)

    def chance(self, estimate: float, point: InjectionPoint, type: str, *, ignored_in_a_row: int = 0) -> float:
        """The estimate, corrected for its point and type, and halved for every five times that it was ignored."""
        odds = _odds(estimate) * exp(self.of(point, type).shift)
        return odds / (1 + odds) * 0.5 ** (ignored_in_a_row // IGNORED_IN_A_ROW)


def ignored_in_a_row(outcomes: Iterable[ItemOutcome | None]) -> int:
    """How often an item was ignored since it was last used; the newest outcome comes first."""
    count = 0
    for outcome in outcomes:
        if outcome is ItemOutcome.USED:
            break
        count += outcome is not None
    return count


def _odds(chance: float) -> float:
    bounded = min(1 - _MIN_CHANCE, max(_MIN_CHANCE, chance))
    return exp(log(bounded) - log(1 - bounded))
