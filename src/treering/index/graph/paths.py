"""How one place of the code comes to use another."""

from collections.abc import Iterator

import numpy as np

from treering.index.graph.answers import Step
from treering.index.graph.kinds import KINDS, Ints
from treering.index.graph.steps import Direction, Served
from treering.index.graph.walk import Walked, walk


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
    steps = tuple(_steps(walked, last, names))
    return steps[::-1], round(float(walked.score[last]), 6)


def _steps(walked: Walked, place: int, names: list[str]) -> Iterator[Step]:
    """From the target back to where the way begins."""
    places = {node: each for each, node in enumerate(walked.node.tolist())}
    node: int | None = int(walked.node[place])
    while node is not None:
        at = places.get(node)
        through = walked.through.get(node)
        kind = None if at is None else KINDS[walked.kind[at]]
        yield Step(names[node], kind, None if through is None else names[through])
        node = None if at is None else int(walked.before[at])
