"""Steps from a node: its edges, and those that overriding adds.

A call of a method, or a reference to it that may be called, is dispatched to any override, unless the call is exact. So
a change of an override affects the callers of the overridden method, and a caller depends on the overrides of what it
calls; the overridden method itself and other overrides are not affected. An interface with hundreds of overrides and
callers must not be walked pair by pair: a walk passes through each overridden method once, where it is reached first.

Late in a walk most edges of a large layer lead to nodes already reached. Then it is cheaper to follow the edges of the
remaining nodes backwards; both ways find the same edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from treering.code.graph.kind_columns import (
    DISPATCHED,
    Codes,
    Flags,
    Floats,
    Indices,
    Ints,
    dependents_and_providers,
    kinds_of_steps,
)
from treering.code.graph.kinds import EXPORTS

if TYPE_CHECKING:
    from treering.code.graph.adjacency import Adjacency
    from treering.code.graph.edges import EdgeTable
    from treering.code.graph.nodes import Nodes
    from treering.code.graph.overrides import OverrideEdges, Overrides

_LARGE_LAYER = 1_000
"""Layer size from which it pays to compare the cost of both directions."""
_NONE: Indices = np.zeros(0, np.int64)


class Direction(Enum):
    DEPENDENTS = "dependents"
    DEPENDENCIES = "dependencies"


class Steps(NamedTuple):
    """Edges from several nodes to their neighbours; `place` is the index of the node."""

    # Both are indices into other arrays, which NumPy reads much faster in the platform's integer width.
    place: Indices
    neighbour: Indices
    factor: Floats
    kind: Codes

    def at(self, flags: Flags) -> Steps:
        # Converting flags to indices first is five times as fast as indexing with flags.
        chosen = flags.nonzero()[0]
        return Steps(
            self.place.take(chosen), self.neighbour.take(chosen), self.factor.take(chosen), self.kind.take(chosen)
        )

    def part(self, stretch: slice) -> Steps:
        return Steps(self.place[stretch], self.neighbour[stretch], self.factor[stretch], self.kind[stretch])


class Dependences(NamedTuple):
    """Dependent, what it depends on, and kind of each edge; both ends exist."""

    dependent: Ints
    provider: Ints
    kind: Codes


class Origins(NamedTuple):
    """Nodes that a layer continues from: its own, then those that continue through an overridden method."""

    node: Indices
    score: Floats
    through: Indices
    """The overridden methods, in the order of the additional nodes."""

    @property
    def own(self) -> int:
        return len(self.node) - len(self.through)


class ServedGraph(NamedTuple):
    """The graph as a query sees it: without edges below a confidence."""

    nodes: Nodes
    edges: EdgeTable
    overrides: Overrides
    min_confidence: float = 0.0

    def along(self, adjacency: Adjacency, frontier: Ints | Indices, met: Flags | None = None) -> Steps:
        """Every edge of these nodes, except to nodes in `met`; without `met`, neighbours may not exist."""
        slots, places = adjacency.spread(frontier)
        neighbour = adjacency.neighbour.take(slots).astype(np.int64)
        if met is not None:
            fresh = (~met.take(neighbour)).nonzero()[0]
            slots, places, neighbour = slots.take(fresh), places.take(fresh), neighbour.take(fresh)
        if self.min_confidence > 0.0:
            sure = self.confident(adjacency, slots)
            slots, places, neighbour = slots.take(sure), places.take(sure), neighbour.take(sure)
        return Steps(places, neighbour, adjacency.factor.take(slots), adjacency.kind.take(slots))

    def dependences(self) -> Dependences:
        """Every dependence edge between existing nodes."""
        columns, rows = self.edges.columns, self.edges.served(self.nodes.exists)
        chosen = columns.kind[rows] != EXPORTS
        if self.min_confidence > 0.0:
            chosen &= columns.confidence[rows] >= np.float32(self.min_confidence)
        rows = rows[chosen]
        ends = dependents_and_providers(columns.origin[rows], columns.target[rows], columns.kind[rows])
        return Dependences(*ends, kinds_of_steps(columns.kind[rows], columns.flow[rows]))

    def confident(self, adjacency: Adjacency, slots: Indices) -> Indices:
        """Indices of the slots whose edges have the minimum confidence."""
        confidence = self.edges.columns.confidence.take(adjacency.row.take(slots))
        return (confidence >= np.float32(self.min_confidence)).nonzero()[0]

    def overriding(self) -> OverrideEdges:
        return self.overrides.of(self.nodes, self.edges, self.min_confidence)


class WalkSteps:
    """The steps of one walk, which passes through each overridden method once, and never to reached nodes."""

    def __init__(self, served: ServedGraph, direction: Direction, met: Flags) -> None:
        self._served, self._met = served, met
        self._through = np.zeros(len(met), np.bool_)
        self._best: Indices = np.empty(len(met), np.int64)
        self._overriding = served.overriding()
        self.steps = self._dependents if direction is Direction.DEPENDENTS else self._dependencies
        """Every edge that continues from nodes that were reached with these scores."""

    def _dependents(self, frontier: Indices, score: Floats) -> tuple[Origins, Sequence[Steps]]:
        users, own = self._served.edges.users, len(frontier)
        origins = self._with_overridden(frontier, score)
        if self._is_backward_cheaper(frontier):
            plain = self._edges_from_remaining(frontier)
            calls = self._served.along(users, origins.through, self._met)
            calls = calls._replace(place=calls.place + own)
        else:
            every = self._served.along(users, np.concatenate((frontier, origins.through)), self._met)
            if not len(origins.through):
                return origins, (every,)
            # Indices are sorted, so that those of the additional nodes are at the end.
            end = int(every.place.searchsorted(own))
            plain, calls = every.part(slice(end)), every.part(slice(end, None))
        return origins, (plain, calls.at(DISPATCHED.take(calls.kind)))

    def _with_overridden(self, frontier: Indices, score: Floats) -> Origins:
        """The layer, and the methods that it overrides in one or more steps."""
        overridden = self._overriding.overridden
        place = overridden.length.take(frontier).nonzero()[0]
        if not len(place):
            return Origins(frontier, score, _NONE)
        at, chain = frontier.take(place), score.take(place)
        waves: list[tuple[Indices, Floats, Indices]] = [(frontier, score, _NONE)]
        while overridden.length.take(at).any():
            slots, below = overridden.spread(at)
            at, place = overridden.neighbour.take(slots).astype(np.int64), place.take(below)
            chain = chain.take(below) * overridden.factor.take(slots)
            once = self._first(at, chain, frontier.take(place))
            at, place, chain = at.take(once), place.take(once), chain.take(once)
            waves.append((frontier.take(place), chain, at))
        nodes, scores, through = zip(*waves, strict=True)
        return Origins(np.concatenate(nodes), np.concatenate(scores), np.concatenate(through))

    def _is_backward_cheaper(self, frontier: Indices) -> bool:
        if len(frontier) < _LARGE_LAYER:
            return False
        edges, left = self._served.edges, ~self._met
        return int(edges.used.length[: len(left)][left].sum()) < int(edges.users.length.take(frontier).sum())

    def _edges_from_remaining(self, frontier: Indices) -> Steps:
        """The edges from the layer to nodes not reached yet, found from their other end.

        Users of an earlier layer are already reached, so everything reached that the remaining nodes use is in this
        one.
        """
        used, left = self._served.edges.used, (~self._met).nonzero()[0]
        place = np.full(len(self._met), -1, np.int64)
        place[frontier] = np.arange(len(frontier))
        slots, places = used.spread(left)
        places_used = place.take(used.neighbour.take(slots))
        here = (places_used >= 0).nonzero()[0]
        if self._served.min_confidence > 0.0:
            here = here.take(self._served.confident(used, slots.take(here)))
        slots = slots.take(here)
        neighbour = left.take(places.take(here))
        return Steps(places_used.take(here), neighbour, used.factor.take(slots), used.kind.take(slots))

    def _dependencies(self, frontier: Indices, score: Floats) -> tuple[Origins, Sequence[Steps]]:
        overriders = self._overriding.overriders
        plain = self._served.along(self._served.edges.used, frontier)
        steps = [plain.at(~self._met.take(plain.neighbour))]
        calls = plain.at((overriders.length.take(plain.neighbour) > 0) & DISPATCHED.take(plain.kind))
        chain = score.take(calls.place) * calls.factor
        once = self._first(calls.neighbour, chain, frontier.take(calls.place))
        at, chain = calls.neighbour.take(once), chain.take(once)
        origins, kinds = frontier.take(calls.place.take(once)), calls.kind.take(once)
        place, factor = np.arange(len(at)), np.ones(len(at), np.float32)
        found = Origins(np.concatenate((frontier, origins)), np.concatenate((score, chain)), at)
        while overriders.length.take(at).any():
            slots, above = overriders.spread(at)
            at, place = overriders.neighbour.take(slots).astype(np.int64), place.take(above)
            factor = factor.take(above) * overriders.factor.take(slots)
            below = Steps(place + len(frontier), at, factor, kinds.take(place))
            steps.append(below.at(~self._met.take(at)))
            once = self._first(at, chain.take(place) * factor, origins.take(place))
            at, place, factor = at.take(once), place.take(once), factor.take(once)
        return found, steps

    def _first(self, methods: Indices, score: Floats, met_from: Indices) -> Indices:
        """One index for each method not passed through yet: the best by score, then by name."""
        new = (~self._through.take(methods)).nonzero()[0]
        if len(new) < 2:
            self._through[methods.take(new)] = True
            return new
        methods, rank = methods.take(new), self._served.nodes.rank.take(met_from.take(new))
        # The bits of a positive float sort like its value. The last write wins, which is the best.
        worst_first: Indices = ((score.take(new).view(np.int32).astype(np.int64) << 32) - rank).argsort()
        self._best[methods.take(worst_first)] = worst_first
        self._through[methods] = True
        best: Flags = self._best.take(methods) == np.arange(len(new))
        return new.take(best.nonzero()[0])
