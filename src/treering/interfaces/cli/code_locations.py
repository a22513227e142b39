"""What people see of places in the code, and of how far an answer about code can be relied on."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from treering.interfaces.cli.layout import unbroken
from treering.interfaces.cli.views import FAINT, ID, safe

if TYPE_CHECKING:
    from treering.code.graph import Standing
    from treering.core.code_locations import CodeLocation

_INDENT = 4
_STALE = 5
"""Files that changed of which so many are named."""


def places(found: "Iterable[CodeLocation]") -> RenderableType:
    """Each with its lines, what it defines, and how it begins."""
    return Group(*(line for place in found for line in _place(place)))


def _place(place: "CodeLocation") -> "list[RenderableType]":
    where = f"{safe(place.path)}:{place.start_line}-{place.end_line}"
    head = unbroken(Text(where, ID), Text(f"  {safe(place.symbol)}" if place.symbol else "", FAINT))
    return [head, *([Padding(Text(safe(place.text)), (0, 0, 0, _INDENT))] if place.text else [])]


def relied_on(found: "Standing") -> Iterator[RenderableType]:
    """What an answer rests on that may not be so: a name that was guessed, files that are missing."""
    for guess in found.guessed:
        yield Text(f"no `{safe(guess.asked)}`; taken for {safe(guess.taken_for)}", "yellow")
    if found.incomplete:
        yield Text("the index is not complete, so something may be missing; `treering index` completes it", "yellow")
    if found.stale:
        named = ", ".join(map(safe, found.stale[:_STALE]))
        more = f" and {len(found.stale) - _STALE:,} more" if len(found.stale) > _STALE else ""
        advice = "; `treering index` reads them" if len(found.stale) > _STALE else ""
        yield Text(f"changed and not read again yet, so left out: {named}{more}{advice}", "yellow")
