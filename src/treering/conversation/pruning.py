"""Decides which messages are removed from the window: a pure function of transcript, protection and capacity.

A round (question, calls, results and answer) is removed as a whole. Only if that is not enough are rounds divided that
contain a protected message, such as the current round.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from treering.conversation.importance import scores
from treering.conversation.strategies import RemovalCandidate, Strategy, StrategyInput
from treering.conversation.transcript import Transcript, Unit, completed, redundant


@dataclass(frozen=True, slots=True)
class Protection:
    """Messages that are never removed: the last `keep_recent`, and the pinned ones.

    The system prompt, the last message and the user's last message are always protected. `unimportant` ones are not.
    """

    keep_recent: int
    pinned: frozenset[str] = frozenset()
    unimportant: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class WindowCapacity:
    """Maximum tokens, and maximum messages if limited."""

    tokens: int
    messages: int | None


@dataclass(frozen=True, slots=True)
class MarkerSizes:
    """Upper bounds of markers: tokens of one marker, number of markers, and tokens of all markers together."""

    tokens: int
    max_markers: int
    total: int

    def of(self, runs: int) -> int:
        return runs * self.tokens if runs <= self.max_markers else self.total


@dataclass(slots=True)
class _WindowFill:
    """The size of the window while units are removed from it."""

    removed: list[bool]
    tokens: int
    messages: int
    runs: int
    room: WindowCapacity
    marker: MarkerSizes

    def fits(self, room: WindowCapacity | None = None) -> bool:
        room = room or self.room
        few_enough = room.messages is None or self.messages <= room.messages
        return few_enough and self.tokens + self.marker.of(self.runs) <= room.tokens

    def more_runs(self, unit: Unit) -> int:
        """Change in the number of runs if `unit` is removed."""
        added = 0
        for first, last in _blocks(unit):
            before = first > 0 and self.removed[first - 1]
            after = last + 1 < len(self.removed) and self.removed[last + 1]
            added += 1 - before - after
        return added

    def helps(self, unit: Unit) -> bool:
        """Whether removing `unit` makes the window smaller: its marker may be larger than the unit."""
        crowded = self.room.messages is not None and self.messages > self.room.messages
        added = self.marker.of(self.runs + self.more_runs(unit)) - self.marker.of(self.runs)
        return crowded or added < unit.tokens

    def remove(self, unit: Unit) -> None:
        self.runs += self.more_runs(unit)
        self.tokens -= unit.tokens
        self.messages -= len(unit.entries)
        for entry in unit.entries:
            self.removed[entry.place] = True


def decide(
    transcript: Transcript,
    out: frozenset[int],
    absent: frozenset[int],
    now: datetime,
    *,
    room: WindowCapacity,
    limit: WindowCapacity,
    marker: MarkerSizes,
    protection: Protection,
    strategy: Strategy,
    fading: float,
) -> dict[int, str]:
    """The messages to remove by place, with the reason; empty if the window already fits without those `out`.

    Whole rounds are removed until the rest fits in `room`; rounds are divided only if it does not fit in `limit`.
    `absent` messages are not sent anyway. The rest may still be too large if everything else is protected.
    """
    fill, missing = _initial_fill(transcript, out, absent, room, marker), out | absent
    if fill.fits():
        return {}
    protected, over = protected_places(transcript, protection), completed(transcript)
    repeated = redundant(transcript, missing)
    worth = scores(transcript.entries, now, completed=over, unimportant=protection.unimportant, redundant=repeated)
    remaining, free, divided = list[Unit](), list[Unit](), list[Unit]()
    for round in transcript.rounds():
        if (unit := Unit(round.entries).without(missing)) is None:
            continue
        remaining.append(unit)
        if protected.isdisjoint(entry.place for entry in round.entries):
            free.append(unit)
        else:
            parts = (part for part in transcript.parts(round) if part.first not in protected)
            divided += [left for part in parts if (left := part.without(missing)) is not None]

    def ordered(units: Sequence[Unit]) -> list[RemovalCandidate]:
        return list(strategy(StrategyInput(transcript, remaining, units, worth, over, fading, marker.tokens)))

    order = ordered(free)
    leaving = list(_removals(fill, order))
    if not fill.fits(limit):
        removed = {each.unit for each in leaving}
        leaving += _removals(fill, [*(each for each in order if each.unit not in removed), *ordered(divided)])
    return {entry.place: each.why for each in leaving for entry in each.unit.entries}


def _removals(fill: _WindowFill, order: Sequence[RemovalCandidate]) -> Iterator[RemovalCandidate]:
    """Remove units in order until the rest fits or no further unit helps."""
    while not fill.fits():
        chosen = list(_removed_in_order(fill, order)) or list(_removed_run(fill, order))
        if not chosen:
            return
        yield from chosen
        left = {each.unit for each in chosen}
        order = [each for each in order if each.unit not in left]


def protected_places(transcript: Transcript, protection: Protection) -> frozenset[int]:
    """Places of protected messages and of the units they belong to."""
    recent = range(max(0, len(transcript) - max(1, protection.keep_recent)), len(transcript))
    pinned = (entry.place for entry in map(transcript.get, protection.pinned) if entry is not None)
    asked = transcript.last_asked()
    held = {*recent, *transcript.prompts(), *pinned, *(() if asked is None else (asked.place,))}
    parts = (part for each in {transcript.round_of[place] for place in held} for part in transcript.parts(each))
    of_parts = ([entry.place for entry in part.entries] for part in parts)
    return frozenset(place for places in of_parts if not held.isdisjoint(places) for place in places)


def _removed_in_order(fill: _WindowFill, order: Sequence[RemovalCandidate]) -> Iterator[RemovalCandidate]:
    """Remove units in order until the rest fits. Units of one group are removed together, even if fewer would do."""
    for _, group in groupby(order, key=lambda each: each.whole or each.unit):
        if fill.fits():
            return
        for each in group:
            if fill.helps(each.unit):
                fill.remove(each.unit)
                yield each


def _removed_run(fill: _WindowFill, order: Sequence[RemovalCandidate]) -> Iterator[RemovalCandidate]:
    """Remove the oldest run of neighbours that helps only as a whole, under one marker."""
    run, tokens, reached = list[RemovalCandidate](), 0, -1
    for each in sorted(order, key=lambda each: each.unit.first):
        if each.unit.first != reached + 1:
            run, tokens = [], 0
        run.append(each)
        tokens, reached = tokens + each.unit.tokens, each.unit.last
        if tokens > fill.marker.tokens:
            for small in run:
                fill.remove(small.unit)
                yield small
            return


def _initial_fill(
    transcript: Transcript, out: frozenset[int], absent: frozenset[int], room: WindowCapacity, marker: MarkerSizes
) -> _WindowFill:
    removed = [entry.place in out for entry in transcript]
    remaining = [entry for entry in transcript if entry.place not in out and entry.place not in absent]
    runs = sum(1 for left, _ in groupby(removed) if left)
    return _WindowFill(removed, sum(entry.tokens for entry in remaining), len(remaining), runs, room, marker)


def _blocks(unit: Unit) -> Iterator[tuple[int, int]]:
    """The runs of neighbouring places in a unit."""
    if unit.last - unit.first + 1 == len(unit.entries):
        yield unit.first, unit.last
    else:
        yield from runs_of(entry.place for entry in unit.entries)


def runs_of(places: Iterable[int]) -> Iterator[tuple[int, int]]:
    """First and last of each run of neighbours in ascending `places`."""
    for _, group in groupby(enumerate(places), key=lambda pair: pair[1] - pair[0]):
        members = [place for _, place in group]
        yield members[0], members[-1]
