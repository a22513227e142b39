"""Data flow from and to a definition.

A call passes its arguments to the callee and its result back to the caller. Data goes on from there only where the code
shows it: a caller's result contains the result of a call that it returns, and a callee passes its parameters on to the
calls that are given them. What else happens to data inside a function is unknown, and such flows are not shown.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from treering.code.facts import CallFlow
from treering.code.graph.kinds import CALLS, FLOWS_TO, Ints
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


class _FlowPhase(Enum):
    START = 0
    UP = 1
    """Through results to callers, or from arguments of callers."""
    DOWN = 2
    """Through arguments to callees, or from results of callees."""


class _FlowStep(NamedTuple):
    """A kind of step: which edges to follow, in which phases it may be taken, and what must be known to go on."""

    carried: FlowKind
    along_users: bool
    needed: Mapping[_FlowPhase, CallFlow]
    """By phase: the flags of an edge that may be followed."""
    going_on: CallFlow
    """Flags of the edge without which the walk ends behind it."""
    next_phase: _FlowPhase


_START, _UP, _DOWN = _FlowPhase
_ANY = CallFlow.NOTHING

_OUT = (
    _FlowStep(FlowKind.RESULT, True, {_START: CallFlow.RESULT, _UP: CallFlow.RESULT}, CallFlow.RETURNED, _UP),
    _FlowStep(FlowKind.ARGUMENT, False, {_START: CallFlow.ARGUMENTS, _DOWN: CallFlow.PASSED_ON}, _ANY, _DOWN),
    _FlowStep(FlowKind.FLOW, True, dict.fromkeys(_FlowPhase, _ANY), _ANY, _START),
)
_IN = (
    _FlowStep(FlowKind.ARGUMENT, True, {_START: CallFlow.ARGUMENTS, _UP: CallFlow.ARGUMENTS}, CallFlow.PASSED_ON, _UP),
    _FlowStep(FlowKind.RESULT, False, {_START: CallFlow.RESULT, _DOWN: CallFlow.RETURNED}, _ANY, _DOWN),
    _FlowStep(FlowKind.FLOW, False, dict.fromkeys(_FlowPhase, _ANY), _ANY, _START),
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
    waiting: deque[tuple[int, _FlowPhase, tuple[str, ...]]] = deque((node, _START, (names[node],)) for node in starts)
    seen = {(node, _START) for node in starts}
    met = set(starts)
    found: list[FlowNode] = []
    while waiting:
        node, phase, path = waiting.popleft()
        if len(path) > depth:
            continue
        for neighbour, carried, next_phase, last in _steps_from(served, node, phase, moves):
            way = (*path, names[neighbour])
            if next_phase is not None and (neighbour, next_phase) not in seen:
                seen.add((neighbour, next_phase))
                waiting.append((neighbour, next_phase, way))
            if neighbour not in met:
                if len(found) == cap:
                    return tuple(found), True
                met.add(neighbour)
                found.append(FlowNode(names[neighbour], len(path), way, carried, *last))
    return tuple(found), False


def _steps_from(
    served: ServedGraph, node: int, phase: _FlowPhase, moves: tuple[_FlowStep, ...]
) -> Iterator[tuple[int, FlowKind, _FlowPhase | None, EdgeEvidence]]:
    """The steps from a node in a phase, by name, each with its most certain edge; the phase is None where they end."""
    nodes, columns = served.nodes, served.edges.columns
    for move in moves:
        if phase not in move.needed:
            continue
        adjacency = served.edges.users if move.along_users else served.edges.used
        kind = FLOWS_TO if move.carried is FlowKind.FLOW else CALLS
        rows, neighbours = adjacency.rows_of(node), adjacency.neighbours_of(node)
        chosen = (columns.kind[rows] == kind) & nodes.exists[neighbours]
        chosen &= columns.confidence[rows] >= served.min_confidence
        if needed := move.needed[phase]:
            chosen &= (columns.flow[rows] & needed) != 0
        rows, neighbours = rows[chosen], neighbours[chosen]
        confidence, source = columns.confidence[rows], columns.source[rows]
        surest: dict[int, EdgeEvidence] = {}
        for place in np.lexsort((source, -confidence)).tolist():
            surest.setdefault(int(neighbours[place]), edge_evidence(int(source[place]), float(confidence[place])))
        lasting = neighbours[(columns.flow[rows] & move.going_on) == move.going_on].tolist()
        for neighbour in sorted(surest, key=nodes.rank.__getitem__):
            yield neighbour, move.carried, move.next_phase if neighbour in lasting else None, surest[neighbour]
