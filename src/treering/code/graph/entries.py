"""Entry points, and the paths from them to a node."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from treering.code.graph.answers import CodeEntry
from treering.code.graph.module_names import is_test
from treering.code.graph.nodes import Nodes, file_of
from treering.code.graph.steps import Direction, ServedGraph
from treering.code.graph.traversal import walk

if TYPE_CHECKING:
    from treering.code.graph.kind_columns import Ints

_AUXILIARY = re.compile(r"(^|/)(examples?|samples?|demos?|docs?|bench(es|marks?)?)/")
"""Folders with code that demonstrates or measures a project."""


def all_entries(served: ServedGraph) -> Iterator[CodeEntry]:
    """Every entry point by name: first the project's own, then those of examples and the like, then those in tests."""
    nodes = served.nodes
    every = (_entry(nodes, number) for number in nodes.definitions.entries(nodes.ordered))
    return iter(sorted(every, key=lambda entry: (entry.test, _AUXILIARY.search(entry.id) is not None)))


def entries_to(served: ServedGraph, members: Ints) -> Iterator[CodeEntry]:
    """Entry points that reach one of the members, shortest path first; a member may be one itself."""
    nodes = served.nodes
    for number in nodes.definitions.entries(sorted(members.tolist(), key=nodes.rank.__getitem__)):
        yield _entry(nodes, number, 0, (nodes.names[number],))
    walked = walk(served, members, Direction.DEPENDENTS)
    walked = walked.at(walked.best_first)
    found = set(nodes.definitions.entries(walked.node))
    for place, number in enumerate(walked.node.tolist()):
        if number in found:
            way = tuple(map(nodes.names.__getitem__, reversed(walked.path_to(place))))
            yield _entry(nodes, number, int(walked.depth[place]), way)


def _entry(nodes: Nodes, number: int, depth: int | None = None, path: tuple[str, ...] = ()) -> CodeEntry:
    definition = nodes.definition(number)
    assert definition is not None
    id = nodes.names[number]
    return CodeEntry(id, definition, depth, path, definition.test or is_test(file_of(id)))
