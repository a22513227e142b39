"""Dependency paths between two nodes."""

from collections.abc import Iterator

import numpy as np

from treering.code.graph.answers import PathStep
from treering.code.graph.kind_columns import Ints
from treering.code.graph.kinds import KINDS
from treering.code.graph.last_edges import edge_evidence, last_rows
from treering.code.graph.steps import Direction, ServedGraph
from treering.code.graph.traversal import WalkResult, walk


def route(served: ServedGraph, origins: Ints, targets: Ints) -> tuple[tuple[PathStep, ...], float] | None:
    """A shortest path along uses from any origin to any target; among equals the best by score."""
    names = served.nodes.names
    shared = np.intersect1d(origins, targets)
    if len(shared):
        return (PathStep(names[int(origins[0])], None),), 1.0
    walked = walk(served, origins, Direction.DEPENDENCIES, until=targets)
    found = np.flatnonzero(np.isin(walked.node, targets))
    if not len(found):
        return None
    last = int(found[walked.at(found).best_first[0]])
    steps = tuple(_steps(walked, last, served))
    return steps[::-1], round(float(walked.score[last]), 6)


def _steps(walked: WalkResult, place: int, served: ServedGraph) -> Iterator[PathStep]:
    """Steps from the target back to the origin."""
    names, columns = served.nodes.names, served.edges.columns
    places = {node: each for each, node in enumerate(walked.node.tolist())}
    way = [place]
    while (before := places.get(int(walked.before[way[-1]]))) is not None:
        way.append(before)
    taken = walked.at(np.array(way))
    rows = last_rows(taken, Direction.DEPENDENCIES, served.edges)
    for node, row in zip(taken.node.tolist(), rows.tolist(), strict=True):
        through = walked.through.get(node)
        source, confidence = edge_evidence(int(columns.source[row]), float(columns.confidence[row]))
        kind = KINDS[columns.kind[row]]
        yield PathStep(names[node], kind, None if through is None else names[through], source, confidence)
    yield PathStep(names[int(taken.before[-1])], None)
