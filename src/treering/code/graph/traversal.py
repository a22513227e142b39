"""Breadth-first walk through the graph along dependents or dependencies.

A layer takes a few array operations, however many nodes it has. If several edges lead to a node from the previous
layer, the one with the best score is kept; names break ties, so that the result does not depend on the order of edits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from treering.code.graph.kind_columns import Codes, Flags, Floats, Indices, Ints
from treering.code.graph.kinds import CALLS, EXACT_CALLS
from treering.code.graph.steps import Direction, ServedGraph, WalkSteps

if TYPE_CHECKING:
    from treering.code.graph.nodes import Nodes

_ORDER_BITS = 32
_KIND_BITS = 5
_MAX_KINDS = (1 << _KIND_BITS) - 1
_KIND_KEYS = (_MAX_KINDS - np.arange(_MAX_KINDS, dtype=np.int64)) << 1
_MAX_NODES = (1 << (_ORDER_BITS - _KIND_BITS - 1)) - 1


class NameOrder(NamedTuple):
    """Order of the names when a walk began: the position of each node, and the node at each position."""

    rank: Ints
    by_rank: Ints


def packed(score: Floats, before: Ints | Indices, kind: Codes, rank: Ints) -> Indices:
    """One integer per edge, larger is better: by score, then by name of the origin, then by kind."""
    return (_bits(score) << _ORDER_BITS) | _names(before, rank) | _KIND_KEYS.take(kind) | 1


def _bits(score: Floats) -> Indices:
    # The bits of a positive float sort like its value.
    return score.view(np.int32).astype(np.int64)


def _names(before: Ints | Indices, rank: Ints) -> Indices:
    return (_MAX_NODES - rank.take(before)).astype(np.int64) << (_KIND_BITS + 1)


@dataclass(frozen=True)
class WalkResult:
    """Reached nodes, nearest first, each with the best edge to it from the previous layer."""

    node: Indices
    depth: Ints
    edge: Indices
    """Packed as they were compared, and decoded on access."""
    order: NameOrder
    lifted: tuple[tuple[Indices, Indices], ...]
    """Nodes reached through an override, and the overridden methods between."""
    complete: bool
    """Whether nothing was left out because of the cap."""

    @cached_property
    def score(self) -> Floats:
        return _score(self.edge)

    @cached_property
    def before(self) -> Ints:
        """The node of the previous layer from which each was reached."""
        return self.order.by_rank.take(_MAX_NODES - (self.edge >> (_KIND_BITS + 1) & _MAX_NODES))

    @cached_property
    def kind(self) -> Codes:
        kind = (_MAX_KINDS - (self.edge >> 1 & _MAX_KINDS)).astype(np.uint8)
        kind[kind == EXACT_CALLS] = CALLS
        return kind

    @cached_property
    def through(self) -> Mapping[int, int]:
        """For nodes reached through an override: the overridden method."""
        found: dict[int, int] = {}
        for nodes, methods in self.lifted:
            # The method with the first name is written last, and wins.
            last = np.argsort(-self.order.rank.take(methods))
            found.update(zip(nodes.take(last).tolist(), methods.take(last).tolist(), strict=True))
        return found

    def path_to(self, place: int) -> list[int]:
        """Nodes from a start to the one at this index."""
        way = [int(self.node[place])]
        for _ in range(int(self.depth[place])):
            way.append(self._predecessors[way[-1]])
        return way[::-1]

    @cached_property
    def _predecessors(self) -> Mapping[int, int]:
        return dict(zip(self.node.tolist(), self.before.tolist(), strict=True))

    @cached_property
    def best_first(self) -> Indices:
        """Indices in order: nearest, then by score, then by name."""
        order: Indices = np.lexsort((self.order.rank.take(self.node), -self.score, self.depth))
        return order

    def at(self, chosen: Indices) -> WalkResult:
        return replace(self, node=self.node[chosen], depth=self.depth[chosen], edge=self.edge[chosen])


def walk(
    served: ServedGraph,
    starts: Ints,
    direction: Direction,
    *,
    depth: int | None = None,
    cap: int | None = None,
    until: Ints | None = None,
) -> WalkResult:
    """Nodes reached from `starts` within `depth` layers, at most `cap`; of the last layer the best are kept.

    With `until`, the walk ends after the layer in which one of these nodes is reached.
    """
    met = ~served.nodes.exists
    met[starts] = True
    layers = _Layers(WalkSteps(served, direction, met), served.nodes, len(met))
    frontier, score, room = starts.astype(np.int64), np.ones(len(starts), np.float32), cap
    while len(frontier) and (depth is None or len(layers.nodes) < depth):
        frontier, score = layers.next(frontier, score)
        met[frontier] = True
        if room is not None:
            if len(frontier) > room:
                layers.keep_best(room)
                return layers.walked(complete=False)
            room -= len(frontier)
        if until is not None and met[until].any():
            break
    return layers.walked(complete=True)


def reached(served: ServedGraph, starts: Ints, direction: Direction) -> Flags:
    """Everything reached from the starts, and the starts; without order or score, for counting."""
    met = ~served.nodes.exists
    met[starts] = True
    walking = WalkSteps(served, direction, met)
    frontier = starts.astype(np.int64)
    fresh = np.zeros(len(met), np.bool_)
    while len(frontier):
        for steps in walking.steps(frontier, np.ones(len(frontier), np.float32))[1]:
            fresh[steps.neighbour] = True
        frontier = fresh.nonzero()[0]
        fresh[frontier] = False
        met[frontier] = True
    return met & served.nodes.exists


class _Layers:
    """The layers of one walk. The best edge to a node is found by comparing integers that encode the order."""

    def __init__(self, walking: WalkSteps, nodes: Nodes, size: int) -> None:
        self._walking, self._order = walking, NameOrder(nodes.rank, nodes.by_rank)
        self._best: Indices = np.empty(size, np.int64)
        self._marked: Flags = np.zeros(size, np.bool_)
        self._lifted: list[tuple[Indices, Indices]] = []
        self.nodes: list[Indices] = []

    def next(self, frontier: Indices, score: Floats) -> tuple[Indices, Floats]:
        """Neighbours of a layer that were not reached yet, with their scores."""
        origins, every = self._walking.steps(frontier, score)
        ties = _names(origins.node, self._order.rank)
        ties[: origins.own] |= 1
        keys = []
        for steps in every:
            self._best[steps.neighbour] = 0
        for steps in every:
            key = _bits(origins.score.take(steps.place) * steps.factor)
            key <<= _ORDER_BITS
            key |= ties.take(steps.place)
            key |= _KIND_KEYS.take(steps.kind)
            np.maximum.at(self._best, steps.neighbour, key)
            self._marked[steps.neighbour] = True
            keys.append(key)
        layer = self._marked.nonzero()[0]
        self._marked[layer] = False
        for steps, key in zip(every[1:], keys[1:], strict=True):
            won = (key == self._best.take(steps.neighbour)).nonzero()[0]
            through = origins.through.take(steps.place.take(won) - origins.own)
            self._lifted.append((steps.neighbour.take(won), through))
        self.nodes.append(layer)
        return layer, _score(self._best.take(layer))

    def keep_best(self, limit: int) -> None:
        """Reduce the last layer to the best by score, then by name."""
        layer = self.nodes[-1]
        key = (self._best[layer] >> _ORDER_BITS << _ORDER_BITS) | (_MAX_NODES - self._order.rank[layer])
        best = np.argpartition(-key, limit)[:limit] if limit < len(layer) else np.arange(len(layer))
        self.nodes[-1] = layer[best]

    def walked(self, *, complete: bool) -> WalkResult:
        node = np.concatenate([*self.nodes, np.zeros(0, np.int64)])
        depth = np.arange(1, len(self.nodes) + 1, dtype=np.int32).repeat([len(layer) for layer in self.nodes])
        return WalkResult(node, depth, self._best.take(node), self._order, tuple(self._lifted), complete)


def _score(key: Indices) -> Floats:
    return (key >> _ORDER_BITS).astype(np.int32).view(np.float32)
