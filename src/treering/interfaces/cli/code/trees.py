"""Dependents or dependencies as a tree: each below the node that leads to it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from treering.core.graph import EdgeKind
from treering.interfaces.cli.layout import unbroken
from treering.interfaces.cli.views import FAINT, GOOD, ID, safe

if TYPE_CHECKING:
    from treering.code.graph import ReachedNode

_USUAL = EdgeKind.CALLS
"""The most frequent kind, which is not shown."""


def tree(found: "Sequence[ReachedNode]") -> RenderableType:
    """Nearest first on every level. The predecessor of each node comes before it in `found`."""
    ids = {each.id for each in found}
    below: dict[str | None, list[ReachedNode]] = {}
    for each in found:
        before = each.path[-2]
        below.setdefault(before if before in ids else None, []).append(each)
    return Group(*_lines(below))


def _lines(below: "Mapping[str | None, list[ReachedNode]]") -> Iterator[Text]:
    waiting = [(each, "", "") for each in reversed(below.get(None, []))]
    while waiting:
        each, joint, inner = waiting.pop()
        yield unbroken(Text(f"{each.score:.2f}  {joint}", FAINT), Text(safe(each.id), ID), *_marks(each))
        children = below.get(each.id, [])
        for child in reversed(children):
            ends = child is children[-1]
            waiting.append((child, inner + ("└─ " if ends else "├─ "), inner + ("   " if ends else "│  ")))


def _marks(each: "ReachedNode") -> Iterator[Text]:
    if each.kind is not _USUAL:
        yield Text(f"  {each.kind.value.replace('_', ' ')}", FAINT)
    if each.test:
        yield Text("  test", GOOD)
