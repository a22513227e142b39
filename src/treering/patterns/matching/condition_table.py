"""Conditions of patterns split into tests that many patterns share, and their results for one task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from treering.core.applicability import complexity_at, is_within
from treering.core.conditions import (
    AllOf,
    Condition,
    Not,
    Test,
    holds,
    is_number,
    members_of,
    parts_of,
    value_at,
    written,
)

if TYPE_CHECKING:
    from treering.core.patterns import Applicability

ValueKey = tuple[str, Any]


@dataclass(frozen=True, slots=True)
class Demand:
    """The number of a condition, and the result that a pattern requires."""

    number: int
    wanted: bool


@dataclass(frozen=True, slots=True)
class Requirements:
    """Requirements of one pattern besides its labels: a range of complexity and all its demands."""

    complexity: tuple[float, float]
    demands: tuple[Demand, ...]


class ConditionTable:
    """The distinct conditions of all patterns, numbered, so that each is evaluated once per task."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._conditions: list[Condition] = []

    def __getitem__(self, number: int) -> Condition:
        return self._conditions[number]

    def requirements_of(self, applicability: Applicability) -> Requirements:
        """The conditions of a pattern as demands that must all be met."""
        wanted = [(part, True) for part in applicability.conditions]
        unwanted = [(part, False) for part in applicability.anti_conditions]
        demands = dict.fromkeys(Demand(self._number(part), yes) for part, yes in _split(wanted + unwanted))
        return Requirements((applicability.complexity_min, applicability.complexity_max), tuple(demands))

    def _number(self, condition: Condition) -> int:
        number = self._numbers.setdefault(written(condition), len(self._conditions))
        if number == len(self._conditions):
            self._conditions.append(condition)
        return number


def _split(conditions: Iterable[tuple[Condition, bool]]) -> Iterable[tuple[Condition, bool]]:
    """The parts that must each hold or fail: those of an `all`, and by De Morgan those of a negated `any`.

    An `any` that must hold cannot be split.
    """
    for condition, wanted in conditions:
        parts = parts_of(condition)
        if isinstance(condition, Not):
            yield from _split([(condition.condition, not wanted)])
        elif parts and (isinstance(condition, AllOf) is wanted or len(parts) == 1):
            yield from _split((part, wanted) for part in parts)
        else:
            yield condition, wanted


class TaskAnswers:
    """Results of the conditions for one task, each computed on first use."""

    def __init__(self, conditions: ConditionTable, features: Mapping[str, Any]) -> None:
        self._conditions = conditions
        self._features = features
        self._holds: dict[int, bool] = {}
        self._keys: dict[str, tuple[ValueKey, ...]] = {}
        self._numbers: dict[str, tuple[float, ...]] = {}
        self.complexity = complexity_at(features)

    def holds(self, number: int) -> bool:
        known = self._holds.get(number)
        if known is None:
            known = self._holds[number] = holds(self._conditions[number], self._features)
        return known

    def meets(self, required: Requirements) -> bool:
        return is_within(*required.complexity, self.complexity) and all(
            self.holds(demand.number) is demand.wanted for demand in required.demands
        )

    def keys(self, field: str) -> tuple[ValueKey, ...]:
        """The values of a field as table keys."""
        known = self._keys.get(field)
        if known is None:
            found = map(value_key, members_of(value_at(self._features, field)))
            known = self._keys[field] = tuple(dict.fromkeys(key for key in found if key is not None))
        return known

    def numbers(self, field: str) -> tuple[float, ...]:
        """The numbers among the values of a field."""
        known = self._numbers.get(field)
        if known is None:
            found = members_of(value_at(self._features, field))
            known = self._numbers[field] = tuple(each for each in found if is_number(each))
        return known


def value_key(value: Any) -> ValueKey | None:
    """Equal for values that `eq` treats as equal; None for lists and objects."""
    if isinstance(value, bool):
        return ("truth", value)
    if is_number(value):
        return ("number", value)
    if isinstance(value, str):
        return ("text", value)
    return ("null", None) if value is None else None


def listed_values(test: Test) -> tuple[Any, ...]:
    """The values of an `in` test."""
    return tuple(test.value) if isinstance(test.value, list | tuple) else (test.value,)
