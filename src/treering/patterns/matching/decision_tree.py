"""A decision tree over the conditions of patterns: a task follows only the branches that its features can pass.

Each node sends a pattern down the branch that excludes most of the others: by the value of a field (`language is …`),
by a cut through a number (`complexity is at most …`), or by the answer to any other test. Patterns that ask nothing of
what a node splits by stay at the node, and every task that comes by takes them along: no pattern is sent down two
sides because it does not care. What is reached is a superset of what applies; the answers decide in the end.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from treering.core.applicability import COMPLEXITY
from treering.core.conditions import Bounds, Operator, Test, bounds_of
from treering.patterns.matching.questions import Answers, Asked, Demand, Questions, ValueKey, listed_values, value_key

Positions = NDArray[np.intp]

# Fewer patterns are asked sooner than a branch is followed.
_LEAF = 8
# A pattern that allows more values than this is not copied under each; it is asked as one question.
_MOST_VALUES = 16
# Deeper than anybody nests what he asks for; past it patterns are asked one by one.
_DEEPEST = 32


class Branch(Protocol):
    def follow(self, answers: Answers) -> Iterable["Node"]:
        """The nodes that the task may go on to."""


@dataclass(frozen=True, slots=True)
class Node:
    """Patterns that stay here, and branches for the others."""

    here: Positions
    branches: tuple[Branch, ...] = ()

    def reached(self, answers: Answers) -> list[Positions]:
        """The patterns on all ways that the answers leave open; one may come twice."""
        found, ahead = list[Positions](), [self]
        while ahead:
            node = ahead.pop()
            found.append(node.here)
            for branch in node.branches:
                ahead.extend(branch.follow(answers))
        return found


@dataclass(frozen=True, slots=True)
class ByValue:
    """One node for each value that patterns ask a field for."""

    field: str
    nodes: Mapping[ValueKey, Node]

    def follow(self, answers: Answers) -> Iterable[Node]:
        return [self.nodes[key] for key in answers.keys(self.field) if key in self.nodes]


@dataclass(frozen=True, slots=True)
class ByCut:
    """Ranges below a number, ranges above it, and those that it lies in."""

    field: str
    cut: float
    below: Node
    above: Node
    across: Node

    def follow(self, answers: Answers) -> Iterable[Node]:
        numbers = answers.numbers(self.field)
        if not numbers:
            return ()
        sides = [self.across]
        if any(each < self.cut for each in numbers):
            sides.append(self.below)
        if any(each > self.cut for each in numbers):
            sides.append(self.above)
        return sides


@dataclass(frozen=True, slots=True)
class ByComplexity(ByCut):
    """As any cut, but a task whose complexity nobody knows goes everywhere."""

    def follow(self, answers: Answers) -> Iterable[Node]:
        known = answers.complexity
        if known is None:
            return (self.below, self.across, self.above)
        return (self.across, self.below if known < self.cut else self.above)


@dataclass(frozen=True, slots=True)
class ByAnswer:
    """Patterns that need a condition to hold, and those that need it not to."""

    number: int
    yes: Node
    no: Node

    def follow(self, answers: Answers) -> Iterable[Node]:
        return (self.yes if answers.holds(self.number) else self.no,)


@dataclass(frozen=True, slots=True)
class _Handle:
    """What a pattern can be split by: the branch it belongs to, and its place there."""

    kind: str
    name: str | int
    values: tuple[ValueKey, ...] = ()
    bounds: Bounds = (None, None)
    wanted: bool = True

    @property
    def split(self) -> tuple[str, str | int]:
        return self.kind, self.name


@dataclass(frozen=True, slots=True)
class _Entry:
    """A pattern on its way down, with the handles that no branch has used yet."""

    position: int
    handles: tuple[_Handle, ...]

    def without(self, handle: _Handle) -> "_Entry":
        return _Entry(self.position, tuple(each for each in self.handles if each is not handle))


def grown(asked: Sequence[Asked], questions: Questions) -> Node:
    """The tree over what the patterns ask, each known by its place in the sequence."""
    return _node([_Entry(place, tuple(_handles(each, questions))) for place, each in enumerate(asked)], _DEEPEST)


def _handles(asked: Asked, questions: Questions) -> Iterable[_Handle]:
    if asked.complexity != (0.0, 1.0):
        yield _Handle("complexity", COMPLEXITY, bounds=asked.complexity)
    for demand in asked.demands:
        yield _handle(demand, questions)


def _handle(demand: Demand, questions: Questions) -> _Handle:
    condition = questions[demand.number]
    if isinstance(condition, Test) and demand.wanted:
        values = _values(condition)
        if 0 < len(values) <= _MOST_VALUES:
            return _Handle("value", condition.field, values=values)
        if condition.operator is Operator.RANGE and (bounds := bounds_of(condition.value)):
            return _Handle("cut", condition.field, bounds=bounds)
    return _Handle("answer", demand.number, wanted=demand.wanted)


def _values(test: Test) -> tuple[ValueKey, ...]:
    """The keys of all values that pass; none where a value has no key."""
    if test.operator not in (Operator.EQ, Operator.IN):
        return ()
    listed = (test.value,) if test.operator is Operator.EQ else listed_values(test)
    keys = [value_key(value) for value in listed]
    return () if None in keys else tuple(dict.fromkeys(key for key in keys if key is not None))


def _node(entries: Sequence[_Entry], room: int) -> Node:
    if len(entries) <= _LEAF or not room:
        return _leaf(entries)
    saved = _saved(entries)
    groups, here = defaultdict[tuple[str, str | int], list[tuple[_Entry, _Handle]]](list), list[_Entry]()
    for entry in entries:
        best = max(entry.handles, key=lambda handle: (saved[handle.split], str(handle.split)), default=None)
        if best is None or saved[best.split] < _LEAF / 2:
            here.append(entry)
        else:
            groups[best.split].append((entry, best))
    branches = list[Branch]()
    for split, group in groups.items():
        branch = _BRANCHES[split[0]](split[1], group, room - 1) if len(group) >= _LEAF else None
        if branch is None:
            here.extend(entry for entry, _ in group)
        else:
            branches.append(branch)
    return Node(_leaf(here).here, tuple(branches))


def _leaf(entries: Sequence[_Entry]) -> Node:
    return Node(np.array([entry.position for entry in entries], np.intp))


def _saved(entries: Sequence[_Entry]) -> Mapping[tuple[str, str | int], float]:
    """How many patterns a task is expected to skip at each split: of values all but the share it has, else one half."""
    groups = defaultdict[tuple[str, str | int], list[_Handle]](list)
    for entry in entries:
        for handle in entry.handles:
            groups[handle.split].append(handle)
    return {split: _skipped(group) for split, group in groups.items()}


def _skipped(group: Sequence[_Handle]) -> float:
    distinct = len({key for handle in group for key in handle.values})
    # A value that nobody asks for comes as well.
    return sum(1 - len(handle.values) / (distinct + 1) for handle in group) if distinct else len(group) / 2


def _by_value(field: str | int, group: Sequence[tuple[_Entry, _Handle]], room: int) -> Branch | None:
    under = defaultdict[ValueKey, list[_Entry]](list)
    for entry, handle in group:
        for key in handle.values:
            under[key].append(entry.without(handle))
    return ByValue(str(field), {key: _node(entries, room) for key, entries in under.items()})


def _by_cut(
    make: Callable[[str, float, Node, Node, Node], Branch],
    field: str | int,
    group: Sequence[tuple[_Entry, _Handle]],
    room: int,
) -> Branch | None:
    """At the end that lies in the middle of all ends: as many ranges stand on one side as on the other."""
    ends = [end for _, handle in group for end in handle.bounds if end is not None]
    if not ends:
        return None
    cut = median_low(ends)
    below, above, across = list[_Entry](), list[_Entry](), list[_Entry]()
    for entry, handle in group:
        low, high = handle.bounds
        if high is not None and high < cut:
            below.append(entry)
        elif low is not None and low > cut:
            above.append(entry)
        else:
            across.append(entry.without(handle))
    return make(str(field), cut, _node(below, room), _node(above, room), _node(across, room))


def _by_answer(number: str | int, group: Sequence[tuple[_Entry, _Handle]], room: int) -> Branch | None:
    yes, no = (
        _node([entry.without(handle) for entry, handle in group if handle.wanted is side], room)
        for side in (True, False)
    )
    return ByAnswer(int(number), yes, no)


_BRANCHES: Mapping[str, Callable[[str | int, Sequence[tuple[_Entry, _Handle]], int], Branch | None]] = {
    "value": _by_value,
    "cut": lambda field, group, room: _by_cut(ByCut, field, group, room),
    "complexity": lambda field, group, room: _by_cut(ByComplexity, field, group, room),
    "answer": _by_answer,
}
