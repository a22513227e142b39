"""What the graph answers: frozen values, that stay as they are while the graph goes on changing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import TYPE_CHECKING, TypeVar, overload

import numpy as np

from treering.code.graph.kinds import KINDS, Flags

if TYPE_CHECKING:
    from treering.code.facts import Definition, EntryPoint
    from treering.code.graph.last_edges import LastEdges
    from treering.code.graph.nodes import Nodes
    from treering.code.graph.traversal import Walked
    from treering.core.graph import EdgeKind, GraphSource

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Tied:
    """Somebody who depends on what was asked for, or on whom it depends."""

    id: str
    depth: int
    """Fewest steps to it."""
    path: tuple[str, ...]
    """From what was asked for to this, one id a step: the best by score of the shortest."""
    score: float
    """The product of weight and confidence along the path."""
    kind: EdgeKind
    """What the last step of the path is."""
    source: GraphSource
    """Who told the edge of that step."""
    confidence: float
    """How sure it is."""
    through: str | None
    """Where an override is between the last two of the path: the method that it overrides."""
    test: bool


class Ties(Sequence[Tied]):
    """Nearest first, then by score, then by name; each is put into words when it is looked at."""

    def __init__(self, walked: Walked, nodes: Nodes, last_edges: LastEdges) -> None:
        self._met, self._names, self._last_edges = walked, nodes.names, last_edges
        self._test_flags: Flags = nodes.test.take(walked.node)

    def __len__(self) -> int:
        return len(self._met.node)

    @overload
    def __getitem__(self, place: int) -> Tied: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Tied, ...]: ...
    def __getitem__(self, place: int | slice) -> Tied | tuple[Tied, ...]:
        if isinstance(place, slice):
            return tuple(self._tied(each) for each in range(len(self))[place])
        return self._tied(range(len(self))[place])

    def __iter__(self) -> Iterator[Tied]:
        return map(self._tied, range(len(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ties) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(self.ids)

    def __repr__(self) -> str:
        return f"Ties({tuple(self)!r})"

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(map(self._names.__getitem__, self._walked.node.tolist()))

    @property
    def tests(self) -> tuple[str, ...]:
        return tuple(map(self._names.__getitem__, self._walked.node[self._tests].tolist()))

    @property
    def tests_count(self) -> int:
        return int(np.count_nonzero(self._test_flags))

    @property
    def score(self) -> float:
        """The sum of the scores, exact whatever their order."""
        return round(fsum(self._met.score.tolist()), 3)

    @cached_property
    def _walked(self) -> Walked:
        return self._met.at(self._met.best_first)

    @cached_property
    def _tests(self) -> Flags:
        return self._test_flags[self._met.best_first]

    def _tied(self, place: int) -> Tied:
        walked, names = self._walked, self._names
        node = int(walked.node[place])
        through = walked.through.get(node)
        last = self._last_edges.at(int(self._met.best_first[place]))
        return Tied(
            names[node],
            int(walked.depth[place]),
            tuple(map(names.__getitem__, walked.way(place))),
            round(float(walked.score[place]), 6),
            KINDS[walked.kind[place]],
            last.source,
            last.confidence,
            None if through is None else names[through],
            bool(self._tests[place]),
        )


@dataclass(frozen=True, slots=True)
class Guess:
    """A name that nothing has, and what it was taken for."""

    asked: str
    taken_for: str


@dataclass(frozen=True, slots=True)
class Standing:
    """How far an answer can be relied on."""

    stale: tuple[str, ...] = ()
    """Files that changed and were not read again yet: their edges are left out."""
    incomplete: bool = False
    """The index is still being made, or what decides which files belong to it has changed: files may be missing."""
    guessed: tuple[Guess, ...] = ()
    """Names in the question that nothing has: the answer is about what is called nearly so."""

    @property
    def whole(self) -> bool:
        return not self.stale and not self.incomplete


WHOLE = Standing()


@dataclass(frozen=True, slots=True)
class Answers(Sequence[T]):
    """Several of a kind, and how far their list can be relied on: none may mean that none is known yet."""

    found: tuple[T, ...]
    standing: Standing

    def __len__(self) -> int:
        return len(self.found)

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[T, ...]: ...
    def __getitem__(self, place: int | slice) -> T | tuple[T, ...]:
        return self.found[place]


@dataclass(frozen=True, slots=True)
class Impact:
    """What a change of a node reaches."""

    node: str
    members: tuple[str, ...]
    """What changes with it, because it is defined inside; they are not counted as dependents."""
    dependents: Ties
    """As many as were asked for, nearest first."""
    total: int
    """All transitive dependents, however many are listed."""
    tests_total: int
    """How many of all dependents are tests."""
    importers: tuple[str, ...]
    """Files that import the one where the node is defined, or one that hands it on. They may use it in ways that leave
    no edge to it, as constants and types are used; for a file they are among the dependents."""
    standing: Standing

    @property
    def score(self) -> float:
        """How much a change reaches: the scores of the listed dependents, summed. Sure and near ones count most."""
        return self.dependents.score

    @property
    def tests(self) -> tuple[str, ...]:
        """The listed dependents that are tests, or files of tests."""
        return self.dependents.tests

    @property
    def direct(self) -> tuple[Tied, ...]:
        return tuple(each for each in self.dependents if each.depth == 1)

    @property
    def capped(self) -> bool:
        return len(self.dependents) < self.total


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What a node depends on."""

    node: str
    members: tuple[str, ...]
    dependencies: Ties
    capped: bool
    standing: Standing


@dataclass(frozen=True, slots=True)
class Step:
    id: str
    kind: EdgeKind | None
    """The edge that leads here from the step before; the first has none."""
    through: str | None = None
    """The overridden method that is called, where this overrides it."""
    source: GraphSource | None = None
    """Who told that edge."""
    confidence: float | None = None
    """How sure it is."""


@dataclass(frozen=True, slots=True)
class Route:
    """How one node comes to depend on another, in as few steps as there are; false where it does not."""

    steps: tuple[Step, ...]
    score: float
    standing: Standing

    def __bool__(self) -> bool:
        return bool(self.steps)

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(step.id for step in self.steps)


@dataclass(frozen=True, slots=True)
class Entry:
    """A place where something outside the code comes in."""

    id: str
    definition: Definition
    depth: int | None = None
    """Steps from the entry point to the node that was asked about."""
    path: tuple[str, ...] = ()
    """From the entry point to that node."""
    test: bool = False
    """Whether it stands in a test, or among tests: it is no way into the project itself."""

    @property
    def kind(self) -> EntryPoint | None:
        return self.definition.entry


class Entries(Answers[Entry]):
    """By name, the project's own first, those in tests last; or nearest first to a node."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Cycle:
    """Nodes that all depend on each other."""

    members: tuple[str, ...]
    example: tuple[str, ...]
    """A shortest way round that begins and ends at the first member."""


class Cycles(Answers[Cycle]):
    """The largest first."""

    __slots__ = ()
