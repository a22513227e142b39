"""Who leaves first when the window is full: three orders, behind one small interface."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log1p

from treering.conversation.transcript import Segment, Transcript, Unit
from treering.core.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Leaving:
    """A unit that may leave, and why it is its turn. Units of the same `whole` leave together or not at all."""

    unit: Unit
    why: str
    whole: Segment | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """What a strategy sees: the units in the window, those of them that may leave, and the score of each message.

    `completed` are the places of messages whose task is over; after `fading` messages a unit gives a third. A unit that
    stands alone between others that left takes a marker more.
    """

    transcript: Transcript
    kept: Sequence[Unit]
    free: Sequence[Unit]
    scores: Sequence[float]
    completed: frozenset[int]
    fading: float
    marker: int


Strategy = Callable[[Window], Iterable[Leaving]]
"""The units that may leave, the first to leave first."""


def rolling_window(window: Window) -> Iterator[Leaving]:
    """The oldest first, whatever they say."""
    return (Leaving(unit, "among the oldest") for unit in _by_age(window.free))


def by_importance(window: Window) -> Iterator[Leaving]:
    """The least important first; of equals, the oldest."""
    scored = sorted((_score(window, unit), unit.first, unit) for unit in _by_age(window.free))
    return (Leaving(unit, "among the least important") for _, _, unit in scored)


def hybrid(window: Window) -> Iterator[Leaving]:
    """What gives the least for its room, the current task last but for corrections.

    A unit gives what it is important for, and the names that few others in the window hold; both fade with age. A
    completed task leaves whole, and gives what its units give together.
    """
    corrected, given = _corrections(window), _Given(window)
    segment_of = window.transcript.segment_of
    done, before, now = dict[Segment, list[Leaving]](), list[list[Leaving]](), list[list[Leaving]]()
    for each in completed_tasks(window):
        done.setdefault(segment_of[each.unit.first], []).append(each)
    for unit in window.free:
        if unit not in corrected and unit.first not in window.completed:
            alone = [Leaving(unit, "little in it is still needed")]
            (now if segment_of[unit.first] is segment_of[-1] else before).append(alone)
    for group in (*given.least_first([*done.values(), *before]), *given.least_first(now)):
        yield from group
    for unit in _by_age(window.free):
        if unit in corrected:
            yield Leaving(unit, "a correction, when nothing else was left")


def completed_tasks(window: Window) -> Iterator[Leaving]:
    """Only what belongs to completed tasks; who was put right there is remembered."""
    segment_of, corrected = window.transcript.segment_of, _corrections(window)
    for unit in _by_age(window.free):
        if unit.first in window.completed and unit not in corrected:
            yield Leaving(unit, "its task is complete", segment_of[unit.first])


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


def _score(window: Window, unit: Unit) -> float:
    """A unit matters as much as the most important message in it."""
    return max([window.scores[entry.place] for entry in unit.entries])


def _corrections(window: Window) -> set[Unit]:
    """The units that hold a correction, and those that were corrected."""
    corrections = {entry.place for entry in window.transcript if entry.cues.correction}
    corrected = corrections | {place - 1 for place in corrections}
    return {unit for unit in window.free if any(entry.place in corrected for entry in unit.entries)}


class _Given:
    """What units give for the room they take."""

    def __init__(self, window: Window) -> None:
        self._window, self._end = window, len(window.transcript)
        holders, mentions = Counter[str](), window.transcript.mentions
        for unit in window.kept:
            holders.update(unit.names)
        self._share = {name: log1p(mentions[name]) / count for name, count in holders.items()}

    def least_first(self, groups: Iterable[list[Leaving]]) -> list[list[Leaving]]:
        return sorted(groups, key=lambda group: (self._of(group), group[0].unit.first))

    def _of(self, group: Sequence[Leaving]) -> float:
        worth, room, share = 0.0, 0, self._share
        for each in group:
            unit = each.unit
            held = sum([share[name] for name in unit.names])
            worth += (_score(self._window, unit) + held) * exp((unit.last - self._end) / self._window.fading)
            room += unit.tokens + self._window.marker
        return worth / room
