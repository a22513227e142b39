"""Where the outside comes in, and by which of these ways it comes to a node."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from treering.code.graph.answers import Entry
from treering.code.graph.module_names import is_test
from treering.code.graph.nodes import Nodes, file_of
from treering.code.graph.steps import Direction, Served
from treering.code.graph.traversal import walk

if TYPE_CHECKING:
    from treering.code.graph.kinds import Ints

_BESIDE = re.compile(r"(^|/)(examples?|samples?|demos?|docs?|bench(es|marks?)?)/")
"""Folders of code that shows or measures a project."""


def all_entries(served: Served) -> Iterator[Entry]:
    """Every entry point by name: the project's own, those of examples and the like, those in tests."""
    nodes = served.nodes
    every = (_entry(nodes, number) for number in nodes.definitions.entries(nodes.ordered))
    return iter(sorted(every, key=lambda entry: (entry.test, _BESIDE.search(entry.id) is not None)))


def entries_to(served: Served, members: Ints) -> Iterator[Entry]:
    """The entry points that come to one of the members, the shortest ways first; a member may be one itself."""
    nodes = served.nodes
    for number in nodes.definitions.entries(sorted(members.tolist(), key=nodes.rank.__getitem__)):
        yield _entry(nodes, number, 0, (nodes.names[number],))
    walked = walk(served, members, Direction.DEPENDENTS)
    walked = walked.at(walked.best_first)
    found = set(nodes.definitions.entries(walked.node))
    for place, number in enumerate(walked.node.tolist()):
        if number in found:
            way = tuple(map(nodes.names.__getitem__, reversed(walked.way(place))))
            yield _entry(nodes, number, int(walked.depth[place]), way)


def _entry(nodes: Nodes, number: int, depth: int | None = None, path: tuple[str, ...] = ()) -> Entry:
    definition = nodes.definition(number)
    assert definition is not None
    id = nodes.names[number]
    return Entry(id, definition, depth, path, definition.test or is_test(file_of(id)))
