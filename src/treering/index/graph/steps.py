"""What leads on from a node: its edges, and what overriding adds to them.

Who calls a method may get any override of it. So a change of an override reaches the callers of what it overrides, and
a caller depends on the overrides of what it calls; the overridden method itself, and other overrides of it, stay as
they are. An interface with hundreds of overrides and hundreds of callers must not be walked override by caller: a walk
goes through each overridden method once, from where it is met first.
"""

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

import numpy as np

from treering.index.graph.adjacency import Adjacency
from treering.index.graph.edges import Edges
from treering.index.graph.kinds import CALLS, Codes, Flags, Floats, Ints, Places
from treering.index.graph.nodes import Nodes


class Direction(Enum):
    DEPENDENTS = "dependents"
    DEPENDENCIES = "dependencies"


class Steps(NamedTuple):
    """Edges from several nodes to their neighbours; `place` says from which of the nodes."""

    place: Ints
    neighbour: Ints
    factor: Floats
    kind: Codes
    through: Ints | None = None
    """The overridden method that ties an override to a caller."""

    def at(self, flags: Flags) -> "Steps":
        # Flags read as places and then taken are five times as fast as flags read as an index.
        chosen = flags.nonzero()[0]
        through = None if self.through is None else self.through.take(chosen)
        return Steps(
            self.place.take(chosen),
            self.neighbour.take(chosen),
            self.factor.take(chosen),
            self.kind.take(chosen),
            through,
        )


class Served(NamedTuple):
    """The graph that a question sees: edges below a confidence are left out."""

    nodes: Nodes
    edges: Edges
    least_confidence: float = 0.0

    def along(self, adjacency: Adjacency, frontier: Ints, met: Flags | None = None) -> Steps:
        """Every edge of these nodes, except to what is met; without `met`, what it leads to may be gone."""
        slots, places = adjacency.spread(frontier)
        neighbour = adjacency.neighbour.take(slots)
        if met is not None:
            fresh = (~met.take(neighbour)).nonzero()[0]
            slots, places, neighbour = slots.take(fresh), places.take(fresh), neighbour.take(fresh)
        if self.least_confidence > 0.0:
            sure = self.edges.columns.confidence[adjacency.row[slots]] >= np.float32(self.least_confidence)
            slots, places, neighbour = slots[sure], places[sure], neighbour[sure]
        return Steps(places, neighbour, adjacency.factor.take(slots), adjacency.kind.take(slots))

    def overriding(self, adjacency: Adjacency, methods: Ints) -> Steps:
        """Which methods these override, or are overridden by: inheritance of classes is left out."""
        callable = self.nodes.callable
        steps = self.along(adjacency, methods)
        both = callable.take(methods).take(steps.place) & callable.take(steps.neighbour)
        return steps if both.all() else steps.at(both)


class Walking:
    """The steps of one walk, which goes through each overridden method once, and never to what it has met."""

    def __init__(self, served: Served, direction: Direction, met: Flags) -> None:
        self._served, self._direction, self._met = served, direction, met
        self._through = np.zeros(len(served.nodes.exists), np.bool_)

    def steps(self, frontier: Ints, score: Floats) -> Iterator[Steps]:
        """Every edge that leads on from these nodes, which were met with these scores."""
        edges = self._served.edges
        if self._direction is Direction.DEPENDENTS:
            yield self._served.along(edges.users, frontier, self._met)
            heirs = (
                self._served.nodes.callable.take(frontier) & (edges.overridden.length.take(frontier) > 0)
            ).nonzero()[0]
            if len(heirs):
                yield from self._callers_of_overridden(heirs.astype(np.int32), frontier, score)
        else:
            plain = self._served.along(edges.used, frontier)
            yield plain.at(~self._met[plain.neighbour])
            overridden = (edges.overriders.length.take(plain.neighbour) > 0) & (plain.kind == CALLS)
            if overridden.any():
                yield from self._overriders_of_called(plain.at(overridden), frontier, score)

    def _callers_of_overridden(self, place: Ints, frontier: Ints, score: Floats) -> Iterator[Steps]:
        at, factor = frontier[place], np.ones(len(place), np.float32)
        waves: list[tuple[Ints, Ints, Floats]] = []
        overridden = self._served.edges.overridden
        while len(at) and overridden.length.take(at).any():
            above = self._served.overriding(overridden, at)
            factor = factor[above.place] * above.factor
            place, at = place[above.place], above.neighbour
            once = self._first(at, score[place] * factor, frontier[place])
            place, at, factor = place[once], at[once], factor[once]
            waves.append((place, at, factor))
        if len(waves) > 1:
            place, at = np.concatenate([wave[0] for wave in waves]), np.concatenate([wave[1] for wave in waves])
            factor = np.concatenate([wave[2] for wave in waves])
        if not len(at):
            return
        users = self._served.along(self._served.edges.users, at, self._met)
        calls = users.at(users.kind == CALLS)
        if len(calls.place):
            factor = calls.factor * factor[calls.place]
            yield Steps(place[calls.place], calls.neighbour, factor, calls.kind, at[calls.place])

    def _overriders_of_called(self, calls: Steps, frontier: Ints, score: Floats) -> Iterator[Steps]:
        place, factor, called = calls.place, calls.factor, calls.neighbour
        once = self._first(called, score[place] * factor, frontier[place])
        place, factor, called = place[once], factor[once], called[once]
        at = called
        while len(at):
            below = self._served.overriding(self._served.edges.overriders, at)
            place, called = place[below.place], called[below.place]
            factor, at = factor[below.place] * below.factor, below.neighbour
            steps = Steps(place, at, factor, np.full(len(at), CALLS, np.uint8), called)
            yield steps.at(~self._met[at])
            once = self._first(at, score[place] * factor, frontier[place])
            place, factor, called, at = place[once], factor[once], called[once], at[once]

    def _first(self, methods: Ints, score: Floats, met_from: Ints) -> Places:
        """One place for each method that the walk has not gone through yet: the best by score, then by name."""
        new = (~self._through.take(methods)).nonzero()[0]
        if len(new) < 2:
            self._through[methods[new]] = True
            return new
        order = np.lexsort((self._served.nodes.rank[met_from[new]], -score[new], methods[new]))
        new = new[order]
        ordered = methods[new]
        differs = np.ones(len(new), np.bool_)
        np.not_equal(ordered[1:], ordered[:-1], out=differs[1:])
        self._through[ordered] = True
        return new[differs]
