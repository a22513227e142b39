"""Who leaves first when the window is full: three orders, behind one small interface."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log1p

from treering.conversation.transcript import Segment, Transcript, Unit
from treering.core.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class RemovalCandidate:
    """A unit that may leave, and why it is its turn. Units of the same `whole` leave together or not at all."""

    unit: Unit
    why: str
    whole: Segment | None = None


@dataclass(frozen=True, slots=True)
class StrategyInput:
    """What a strategy sees: the units in the window, those of them that may leave, and the score of each message.

    `completed` are the places of messages whose task is over; after `fading` messages a unit gives a third. A unit that
    stands alone between others that left takes a marker more.
    """

    transcript: Transcript
    remaining: Sequence[Unit]
    removable: Sequence[Unit]
    scores: Sequence[float]
    completed: frozenset[int]
    fading: float
    marker: int


Strategy = Callable[[StrategyInput], Iterable[RemovalCandidate]]
"""The units that may leave, the first to leave first."""


def rolling_window(given: StrategyInput) -> Iterator[RemovalCandidate]:
    """The oldest first, whatever they say."""
    return (RemovalCandidate(unit, "among the oldest") for unit in _by_age(given.removable))


def by_importance(given: StrategyInput) -> Iterator[RemovalCandidate]:
    """The least important first; of equals, the oldest."""
    scored = sorted((_score(given, unit), unit.first, unit) for unit in _by_age(given.removable))
    return (RemovalCandidate(unit, "among the least important") for _, _, unit in scored)


def hybrid(given: StrategyInput) -> Iterator[RemovalCandidate]:
    """What gives the least for its room, the current task last but for corrections.

    A unit gives what it is important for, and the names that few others in the window hold; both fade with age. A
    completed task leaves whole, and gives what its units give together.
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
            alone = [RemovalCandidate(unit, "little in it is still needed")]
            (current if segment_of[unit.first] is segment_of[-1] else earlier).append(alone)
    for group in (*values.least_first([*completed_groups.values(), *earlier]), *values.least_first(current)):
        yield from group
    for unit in _by_age(given.removable):
        if unit in corrected:
            yield RemovalCandidate(unit, "a correction, when nothing else was left")


def completed_tasks(given: StrategyInput) -> Iterator[RemovalCandidate]:
    """Only what belongs to completed tasks; who was put right there is remembered."""
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
    """The strategy called so; an unknown one is an error that lists the known."""
    try:
        return STRATEGIES[name]
    except KeyError:
        raise InvalidInput(f"{name!r} is not a strategy; use one of {', '.join(STRATEGIES)}") from None


def _by_age(units: Iterable[Unit]) -> list[Unit]:
    return sorted(units, key=lambda unit: unit.first)


def _score(given: StrategyInput, unit: Unit) -> float:
    """A unit matters as much as the most important message in it."""
    return max([given.scores[entry.place] for entry in unit.entries])


def _corrections(given: StrategyInput) -> set[Unit]:
    """The units that hold a correction, and those that were corrected."""
    corrections = {entry.place for entry in given.transcript if entry.cues.correction}
    corrected = corrections | {place - 1 for place in corrections}
    return {unit for unit in given.removable if any(entry.place in corrected for entry in unit.entries)}


class _UnitValues:
    """What units give for the room they take."""

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
