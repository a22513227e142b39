"""Layer by layer through the graph: who depends on what, and on what it depends, nearest first.

A layer is a few array operations, however many nodes are in it. Where several edges lead to a node from the layer
before, the one with the best score is kept; between equals the names decide, so that no order of edits shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from treering.code.graph.kinds import CALLS, EXACT_CALLS, Codes, Flags, Floats, Ints, Places
from treering.code.graph.steps import Direction, Served, Walking

if TYPE_CHECKING:
    from treering.code.graph.nodes import Nodes

_TIE_BITS = 32
_KIND_BITS = 4
_MOST_KINDS = (1 << _KIND_BITS) - 1
_KIND_KEYS = (_MOST_KINDS - np.arange(_MOST_KINDS, dtype=np.int64)) << 1
_MOST_NODES = (1 << (_TIE_BITS - _KIND_BITS - 1)) - 1


class Order(NamedTuple):
    """The names in order as they were when a walk began: the place of each node, and the node at each place."""

    rank: Ints
    by_rank: Ints


def packed(score: Floats, before: Ints | Places, kind: Codes, rank: Ints) -> Places:
    """One number for each edge, the larger the better: by score, then by the name it comes from, then by kind."""
    return (_bits(score) << _TIE_BITS) | _names(before, rank) | _KIND_KEYS.take(kind) | 1


def _bits(score: Floats) -> Places:
    # The bits of a positive float stand in the order of its value.
    return score.view(np.int32).astype(np.int64)


def _names(before: Ints | Places, rank: Ints) -> Places:
    return (_MOST_NODES - rank.take(before)).astype(np.int64) << (_KIND_BITS + 1)


@dataclass(frozen=True)
class Walked:
    """What was met behind the starts, nearest first, each with the best of the edges that lead to it from nearer."""

    node: Places
    depth: Ints
    edge: Places
    """RenderedContext, as they were compared; what they say is read when it is asked for."""
    order: Order
    lifted: tuple[tuple[Places, Places], ...]
    """What was met because of an override, and the overridden methods between."""
    whole: bool
    """Nothing was left out because of the cap."""

    @cached_property
    def score(self) -> Floats:
        return _score(self.edge)

    @cached_property
    def before(self) -> Ints:
        """The node one layer nearer, from which each was met."""
        return self.order.by_rank.take(_MOST_NODES - (self.edge >> (_KIND_BITS + 1) & _MOST_NODES))

    @cached_property
    def kind(self) -> Codes:
        kind = (_MOST_KINDS - (self.edge >> 1 & _MOST_KINDS)).astype(np.uint8)
        kind[kind == EXACT_CALLS] = CALLS
        return kind

    @cached_property
    def through(self) -> Mapping[int, int]:
        """For what was met because of an override: the overridden method between the two."""
        found: dict[int, int] = {}
        for nodes, methods in self.lifted:
            # The overridden method of the first name is written last, and stays.
            last = np.argsort(-self.order.rank.take(methods))
            found.update(zip(nodes.take(last).tolist(), methods.take(last).tolist(), strict=True))
        return found

    def way(self, place: int) -> list[int]:
        """From a start to what stands at a place, one node a step."""
        way = [int(self.node[place])]
        for _ in range(int(self.depth[place])):
            way.append(self._one_nearer[way[-1]])
        return way[::-1]

    @cached_property
    def _one_nearer(self) -> Mapping[int, int]:
        return dict(zip(self.node.tolist(), self.before.tolist(), strict=True))

    @cached_property
    def best_first(self) -> Places:
        """The places in the order in which they are told: nearest, then by score, then by name."""
        order: Places = np.lexsort((self.order.rank.take(self.node), -self.score, self.depth))
        return order

    def at(self, chosen: Places) -> Walked:
        return replace(self, node=self.node[chosen], depth=self.depth[chosen], edge=self.edge[chosen])


def walk(
    served: Served,
    starts: Ints,
    direction: Direction,
    *,
    depth: int | None = None,
    cap: int | None = None,
    until: Ints | None = None,
) -> Walked:
    """What is met from `starts` within so many layers, up to so many nodes: of the last layer the best are kept.

    With `until`, no layer is walked behind the one in which one of these nodes is met.
    """
    met = ~served.nodes.exists
    met[starts] = True
    layers = _Layers(Walking(served, direction, met), served.nodes, len(met))
    frontier, score, room = starts.astype(np.int64), np.ones(len(starts), np.float32), cap
    while len(frontier) and (depth is None or len(layers.nodes) < depth):
        frontier, score = layers.next(frontier, score)
        met[frontier] = True
        if room is not None:
            if len(frontier) > room:
                layers.keep_best(room)
                return layers.walked(whole=False)
            room -= len(frontier)
        if until is not None and met[until].any():
            break
    return layers.walked(whole=True)


def reached(served: Served, starts: Ints, direction: Direction) -> Flags:
    """Everything that is met from the starts, and the starts; without order or score, for counting."""
    met = ~served.nodes.exists
    met[starts] = True
    walking = Walking(served, direction, met)
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
    """The layers of one walk. The best edge to a node is found by comparing numbers that hold all that decides."""

    def __init__(self, walking: Walking, nodes: Nodes, size: int) -> None:
        self._walking, self._order = walking, Order(nodes.rank, nodes.by_rank)
        self._best: Places = np.empty(size, np.int64)
        self._marked: Flags = np.zeros(size, np.bool_)
        self._lifted: list[tuple[Places, Places]] = []
        self.nodes: list[Places] = []

    def next(self, frontier: Places, score: Floats) -> tuple[Places, Floats]:
        """The unmet neighbours of a layer with their scores."""
        origins, every = self._walking.steps(frontier, score)
        ties = _names(origins.node, self._order.rank)
        ties[: origins.own] |= 1
        keys = []
        for steps in every:
            self._best[steps.neighbour] = 0
        for steps in every:
            key = _bits(origins.score.take(steps.place) * steps.factor)
            key <<= _TIE_BITS
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

    def keep_best(self, most: int) -> None:
        """Leave of the last layer the best by score, between equals by name."""
        layer = self.nodes[-1]
        key = (self._best[layer] >> _TIE_BITS << _TIE_BITS) | (_MOST_NODES - self._order.rank[layer])
        best = np.argpartition(-key, most)[:most] if most < len(layer) else np.arange(len(layer))
        self.nodes[-1] = layer[best]

    def walked(self, *, whole: bool) -> Walked:
        node = np.concatenate([*self.nodes, np.zeros(0, np.int64)])
        depth = np.arange(1, len(self.nodes) + 1, dtype=np.int32).repeat([len(layer) for layer in self.nodes])
        return Walked(node, depth, self._best.take(node), self._order, tuple(self._lifted), whole)


def _score(key: Places) -> Floats:
    return (key >> _TIE_BITS).astype(np.int32).view(np.float32)
