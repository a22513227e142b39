"""Views of code locations, and warnings about answers that rest on an incomplete index."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from treering.interfaces.cli.layout import unbroken
from treering.interfaces.cli.views import FAINT, ID, safe

if TYPE_CHECKING:
    from treering.code.graph import IndexStatus
    from treering.core.code_locations import CodeLocation

_INDENT = 4
_MAX_STALE = 5
"""Changed files that are named."""


def places(found: "Iterable[CodeLocation]") -> RenderableType:
    """Each location with its lines, its symbol and the beginning of its text."""
    return Group(*(line for place in found for line in _place(place)))


def _place(place: "CodeLocation") -> "list[RenderableType]":
    where = f"{safe(place.path)}:{place.start_line}-{place.end_line}"
    head = unbroken(Text(where, ID), Text(f"  {safe(place.symbol)}" if place.symbol else "", FAINT))
    return [head, *([Padding(Text(safe(place.text)), (0, 0, 0, _INDENT))] if place.text else [])]


def index_warnings(found: "IndexStatus") -> Iterator[RenderableType]:
    """Reasons why an answer may be wrong: a guessed name, an incomplete index, changed files."""
    for guess in found.guessed:
        yield Text(f"no `{safe(guess.asked)}`; used {safe(guess.taken_for)} instead", "yellow")
    if found.definitions_only:
        languages = ", ".join(found.definitions_only)
        yield Text(f"definitions only in {languages}: users are known by name only", "yellow")
    for note in found.notes:
        yield Text(safe(note), "yellow")
    if found.incomplete:
        yield Text("the index is not complete, so results may be missing; run `treering index`", "yellow")
    if found.stale:
        named = ", ".join(map(safe, found.stale[:_MAX_STALE]))
        more = f" and {len(found.stale) - _MAX_STALE:,} more" if len(found.stale) > _MAX_STALE else ""
        advice = "; run `treering index`" if len(found.stale) > _MAX_STALE else ""
        yield Text(f"changed since they were indexed, so left out: {named}{more}{advice}", "yellow")
