"""Where data goes from a definition, and where its data comes from.

A call moves its arguments into the callee and its result back into the caller. Data that went down into a callee comes
back only to the call that sent it, so a way that could really be gone first rises with results to callers, callers of
callers, and then descends with arguments: never down into a shared function and up to somebody else who calls it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from treering.code.facts import CallFlow
from treering.code.graph.kinds import CALLS, FLOWS_TO, Ints
from treering.code.graph.last_edges import Told, told

if TYPE_CHECKING:
    from treering.code.graph.answers import Standing
    from treering.code.graph.steps import Served
    from treering.core.graph import GraphSource


class Carried(StrEnum):
    """How data gets from one definition to the next."""

    ARGUMENT = "argument"
    RESULT = "result"
    FLOW = "flow"


@dataclass(frozen=True, slots=True)
class Flowing:
    id: str
    depth: int
    path: tuple[str, ...]
    """In the direction of the data."""
    carried: Carried
    """By what, at this end of the path."""
    source: GraphSource
    """Who told the edge there."""
    confidence: float
    """How sure it is."""


@dataclass(frozen=True, slots=True)
class DataFlow:
    node: str
    sources: tuple[Flowing, ...]
    """Where its data comes from, nearest first."""
    sinks: tuple[Flowing, ...]
    """Where its data goes, nearest first."""
    capped: bool
    standing: Standing


class _Move(NamedTuple):
    """A kind of step: whose edges to look at, what the edge must be, and in which phase it may be taken."""

    carried: Carried
    along_users: bool
    flow: CallFlow
    phases: tuple[int, ...]
    next_phase: int


# Data leaves by results to who calls, then by arguments to who is called; a flow that is stated begins anew.
_OUT = (
    _Move(Carried.RESULT, True, CallFlow.RESULT, (0,), 0),
    _Move(Carried.ARGUMENT, False, CallFlow.ARGUMENTS, (0, 1), 1),
    _Move(Carried.FLOW, True, CallFlow.NOTHING, (0, 1), 0),
)
# Backwards the same: data came by arguments from who calls, before that by results of who was called.
_IN = (
    _Move(Carried.ARGUMENT, True, CallFlow.ARGUMENTS, (0,), 0),
    _Move(Carried.RESULT, False, CallFlow.RESULT, (0, 1), 1),
    _Move(Carried.FLOW, False, CallFlow.NOTHING, (0, 1), 0),
)


def sinks(served: Served, members: Ints, depth: int, cap: int) -> tuple[tuple[Flowing, ...], bool]:
    return _follow(served, members, _OUT, depth, cap)


def sources(served: Served, members: Ints, depth: int, cap: int) -> tuple[tuple[Flowing, ...], bool]:
    found, capped = _follow(served, members, _IN, depth, cap)
    return tuple(replace(each, path=each.path[::-1]) for each in found), capped


def _follow(
    served: Served, members: Ints, moves: tuple[_Move, ...], depth: int, cap: int
) -> tuple[tuple[Flowing, ...], bool]:
    names, rank = served.nodes.names, served.nodes.rank
    starts = sorted(members.tolist(), key=rank.__getitem__)
    waiting: deque[tuple[int, int, tuple[str, ...]]] = deque((node, 0, (names[node],)) for node in starts)
    seen = {(node, 0) for node in starts}
    met = set(starts)
    found: list[Flowing] = []
    while waiting:
        node, phase, path = waiting.popleft()
        if len(path) > depth:
            continue
        for neighbour, carried, next_phase, last in _moves(served, node, phase, moves):
            if (neighbour, next_phase) in seen:
                continue
            seen.add((neighbour, next_phase))
            way = (*path, names[neighbour])
            waiting.append((neighbour, next_phase, way))
            if neighbour not in met:
                if len(found) == cap:
                    return tuple(found), True
                met.add(neighbour)
                found.append(Flowing(names[neighbour], len(path), way, carried, *last))
    return tuple(found), False


def _moves(served: Served, node: int, phase: int, moves: tuple[_Move, ...]) -> Iterator[tuple[int, Carried, int, Told]]:
    """The steps from a node in a phase, by name; each with the surest edge of it."""
    nodes, columns = served.nodes, served.edges.columns
    for move in moves:
        if phase not in move.phases:
            continue
        adjacency = served.edges.users if move.along_users else served.edges.used
        kind = FLOWS_TO if move.carried is Carried.FLOW else CALLS
        rows, neighbours = adjacency.rows_of(node), adjacency.neighbours_of(node)
        chosen = (columns.kind[rows] == kind) & nodes.exists[neighbours]
        chosen &= columns.confidence[rows] >= served.least_confidence
        if move.flow:
            chosen &= (columns.flow[rows] & move.flow) != 0
        confidence, source = columns.confidence[rows[chosen]], columns.source[rows[chosen]]
        surest: dict[int, Told] = {}
        for place in np.lexsort((source, -confidence)).tolist():
            surest.setdefault(int(neighbours[chosen][place]), told(int(source[place]), float(confidence[place])))
        for neighbour in sorted(surest, key=nodes.rank.__getitem__):
            yield neighbour, move.carried, move.next_phase, surest[neighbour]
