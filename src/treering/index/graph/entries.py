"""Where the outside comes in, and by which of these ways it comes to a node."""

from collections.abc import Iterator

from treering.index.graph.answers import Entry, Ties
from treering.index.graph.kinds import Ints
from treering.index.graph.nodes import Nodes
from treering.index.graph.steps import Direction, Served
from treering.index.graph.walk import walk


def all_entries(served: Served) -> Iterator[Entry]:
    """Every entry point, by name."""
    nodes = served.nodes
    for number in nodes.definitions.entries(nodes.ordered):
        yield _entry(nodes, number)


def entries_to(served: Served, members: Ints) -> Iterator[Entry]:
    """The entry points that come to one of the members, the shortest ways first; a member may be one itself."""
    nodes = served.nodes
    for number in nodes.definitions.entries(sorted(members.tolist(), key=nodes.rank.__getitem__)):
        yield _entry(nodes, number, 0, (nodes.names[number],))
    walked = walk(served, members, Direction.DEPENDENTS)
    walked = walked.at(walked.best_first)
    ties = Ties(walked, nodes)
    found = set(nodes.definitions.entries(walked.node))
    for place, number in enumerate(walked.node.tolist()):
        if number in found:
            tied = ties[place]
            yield _entry(nodes, number, tied.depth, tied.path[::-1])


def _entry(nodes: Nodes, number: int, depth: int | None = None, path: tuple[str, ...] = ()) -> Entry:
    definition = nodes.definition(number)
    assert definition is not None
    return Entry(nodes.names[number], definition, depth, path)
