"""Calibration: how far the steps of a module exceed its plans, and the step limits that follow from it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treering.core.errors import InvalidInput
from treering.core.payloads import TaskCalibration
from treering.core.queries import KnowledgeFilter

if TYPE_CHECKING:
    from treering.core.records import Knowledge
    from treering.ports.store import Transaction

MAX_FACTOR = 2.0
MAX_STEPS = 1_000
_MAX_RECORDS = 20
_TRUSTED = KnowledgeFilter(types=("task_calibration",), deprecated=False, flagged=False, tainted=False)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Actual steps divided by planned ones, over `samples` sessions. 1 without any."""

    factor: float = 1.0
    samples: int = 0

    def step_limit(self, steps: int) -> int:
        """A step limit raised by the factor, at most doubled, and never lowered: short work does not need less room."""
        if type(steps) is not int or steps < 1:
            raise InvalidInput(f"the step limit is {steps!r}; pass a number of at least 1")
        factor = min(MAX_FACTOR, max(1.0, self.factor))
        return max(steps, min(math.ceil(steps * factor), MAX_STEPS))


def calibration_of(tx: Transaction, modules: Iterable[str]) -> Calibration:
    """The calibration of these modules together; of the whole project without any."""
    where = _TRUSTED.replace(modules=tuple(modules))
    return combined(match.value for match in tx.knowledge.newest(where, limit=_MAX_RECORDS))


def combined(records: Iterable[Knowledge]) -> Calibration:
    """The mean ratio, weighted by the number of sessions behind each record."""
    payloads = [each.payload for each in records if isinstance(each.payload, TaskCalibration)]
    known = [(each.ratio, each.samples or 1) for each in payloads if each.ratio]
    samples = sum(count for _, count in known)
    if not samples:
        return Calibration()
    return Calibration(round(sum(ratio * count for ratio, count in known) / samples, 3), samples)
