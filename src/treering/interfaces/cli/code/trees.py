"""What a change reaches, or what something rests on, as a tree: each under what leads to it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from treering.core.graph import EdgeKind
from treering.interfaces.cli.layout import unbroken
from treering.interfaces.cli.views import FAINT, GOOD, ID, safe

if TYPE_CHECKING:
    from treering.code.graph import Tied

_USUAL = EdgeKind.CALLS
"""How most depend on each other: it need not be said."""


def tree(found: "Sequence[Tied]") -> RenderableType:
    """Nearest first at every branch. Whoever leads to one of them comes before it, so none hangs in the air."""
    ids = {each.id for each in found}
    below: dict[str | None, list[Tied]] = {}
    for each in found:
        before = each.path[-2]
        below.setdefault(before if before in ids else None, []).append(each)
    return Group(*_lines(below))


def _lines(below: "Mapping[str | None, list[Tied]]") -> Iterator[Text]:
    waiting = [(each, "", "") for each in reversed(below.get(None, []))]
    while waiting:
        each, joint, inner = waiting.pop()
        yield unbroken(Text(f"{each.score:.2f}  {joint}", FAINT), Text(safe(each.id), ID), *_marks(each))
        children = below.get(each.id, [])
        for child in reversed(children):
            ends = child is children[-1]
            waiting.append((child, inner + ("└─ " if ends else "├─ "), inner + ("   " if ends else "│  ")))


def _marks(each: "Tied") -> Iterator[Text]:
    if each.kind is not _USUAL:
        yield Text(f"  {each.kind.value.replace('_', ' ')}", FAINT)
    if each.test:
        yield Text("  test", GOOD)
