"""A decision tree over the conditions of patterns: a task follows only the branches that its features can pass.

A node puts each pattern into the branch that excludes the most others: by the value of a field (`language is …`), by a
numeric cut (`complexity is at most …`), or by the result of any other test. Patterns without a condition on the split
stay at the node and are reached by every task that visits it, so no pattern is copied to both sides. The patterns
reached are a superset of those that apply; their conditions decide.
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
from treering.patterns.matching.condition_table import (
    ConditionTable,
    Demand,
    Requirements,
    TaskAnswers,
    ValueKey,
    listed_values,
    value_key,
)

Positions = NDArray[np.intp]

# Checking this few patterns is faster than following a branch.
_LEAF_SIZE = 8
# A pattern that allows more values than this is not copied under each, but tested as one condition.
_MAX_VALUES = 16
# Deeper than conditions are nested in practice; below it patterns are checked one by one.
_MAX_DEPTH = 32


class Branch(Protocol):
    def follow(self, answers: TaskAnswers) -> Iterable["TreeNode"]:
        """The child nodes that the task can reach."""


@dataclass(frozen=True, slots=True)
class TreeNode:
    """Patterns at this node, and branches for the others."""

    here: Positions
    branches: tuple[Branch, ...] = ()

    def reached(self, answers: TaskAnswers) -> list[Positions]:
        """Patterns at all reachable nodes; a pattern may occur twice."""
        found, pending = list[Positions](), [self]
        while pending:
            node = pending.pop()
            found.append(node.here)
            for branch in node.branches:
                pending.extend(branch.follow(answers))
        return found


@dataclass(frozen=True, slots=True)
class ByValue:
    """One node for each value that patterns require of a field."""

    field: str
    nodes: Mapping[ValueKey, TreeNode]

    def follow(self, answers: TaskAnswers) -> Iterable[TreeNode]:
        return [self.nodes[key] for key in answers.keys(self.field) if key in self.nodes]


@dataclass(frozen=True, slots=True)
class ByCut:
    """Ranges below a number, above it, and around it."""

    field: str
    cut: float
    below: TreeNode
    above: TreeNode
    across: TreeNode

    def follow(self, answers: TaskAnswers) -> Iterable[TreeNode]:
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
    """A cut that a task of unknown complexity passes on all sides."""

    def follow(self, answers: TaskAnswers) -> Iterable[TreeNode]:
        known = answers.complexity
        if known is None:
            return (self.below, self.across, self.above)
        return (self.across, self.below if known < self.cut else self.above)


@dataclass(frozen=True, slots=True)
class ByAnswer:
    """Patterns that require a condition to hold, and those that require it to fail."""

    number: int
    yes: TreeNode
    no: TreeNode

    def follow(self, answers: TaskAnswers) -> Iterable[TreeNode]:
        return (self.yes if answers.holds(self.number) else self.no,)


@dataclass(frozen=True, slots=True)
class _SplitKey:
    """A way to split by a pattern's requirement: the branch it belongs to, and its position there."""

    kind: str
    name: str | int
    values: tuple[ValueKey, ...] = ()
    bounds: Bounds = (None, None)
    wanted: bool = True

    @property
    def split(self) -> tuple[str, str | int]:
        return self.kind, self.name


@dataclass(frozen=True, slots=True)
class _TreeEntry:
    """A pattern to be placed, with the split keys that no branch above has used."""

    position: int
    keys: tuple[_SplitKey, ...]

    def without(self, key: _SplitKey) -> "_TreeEntry":
        return _TreeEntry(self.position, tuple(each for each in self.keys if each is not key))


def build_tree(requirements: Sequence[Requirements], conditions: ConditionTable) -> TreeNode:
    """The tree over the requirements of patterns, which are identified by their position in the sequence."""
    return _node(
        [_TreeEntry(place, tuple(_split_keys(each, conditions))) for place, each in enumerate(requirements)], _MAX_DEPTH
    )


def _split_keys(required: Requirements, conditions: ConditionTable) -> Iterable[_SplitKey]:
    if required.complexity != (0.0, 1.0):
        yield _SplitKey("complexity", COMPLEXITY, bounds=required.complexity)
    for demand in required.demands:
        yield _split_key(demand, conditions)


def _split_key(demand: Demand, conditions: ConditionTable) -> _SplitKey:
    condition = conditions[demand.number]
    if isinstance(condition, Test) and demand.wanted:
        values = _values(condition)
        if 0 < len(values) <= _MAX_VALUES:
            return _SplitKey("value", condition.field, values=values)
        if condition.operator is Operator.RANGE and (bounds := bounds_of(condition.value)):
            return _SplitKey("cut", condition.field, bounds=bounds)
    return _SplitKey("answer", demand.number, wanted=demand.wanted)


def _values(test: Test) -> tuple[ValueKey, ...]:
    """The keys of all values that pass; empty if a value has no key."""
    if test.operator not in (Operator.EQ, Operator.IN):
        return ()
    listed = (test.value,) if test.operator is Operator.EQ else listed_values(test)
    keys = [value_key(value) for value in listed]
    return () if None in keys else tuple(dict.fromkeys(key for key in keys if key is not None))


def _node(entries: Sequence[_TreeEntry], depth: int) -> TreeNode:
    if len(entries) <= _LEAF_SIZE or not depth:
        return _leaf(entries)
    saved = _saved(entries)
    groups, here = defaultdict[tuple[str, str | int], list[tuple[_TreeEntry, _SplitKey]]](list), list[_TreeEntry]()
    for entry in entries:
        best = max(entry.keys, key=lambda key: (saved[key.split], str(key.split)), default=None)
        if best is None or saved[best.split] < _LEAF_SIZE / 2:
            here.append(entry)
        else:
            groups[best.split].append((entry, best))
    branches = list[Branch]()
    for split, group in groups.items():
        branch = _BRANCHES[split[0]](split[1], group, depth - 1) if len(group) >= _LEAF_SIZE else None
        if branch is None:
            here.extend(entry for entry, _ in group)
        else:
            branches.append(branch)
    return TreeNode(_leaf(here).here, tuple(branches))


def _leaf(entries: Sequence[_TreeEntry]) -> TreeNode:
    return TreeNode(np.array([entry.position for entry in entries], np.intp))


def _saved(entries: Sequence[_TreeEntry]) -> Mapping[tuple[str, str | int], float]:
    """Patterns that a task is expected to skip at each split: all but its share of values, else one half."""
    groups = defaultdict[tuple[str, str | int], list[_SplitKey]](list)
    for entry in entries:
        for key in entry.keys:
            groups[key.split].append(key)
    return {split: _skipped(group) for split, group in groups.items()}


def _skipped(group: Sequence[_SplitKey]) -> float:
    distinct = len({value for key in group for value in key.values})
    # Plus one for values that no pattern requires.
    return sum(1 - len(key.values) / (distinct + 1) for key in group) if distinct else len(group) / 2


def _by_value(field: str | int, group: Sequence[tuple[_TreeEntry, _SplitKey]], depth: int) -> Branch | None:
    under = defaultdict[ValueKey, list[_TreeEntry]](list)
    for entry, key in group:
        for value in key.values:
            under[value].append(entry.without(key))
    return ByValue(str(field), {value: _node(entries, depth) for value, entries in under.items()})


def _by_cut(
    make: Callable[[str, float, TreeNode, TreeNode, TreeNode], Branch],
    field: str | int,
    group: Sequence[tuple[_TreeEntry, _SplitKey]],
    depth: int,
) -> Branch | None:
    """Cut at the median of all range ends, which balances the two sides."""
    ends = [end for _, key in group for end in key.bounds if end is not None]
    if not ends:
        return None
    cut = median_low(ends)
    below, above, across = list[_TreeEntry](), list[_TreeEntry](), list[_TreeEntry]()
    for entry, key in group:
        low, high = key.bounds
        if high is not None and high < cut:
            below.append(entry)
        elif low is not None and low > cut:
            above.append(entry)
        else:
            across.append(entry.without(key))
    return make(str(field), cut, _node(below, depth), _node(above, depth), _node(across, depth))


def _by_answer(number: str | int, group: Sequence[tuple[_TreeEntry, _SplitKey]], depth: int) -> Branch | None:
    yes, no = (
        _node([entry.without(key) for entry, key in group if key.wanted is side], depth) for side in (True, False)
    )
    return ByAnswer(int(number), yes, no)


_BRANCHES: Mapping[str, Callable[[str | int, Sequence[tuple[_TreeEntry, _SplitKey]], int], Branch | None]] = {
    "value": _by_value,
    "cut": lambda field, group, depth: _by_cut(ByCut, field, group, depth),
    "complexity": lambda field, group, depth: _by_cut(ByComplexity, field, group, depth),
    "answer": _by_answer,
}
