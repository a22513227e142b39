"""Data flow from and to a definition.

A call passes its arguments to the callee and its result back to the caller. What a function does with data is not
known: that a caller uses a result and calls another function does not say that one reaches the other. So flows through
calls end after one call; only explicit `flows_to` edges lead further.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from treering.code.facts import CallFlow
from treering.code.graph.kind_columns import Ints
from treering.code.graph.kinds import CALLS, FLOWS_TO
from treering.code.graph.last_edges import EdgeEvidence, edge_evidence

if TYPE_CHECKING:
    from treering.code.graph.answers import IndexStatus
    from treering.code.graph.steps import ServedGraph
    from treering.core.graph import GraphSource


class FlowKind(StrEnum):
    """How data gets from one definition to the next."""

    ARGUMENT = "argument"
    RESULT = "result"
    FLOW = "flow"


@dataclass(frozen=True, slots=True)
class FlowNode:
    id: str
    depth: int
    path: tuple[str, ...]
    """Ids in the direction of the data."""
    carried: FlowKind
    """How the data moves at this end of the path."""
    source: GraphSource
    """Source of the edge at this end."""
    confidence: float
    """Confidence of that edge."""


@dataclass(frozen=True, slots=True)
class DataFlow:
    node: str
    sources: tuple[FlowNode, ...]
    """Where the data comes from, nearest first."""
    sinks: tuple[FlowNode, ...]
    """Where the data goes, nearest first."""
    capped: bool
    status: IndexStatus


class _FlowStep(NamedTuple):
    """A kind of step: which edges to follow, and what a call must move."""

    carried: FlowKind
    along_users: bool
    flow: CallFlow


_OUT = (
    _FlowStep(FlowKind.RESULT, True, CallFlow.RESULT),
    _FlowStep(FlowKind.ARGUMENT, False, CallFlow.ARGUMENTS),
    _FlowStep(FlowKind.FLOW, True, CallFlow.NOTHING),
)
_IN = (
    _FlowStep(FlowKind.ARGUMENT, True, CallFlow.ARGUMENTS),
    _FlowStep(FlowKind.RESULT, False, CallFlow.RESULT),
    _FlowStep(FlowKind.FLOW, False, CallFlow.NOTHING),
)


def sinks(served: ServedGraph, members: Ints, depth: int, cap: int) -> tuple[tuple[FlowNode, ...], bool]:
    return _follow(served, members, _OUT, depth, cap)


def sources(served: ServedGraph, members: Ints, depth: int, cap: int) -> tuple[tuple[FlowNode, ...], bool]:
    found, capped = _follow(served, members, _IN, depth, cap)
    return tuple(replace(each, path=each.path[::-1]) for each in found), capped


def _follow(
    served: ServedGraph, members: Ints, moves: tuple[_FlowStep, ...], depth: int, cap: int
) -> tuple[tuple[FlowNode, ...], bool]:
    names, rank = served.nodes.names, served.nodes.rank
    starts = sorted(members.tolist(), key=rank.__getitem__)
    waiting: deque[tuple[int, tuple[str, ...]]] = deque((node, (names[node],)) for node in starts)
    met = set(starts)
    found: list[FlowNode] = []
    while waiting:
        node, path = waiting.popleft()
        if len(path) > depth:
            continue
        for neighbour, carried, last in _steps_from(served, node, moves):
            if neighbour in met:
                continue
            if len(found) == cap:
                return tuple(found), True
            met.add(neighbour)
            way = (*path, names[neighbour])
            found.append(FlowNode(names[neighbour], len(path), way, carried, *last))
            if carried is FlowKind.FLOW:
                waiting.append((neighbour, way))
    return tuple(found), False


def _steps_from(
    served: ServedGraph, node: int, moves: tuple[_FlowStep, ...]
) -> Iterator[tuple[int, FlowKind, EdgeEvidence]]:
    """The steps from a node, by name, each with its most certain edge."""
    nodes, columns = served.nodes, served.edges.columns
    for move in moves:
        adjacency = served.edges.users if move.along_users else served.edges.used
        kind = FLOWS_TO if move.carried is FlowKind.FLOW else CALLS
        rows, neighbours = adjacency.rows_of(node), adjacency.neighbours_of(node)
        chosen = (columns.kind[rows] == kind) & nodes.exists[neighbours]
        chosen &= columns.confidence[rows] >= served.min_confidence
        if move.flow:
            chosen &= (columns.flow[rows] & move.flow) != 0
        confidence, source = columns.confidence[rows[chosen]], columns.source[rows[chosen]]
        surest: dict[int, EdgeEvidence] = {}
        for place in np.lexsort((source, -confidence)).tolist():
            surest.setdefault(
                int(neighbours[chosen][place]), edge_evidence(int(source[place]), float(confidence[place]))
            )
        for neighbour in sorted(surest, key=nodes.rank.__getitem__):
            yield neighbour, move.carried, surest[neighbour]
