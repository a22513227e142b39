"""Transitive dependents of a node, files that import it, and definitions that handle its errors."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from treering.code.graph.kind_columns import Ints
from treering.code.graph.kinds import CATCHES, IMPORTS, INHERITS, RAISES
from treering.code.graph.ranked_tests import namesake_test_files
from treering.code.graph.steps import Direction, ServedGraph
from treering.code.graph.traversal import WalkResult, packed, reached, walk

if TYPE_CHECKING:
    from treering.code.graph.adjacency import Adjacency


def dependents(served: ServedGraph, members: Ints, *, depth: int | None, cap: int | None) -> WalkResult:
    """Nodes that a change of the members affects, and files that re-export them.

    The walk does not continue through re-exporting files: their importers have edges of their own to the definition.
    """
    walked = walk(served, members, Direction.DEPENDENTS, depth=depth, cap=cap)
    if depth == 0 or not served.edges.exporters.length.take(members).any():
        return walked
    exports = served.along(served.edges.exporters, members)
    met = np.concatenate((members, walked.node))
    fresh = np.flatnonzero(served.nodes.exists[exports.neighbour] & ~np.isin(exports.neighbour, met))
    if not len(fresh):
        return walked
    rank = served.nodes.rank
    order = np.lexsort((rank[members[exports.place[fresh]]], -exports.factor[fresh], rank[exports.neighbour[fresh]]))
    fresh = fresh[order]
    fresh = fresh[np.unique(exports.neighbour[fresh], return_index=True)[1]]
    edge = packed(exports.factor[fresh], members[exports.place[fresh]], exports.kind[fresh], rank)
    joined = replace(
        walked,
        node=np.concatenate((walked.node, exports.neighbour[fresh])),
        depth=np.concatenate((walked.depth, np.ones(len(fresh), np.int32))),
        edge=np.concatenate((walked.edge, edge)),
        complete=walked.complete and (cap is None or len(walked.node) + len(fresh) <= cap),
    )
    return joined if joined.complete else joined.at(joined.best_first[:cap])


def importers(served: ServedGraph, members: Ints) -> list[int]:
    """Files that import the members' files or files that re-export them, sorted by name."""
    nodes, users = served.nodes, served.edges.users
    files = set(nodes.home.take(members).tolist())
    if served.edges.exporters.length.take(members).any():
        files.update(served.along(served.edges.exporters, members).neighbour.tolist())
    found: set[int] = set()
    for file in files:
        if nodes.exists[file]:
            steps = served.along(users, np.array([file]))
            found.update(steps.neighbour[steps.kind == IMPORTS].tolist())
    there = (file for file in found - files if nodes.exists[file])
    return sorted(there, key=nodes.rank.__getitem__)


def namesakes(served: ServedGraph, node: str) -> tuple[str, ...]:
    """The nearest files of tests that are named like the node, its class or its file."""
    nodes = served.nodes
    files = np.flatnonzero(nodes.exists & (nodes.home == np.arange(len(nodes.home))))
    return namesake_test_files(node, map(nodes.names.__getitem__, files.tolist()))


def error_handlers(served: ServedGraph, members: Ints) -> list[int]:
    """Dependents that catch what the members raise, or a base of it, sorted by name: they handle their errors."""
    used, users, nodes = served.edges.used, served.edges.users, served.nodes
    waiting = _targets(served, used, members, [RAISES])
    classes: set[int] = set()
    while waiting:
        classes |= waiting
        waiting = _targets(served, used, np.fromiter(waiting, np.int32, len(waiting)), [*INHERITS]) - classes
    if not classes:
        return []
    catching = _targets(served, users, np.fromiter(classes, np.int32, len(classes)), [CATCHES])
    if not catching:
        return []
    dependent = reached(served, members, Direction.DEPENDENTS)
    found = (node for node in catching.difference(members.tolist()) if dependent[node])
    return sorted(found, key=nodes.rank.__getitem__)


def _targets(served: ServedGraph, adjacency: Adjacency, nodes: Ints, kinds: list[int]) -> set[int]:
    """Neighbours of the nodes by edges of these kinds."""
    steps = served.along(adjacency, nodes)
    return set(steps.neighbour[np.isin(steps.kind, kinds)].tolist())
