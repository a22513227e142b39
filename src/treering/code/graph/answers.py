"""Answers of the graph: frozen values that do not change when the graph does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import TYPE_CHECKING, TypeVar, overload

import numpy as np

from treering.code.graph.kind_columns import Flags
from treering.code.graph.kinds import KINDS
from treering.code.graph.ranked_tests import TestFile, ranked_test_files

if TYPE_CHECKING:
    from treering.code.facts import Definition, EntryPoint
    from treering.code.graph.last_edges import LastEdges
    from treering.code.graph.nodes import Nodes
    from treering.code.graph.traversal import WalkResult
    from treering.core.graph import EdgeKind, GraphSource

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ReachedNode:
    """A node that depends on the queried one, or that it depends on."""

    id: str
    depth: int
    """Length of the shortest path."""
    path: tuple[str, ...]
    """Ids from the queried node to this one: of the shortest paths, the one with the best score."""
    score: float
    """Product of weight and confidence along the path."""
    kind: EdgeKind
    """Kind of the last edge of the path."""
    source: GraphSource
    """Source of that edge."""
    confidence: float
    """Confidence of that edge."""
    through: str | None
    """The overridden method, if the last step goes from a caller to an override."""
    test: bool


class ReachedNodes(Sequence[ReachedNode]):
    """Nearest first, then by score, then by name. Each element is built on access."""

    def __init__(self, walked: WalkResult, nodes: Nodes, last_edges: LastEdges) -> None:
        self._met, self._names, self._last_edges = walked, nodes.names, last_edges
        self._test_flags: Flags = nodes.test.take(walked.node)

    def __len__(self) -> int:
        return len(self._met.node)

    @overload
    def __getitem__(self, place: int) -> ReachedNode: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[ReachedNode, ...]: ...
    def __getitem__(self, place: int | slice) -> ReachedNode | tuple[ReachedNode, ...]:
        if isinstance(place, slice):
            return tuple(self._node_at(each) for each in range(len(self))[place])
        return self._node_at(range(len(self))[place])

    def __iter__(self) -> Iterator[ReachedNode]:
        return map(self._node_at, range(len(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ReachedNodes) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(self.ids)

    def __repr__(self) -> str:
        return f"ReachedNodes({tuple(self)!r})"

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(map(self._names.__getitem__, self._walked.node.tolist()))

    @property
    def tests(self) -> tuple[str, ...]:
        return tuple(map(self._names.__getitem__, self._walked.node[self._tests].tolist()))

    @property
    def test_steps(self) -> tuple[tuple[str, int, float], ...]:
        """Id, depth and score of each test and file of tests."""
        walked = self._walked.at(self._tests.nonzero()[0])
        names = map(self._names.__getitem__, walked.node.tolist())
        return tuple(zip(names, walked.depth.tolist(), walked.score.tolist(), strict=True))

    @property
    def tests_count(self) -> int:
        return int(np.count_nonzero(self._test_flags))

    @property
    def score(self) -> float:
        """Sum of the scores, exact in any order."""
        return round(fsum(self._met.score.tolist()), 3)

    @cached_property
    def _walked(self) -> WalkResult:
        return self._met.at(self._met.best_first)

    @cached_property
    def _tests(self) -> Flags:
        return self._test_flags[self._met.best_first]

    def _node_at(self, place: int) -> ReachedNode:
        walked, names = self._walked, self._names
        node = int(walked.node[place])
        through = walked.through.get(node)
        last = self._last_edges.at(int(self._met.best_first[place]))
        return ReachedNode(
            names[node],
            int(walked.depth[place]),
            tuple(map(names.__getitem__, walked.path_to(place))),
            round(float(walked.score[place]), 6),
            KINDS[walked.kind[place]],
            last.source,
            last.confidence,
            None if through is None else names[through],
            bool(self._tests[place]),
        )


@dataclass(frozen=True, slots=True)
class NameGuess:
    """A name that does not exist, and the name it was taken for."""

    asked: str
    taken_for: str


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """How current and complete the index was for an answer."""

    stale: tuple[str, ...] = ()
    """Files that changed and were not read again yet; their edges are left out."""
    incomplete: bool = False
    """Whether files may be missing: indexing has not finished, or the rules about which files belong to it changed."""
    guessed: tuple[NameGuess, ...] = ()
    """Names in the query that do not exist, with the similar names that were used instead."""
    definitions_only: tuple[str, ...] = ()
    """Languages of the queried files in which calls are not resolved: users of a definition are known by name only."""
    notes: tuple[str, ...] = ()
    """Other limits of the answer, as sentences: the folder or the file does not exist now, files cannot be read."""

    @property
    def up_to_date(self) -> bool:
        return not self.stale and not self.incomplete


UP_TO_DATE = IndexStatus()


@dataclass(frozen=True, slots=True)
class CodeAnswers(Sequence[T]):
    """A list of results with the status of the index: an empty list may mean that nothing is indexed yet."""

    found: tuple[T, ...]
    status: IndexStatus

    def __len__(self) -> int:
        return len(self.found)

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[T, ...]: ...
    def __getitem__(self, place: int | slice) -> T | tuple[T, ...]:
        return self.found[place]


@dataclass(frozen=True, slots=True)
class NameCount:
    """Number of uses of a name whose targets are not known."""

    name: str
    uses: int


@dataclass(frozen=True, slots=True)
class Impact:
    """Impact of a change of a node."""

    node: str
    members: tuple[str, ...]
    """Definitions inside the node, which change with it; they are not counted as dependents."""
    dependents: ReachedNodes
    """The nearest dependents, up to the cap."""
    total: int
    """Number of all transitive dependents, listed or not."""
    tests_total: int
    """Number of tests among all dependents."""
    importers: tuple[str, ...]
    """Files that import the node's file, or one that re-exports it. They may use it without an edge to it, as constants
    and types are used; for a file they are among the dependents. If there are no dependents, they are the answer for
    the file instead of the node."""
    status: IndexStatus
    unresolved: tuple[NameCount, ...] = ()
    """Uses of the node's name (for a class, also of its methods) whose targets are not known, most frequent first: some
    may be uses of the node. None of them is among the dependents."""
    handlers: tuple[str, ...] = ()
    """Dependents that catch the errors that the node raises (`handles_errors_from`)."""
    namesakes: tuple[str, ...] = ()
    """The nearest files of tests that are named like the node, its class or its file, reached or not."""
    together: tuple[tuple[str, float], ...] = ()
    """Files with a weight (0 to 1): how often each changed, or was used in sessions, together with the file of
    the node."""

    @property
    def score(self) -> float:
        """Sum of the scores of the listed dependents; near and certain ones count most."""
        return self.dependents.score

    @property
    def tests(self) -> tuple[str, ...]:
        """The listed dependents that are tests, or files with tests."""
        return self.dependents.tests

    @property
    def file_level(self) -> bool:
        """Whether no dependent is certain, so that `importers` are the answer, for the whole file."""
        return not self.total and bool(self.importers)

    @property
    def unresolved_total(self) -> int:
        return sum(each.uses for each in self.unresolved)

    @property
    def test_files(self) -> tuple[TestFile, ...]:
        """The files of the listed tests, those likely to test the node first; without files far behind the best.

        Files of tests that only import the node's file are among them if they share a word of its name; `namesakes`
        always are. Files that changed `together` with the node's come first.
        """
        return ranked_test_files(
            self.node, self.dependents.test_steps, self.importers, self.namesakes, dict(self.together)
        )

    @property
    def direct(self) -> tuple[ReachedNode, ...]:
        return tuple(each for each in self.dependents if each.depth == 1)

    @property
    def capped(self) -> bool:
        return len(self.dependents) < self.total


@dataclass(frozen=True, slots=True)
class Dependencies:
    """Dependencies of a node."""

    node: str
    members: tuple[str, ...]
    dependencies: ReachedNodes
    capped: bool
    status: IndexStatus
    unresolved: tuple[NameCount, ...] = ()
    """Names that the node uses and whose targets are not known, most frequent first: it may depend on more."""

    @property
    def unresolved_total(self) -> int:
        return sum(each.uses for each in self.unresolved)


@dataclass(frozen=True, slots=True)
class PathStep:
    id: str
    kind: EdgeKind | None
    """Kind of the edge from the previous step; None for the first."""
    through: str | None = None
    """The overridden method that is called, if this step is an override."""
    source: GraphSource | None = None
    """Source of that edge."""
    confidence: float | None = None
    """Confidence of that edge."""


@dataclass(frozen=True, slots=True)
class DependencyPath:
    """A shortest dependency path between two nodes; false if there is none."""

    steps: tuple[PathStep, ...]
    score: float
    status: IndexStatus

    def __bool__(self) -> bool:
        return bool(self.steps)

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(step.id for step in self.steps)


@dataclass(frozen=True, slots=True)
class CodeEntry:
    """An entry point: a definition that is called from outside the code."""

    id: str
    definition: Definition
    depth: int | None = None
    """Steps from the entry point to the queried node."""
    path: tuple[str, ...] = ()
    """Ids from the entry point to that node."""
    test: bool = False
    """Whether it is in a test or in a file of tests, and so not an entry to the project itself."""

    @property
    def kind(self) -> EntryPoint | None:
        return self.definition.entry


class CodeEntries(CodeAnswers[CodeEntry]):
    """By name, the project's own first and tests last; or, for a node, nearest first."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Cycle:
    """Nodes that all depend on each other."""

    members: tuple[str, ...]
    example: tuple[str, ...]
    """A shortest cycle through the first member."""


class Cycles(CodeAnswers[Cycle]):
    """Largest first."""

    __slots__ = ()
