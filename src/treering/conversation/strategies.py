"""Pruning strategies: the order in which units are removed from a full window."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log1p

from treering.conversation.transcript import Segment, Transcript, Unit
from treering.core.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class RemovalCandidate:
    """A unit that may be removed, with the reason. Units of the same `whole` are removed together or not at all."""

    unit: Unit
    why: str
    whole: Segment | None = None


@dataclass(frozen=True, slots=True)
class StrategyInput:
    """Input of a strategy: the units in the window, the removable ones among them, and the score of each message.

    `completed` holds the places of messages whose task is over. The value of a unit falls to a third after `fading`
    messages. `marker` is the number of tokens of one marker.
    """

    transcript: Transcript
    remaining: Sequence[Unit]
    removable: Sequence[Unit]
    scores: Sequence[float]
    completed: frozenset[int]
    fading: float
    marker: int


Strategy = Callable[[StrategyInput], Iterable[RemovalCandidate]]
"""The removable units, in the order of removal."""


def rolling_window(given: StrategyInput) -> Iterator[RemovalCandidate]:
    """Oldest first."""
    return (RemovalCandidate(unit, "among the oldest") for unit in _by_age(given.removable))


def by_importance(given: StrategyInput) -> Iterator[RemovalCandidate]:
    """Least important first, then oldest."""
    scored = sorted((_score(given, unit), unit.first, unit) for unit in _by_age(given.removable))
    return (RemovalCandidate(unit, "among the least important") for _, _, unit in scored)


def hybrid(given: StrategyInput) -> Iterator[RemovalCandidate]:
    """Lowest value per token first; units of the current task after all others, corrections last.

    The value of a unit is its importance plus its share of the names that few other units contain; both fade with age.
    A completed task is removed as a whole, with the joint value of its units.
    """
    corrected, values = _corrections(given), _UnitValues(given)
    segment_of = given.transcript.segment_of
    completed_groups, earlier, current = (
        dict[Segment, list[RemovalCandidate]](),
        list[list[RemovalCandidate]](),
        list[list[RemovalCandidate]](),
    )
    for each in completed_tasks(given):
        completed_groups.setdefault(segment_of[each.unit.first], []).append(each)
    for unit in given.removable:
        if unit not in corrected and unit.first not in given.completed:
            alone = [RemovalCandidate(unit, "low value for its size")]
            (current if segment_of[unit.first] is segment_of[-1] else earlier).append(alone)
    for group in (*values.least_first([*completed_groups.values(), *earlier]), *values.least_first(current)):
        yield from group
    for unit in _by_age(given.removable):
        if unit in corrected:
            yield RemovalCandidate(unit, "a correction, after everything else")


def completed_tasks(given: StrategyInput) -> Iterator[RemovalCandidate]:
    """Units of completed tasks, except corrections."""
    segment_of, corrected = given.transcript.segment_of, _corrections(given)
    for unit in _by_age(given.removable):
        if unit.first in given.completed and unit not in corrected:
            yield RemovalCandidate(unit, "its task is complete", segment_of[unit.first])


STRATEGIES: Mapping[str, Strategy] = {
    "rolling_window": rolling_window,
    "importance": by_importance,
    "hybrid": hybrid,
}


def strategy_named(name: str) -> Strategy:
    """The strategy with this name. Raises `InvalidInput` for an unknown name."""
    try:
        return STRATEGIES[name]
    except KeyError:
        raise InvalidInput(f"{name!r} is not a strategy; use one of {', '.join(STRATEGIES)}") from None


def _by_age(units: Iterable[Unit]) -> list[Unit]:
    return sorted(units, key=lambda unit: unit.first)


def _score(given: StrategyInput, unit: Unit) -> float:
    """The score of the most important message in a unit."""
    return max([given.scores[entry.place] for entry in unit.entries])


def _corrections(given: StrategyInput) -> set[Unit]:
    """Units that contain a correction or a corrected message."""
    corrections = {entry.place for entry in given.transcript if entry.cues.correction}
    corrected = corrections | {place - 1 for place in corrections}
    return {unit for unit in given.removable if any(entry.place in corrected for entry in unit.entries)}


class _UnitValues:
    """Value per token of each unit."""

    def __init__(self, given: StrategyInput) -> None:
        self._window, self._end = given, len(given.transcript)
        holders, mentions = Counter[str](), given.transcript.mentions
        for unit in given.remaining:
            holders.update(unit.names)
        self._share = {name: log1p(mentions[name]) / count for name, count in holders.items()}

    def least_first(self, groups: Iterable[list[RemovalCandidate]]) -> list[list[RemovalCandidate]]:
        return sorted(groups, key=lambda group: (self._of(group), group[0].unit.first))

    def _of(self, group: Sequence[RemovalCandidate]) -> float:
        worth, room, share = 0.0, 0, self._share
        for each in group:
            unit = each.unit
            held = sum([share[name] for name in unit.names])
            worth += (_score(self._window, unit) + held) * exp((unit.last - self._end) / self._window.fading)
            room += unit.tokens + self._window.marker
        return worth / room
