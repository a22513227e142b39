"""Where the outside comes in, and by which of these ways it comes to a node."""

from collections.abc import Iterator

from treering.index.graph.answers import Entry, Ties
from treering.index.graph.kinds import Ints
from treering.index.graph.steps import Direction, Served
from treering.index.graph.walk import walk


def all_entries(served: Served) -> Iterator[Entry]:
    """Every entry point, by name."""
    nodes = served.nodes
    for number in nodes.ordered:
        definition = nodes.definition[number]
        if definition is not None and definition.entry is not None:
            yield Entry(nodes.names[number], definition)


def entries_to(served: Served, members: Ints) -> Iterator[Entry]:
    """The entry points that come to one of the members, the shortest ways first; a member may be one itself."""
    nodes = served.nodes
    for number in sorted(members.tolist(), key=nodes.rank.__getitem__):
        definition = nodes.definition[number]
        if definition is not None and definition.entry is not None:
            yield Entry(nodes.names[number], definition, 0, (nodes.names[number],))
    walked = walk(served, members, Direction.DEPENDENTS)
    walked = walked.at(walked.best_first)
    ties = Ties(walked, nodes)
    for place, number in enumerate(walked.node.tolist()):
        definition = nodes.definition[number]
        if definition is not None and definition.entry is not None:
            yield Entry(nodes.names[number], definition, ties[place].depth, ties[place].path[::-1])
