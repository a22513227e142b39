"""What a pattern asks of a task, taken apart into tests that many patterns share, and one task's answers to them."""

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
    """A condition, by the number it has among all, and the answer that a pattern needs."""

    number: int
    wanted: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """What one pattern asks besides its labels: a range of complexity, and every one of its demands."""

    complexity: tuple[float, float]
    demands: tuple[Demand, ...]


class Questions:
    """The distinct conditions of all patterns, numbered: each is asked once a task, however many patterns need it."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._conditions: list[Condition] = []

    def __getitem__(self, number: int) -> Condition:
        return self._conditions[number]

    def asked_by(self, applicability: Applicability) -> Asked:
        """The conditions of a pattern as demands that all have to be met."""
        wanted = [(part, True) for part in applicability.conditions]
        unwanted = [(part, False) for part in applicability.anti_conditions]
        demands = dict.fromkeys(Demand(self._number(part), yes) for part, yes in _taken_apart(wanted + unwanted))
        return Asked((applicability.complexity_min, applicability.complexity_max), tuple(demands))

    def _number(self, condition: Condition) -> int:
        number = self._numbers.setdefault(written(condition), len(self._conditions))
        if number == len(self._conditions):
            self._conditions.append(condition)
        return number


def _taken_apart(conditions: Iterable[tuple[Condition, bool]]) -> Iterable[tuple[Condition, bool]]:
    """Every part that by itself has to hold (or not to hold): all of `all`, and by De Morgan none of an unwanted `any`.

    What stays together is a choice, which only the whole answers.
    """
    for condition, wanted in conditions:
        parts = parts_of(condition)
        if isinstance(condition, Not):
            yield from _taken_apart([(condition.condition, not wanted)])
        elif parts and (isinstance(condition, AllOf) is wanted or len(parts) == 1):
            yield from _taken_apart((part, wanted) for part in parts)
        else:
            yield condition, wanted


class Answers:
    """One task's answers, each worked out when it is first asked for."""

    def __init__(self, questions: Questions, features: Mapping[str, Any]) -> None:
        self._questions = questions
        self._features = features
        self._holds: dict[int, bool] = {}
        self._keys: dict[str, tuple[ValueKey, ...]] = {}
        self._numbers: dict[str, tuple[float, ...]] = {}
        self.complexity = complexity_at(features)

    def holds(self, number: int) -> bool:
        known = self._holds.get(number)
        if known is None:
            known = self._holds[number] = holds(self._questions[number], self._features)
        return known

    def meets(self, asked: Asked) -> bool:
        return is_within(*asked.complexity, self.complexity) and all(
            self.holds(demand.number) is demand.wanted for demand in asked.demands
        )

    def keys(self, field: str) -> tuple[ValueKey, ...]:
        """What stands in a field, as keys of a table."""
        known = self._keys.get(field)
        if known is None:
            found = map(value_key, members_of(value_at(self._features, field)))
            known = self._keys[field] = tuple(dict.fromkeys(key for key in found if key is not None))
        return known

    def numbers(self, field: str) -> tuple[float, ...]:
        """The numbers that stand in a field."""
        known = self._numbers.get(field)
        if known is None:
            found = members_of(value_at(self._features, field))
            known = self._numbers[field] = tuple(each for each in found if is_number(each))
        return known


def value_key(value: Any) -> ValueKey | None:
    """The same for values that `eq` calls the same; none for lists and objects, which no table holds."""
    if isinstance(value, bool):
        return ("truth", value)
    if is_number(value):
        return ("number", value)
    if isinstance(value, str):
        return ("text", value)
    return ("null", None) if value is None else None


def listed_values(test: Test) -> tuple[Any, ...]:
    """The values of an `in`, as the conditions read them."""
    return tuple(test.value) if isinstance(test.value, list | tuple) else (test.value,)
