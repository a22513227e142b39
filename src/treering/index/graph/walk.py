"""Layer by layer through the graph: who depends on what, and on what it depends, nearest first.

A layer is a few array operations, however many nodes are in it. Where several edges lead to a node from the layer
before, the one with the best score is kept; between equals the names decide, so that no order of edits shows.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from treering.index.graph.kinds import Codes, Flags, Floats, Ints, Places
from treering.index.graph.nodes import Nodes
from treering.index.graph.steps import Direction, Served, Steps, Walking

_TIE_BITS = 32
_KIND_BITS = 4
_MOST_KINDS = (1 << _KIND_BITS) - 1
_KIND_KEYS = (_MOST_KINDS - np.arange(_MOST_KINDS, dtype=np.int64)) << 1
_PLAIN_KEYS = _KIND_KEYS | 1
_MOST_NODES = (1 << (_TIE_BITS - _KIND_BITS - 1)) - 1


class Walked(NamedTuple):
    """What was met behind the starts, nearest first, each with the best of the edges that lead to it from nearer."""

    node: Ints
    depth: Ints
    score: Floats
    before: Ints
    """The node one layer nearer, from which it was met."""
    kind: Codes
    through: Mapping[int, int]
    """For what was met because of an override: the overridden method between the two."""
    whole: bool
    """Nothing was left out because of the cap."""

    def at(self, chosen: Places) -> "Walked":
        return Walked(
            self.node[chosen],
            self.depth[chosen],
            self.score[chosen],
            self.before[chosen],
            self.kind[chosen],
            self.through,
            self.whole,
        )


def best_first(walked: Walked, rank: Ints) -> Places:
    """The places in the order in which they are told: nearest, then by score, then by name."""
    order: Places = np.lexsort((rank[walked.node], -walked.score, walked.depth))
    return order


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
    frontier, score, room = starts, np.ones(len(starts), np.float32), cap
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
    frontier = starts
    fresh = np.zeros(len(met), np.bool_)
    while len(frontier):
        for steps in walking.steps(frontier, np.ones(len(frontier), np.float32)):
            fresh[steps.neighbour] = True
        frontier = fresh.nonzero()[0].astype(np.int32)
        fresh[frontier] = False
        met[frontier] = True
    return met & served.nodes.exists


class _Layers:
    """The layers of one walk. The best edge to a node is found by comparing numbers that hold all that decides."""

    def __init__(self, walking: Walking, nodes: Nodes, size: int) -> None:
        self._walking, self._rank, self._by_rank = walking, nodes.rank, nodes.by_rank
        self._best: Places = np.zeros(size, np.int64)
        self._marked: Flags = np.zeros(size, np.bool_)
        self._through: dict[int, int] = {}
        self.nodes: list[Ints] = []

    def next(self, frontier: Ints, score: Floats) -> tuple[Ints, Floats]:
        """The unmet neighbours of a layer with their scores."""
        names_before = (_MOST_NODES - self._rank.take(frontier)).astype(np.int64) << (_KIND_BITS + 1)
        lifted: list[tuple[Steps, Places]] = []
        for steps in self._walking.steps(frontier, score):
            # The bits of a positive float stand in the order of its value.
            key = (score.take(steps.place) * steps.factor).view(np.int32).astype(np.int64) << _TIE_BITS
            key |= names_before.take(steps.place)
            key |= (_PLAIN_KEYS if steps.through is None else _KIND_KEYS).take(steps.kind)
            np.maximum.at(self._best, steps.neighbour, key)
            self._marked[steps.neighbour] = True
            if steps.through is not None:
                lifted.append((steps, key))
        layer = self._marked.nonzero()[0].astype(np.int32)
        self._marked[layer] = False
        for steps, key in lifted:
            self._note_overridden(steps, key)
        self.nodes.append(layer)
        return layer, _score(self._best.take(layer))

    def _note_overridden(self, steps: Steps, key: Places) -> None:
        assert steps.through is not None
        won = (key == self._best[steps.neighbour]).nonzero()[0]
        # The overridden method of the first name is written last, and stays.
        won = won[np.argsort(-self._rank[steps.through[won]])]
        self._through.update(zip(steps.neighbour[won].tolist(), steps.through[won].tolist(), strict=True))

    def keep_best(self, most: int) -> None:
        """Leave of the last layer the best by score, between equals by name."""
        layer = self.nodes[-1]
        key = (self._best[layer] >> _TIE_BITS << _TIE_BITS) | (_MOST_NODES - self._rank[layer])
        best = np.argpartition(-key, most)[:most] if most < len(layer) else np.arange(len(layer))
        self.nodes[-1] = layer[best]

    def walked(self, *, whole: bool) -> Walked:
        node = np.concatenate([*self.nodes, np.zeros(0, np.int32)])
        depth = np.arange(1, len(self.nodes) + 1, dtype=np.int32).repeat([len(layer) for layer in self.nodes])
        key = self._best.take(node)
        before = self._by_rank.take(_MOST_NODES - (key >> (_KIND_BITS + 1) & _MOST_NODES))
        kind = (_MOST_KINDS - (key >> 1 & _MOST_KINDS)).astype(np.uint8)
        return Walked(node, depth, _score(key), before, kind, self._through, whole)


def _score(key: Places) -> Floats:
    return (key >> _TIE_BITS).astype(np.int32).view(np.float32)
