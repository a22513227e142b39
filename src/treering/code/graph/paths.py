"""How one place of the code comes to use another."""

from collections.abc import Iterator

import numpy as np

from treering.code.graph.answers import Step
from treering.code.graph.kinds import KINDS, Ints
from treering.code.graph.last_edges import last_rows, told
from treering.code.graph.steps import Direction, Served
from treering.code.graph.traversal import Walked, walk


def route(served: Served, origins: Ints, targets: Ints) -> tuple[tuple[Step, ...], float] | None:
    """The shortest way along uses from any of the origins to any of the targets; of equals the best by score."""
    names = served.nodes.names
    shared = np.intersect1d(origins, targets)
    if len(shared):
        return (Step(names[int(origins[0])], None),), 1.0
    walked = walk(served, origins, Direction.DEPENDENCIES, until=targets)
    found = np.flatnonzero(np.isin(walked.node, targets))
    if not len(found):
        return None
    last = int(found[walked.at(found).best_first[0]])
    steps = tuple(_steps(walked, last, served))
    return steps[::-1], round(float(walked.score[last]), 6)


def _steps(walked: Walked, place: int, served: Served) -> Iterator[Step]:
    """From the target back to where the way begins."""
    names, columns = served.nodes.names, served.edges.columns
    places = {node: each for each, node in enumerate(walked.node.tolist())}
    way = [place]
    while (before := places.get(int(walked.before[way[-1]]))) is not None:
        way.append(before)
    taken = walked.at(np.array(way))
    rows = last_rows(taken, Direction.DEPENDENCIES, served.edges)
    for node, row in zip(taken.node.tolist(), rows.tolist(), strict=True):
        through = walked.through.get(node)
        source, confidence = told(int(columns.source[row]), float(columns.confidence[row]))
        kind = KINDS[columns.kind[row]]
        yield Step(names[node], kind, None if through is None else names[through], source, confidence)
    yield Step(names[int(taken.before[-1])], None)
