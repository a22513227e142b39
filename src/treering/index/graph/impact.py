"""What breaks if this changes, and what it rests on."""

import numpy as np

from treering.index.graph.answers import Ties
from treering.index.graph.kinds import IMPORTS, Ints
from treering.index.graph.steps import Direction, Served
from treering.index.graph.walk import Walked, best_first, walk


def dependents(served: Served, members: Ints, *, depth: int | None, cap: int | None) -> Walked:
    """Who feels a change of the members, and the files that hand one of them on.

    A file that hands something on passes the thing itself; who takes it from there has edges of its own to it, so that
    the walk does not go on through such files.
    """
    walked = walk(served, members, Direction.DEPENDENTS, depth=depth, cap=cap)
    exports = served.along(served.edges.exporters, members)
    if not len(exports.place):
        return walked
    met = np.concatenate((members, walked.node))
    fresh = np.flatnonzero(served.nodes.exists[exports.neighbour] & ~np.isin(exports.neighbour, met))
    if depth == 0 or not len(fresh):
        return walked
    rank = served.nodes.rank
    order = np.lexsort((rank[members[exports.place[fresh]]], -exports.factor[fresh], rank[exports.neighbour[fresh]]))
    fresh = fresh[order]
    fresh = fresh[np.unique(exports.neighbour[fresh], return_index=True)[1]]
    joined = Walked(
        np.concatenate((walked.node, exports.neighbour[fresh])),
        np.concatenate((walked.depth, np.ones(len(fresh), np.int32))),
        np.concatenate((walked.score, exports.factor[fresh])),
        np.concatenate((walked.before, members[exports.place[fresh]])),
        np.concatenate((walked.kind, exports.kind[fresh])),
        walked.through,
        walked.whole and (cap is None or len(walked.node) + len(fresh) <= cap),
    )
    return joined if joined.whole else joined.at(best_first(joined, rank)[:cap])


def importers(served: Served, node: int, members: Ints) -> list[int]:
    """The files that import the node's file or one that hands it on, in the order of their names."""
    nodes, users = served.nodes, served.edges.users
    files = {int(nodes.home[node]), *served.along(served.edges.exporters, members).neighbour.tolist()}
    found: set[int] = set()
    for file in files:
        if nodes.exists[file]:
            steps = served.along(users, np.array([file], np.int32))
            found.update(steps.neighbour[steps.kind == IMPORTS].tolist())
    there = (file for file in found - files if nodes.exists[file])
    return sorted(there, key=nodes.rank.__getitem__)


def ties(served: Served, walked: Walked) -> Ties:
    return Ties(walked, served.nodes)
