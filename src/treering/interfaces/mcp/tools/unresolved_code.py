"""Uses of code whose targets are not known, in the answers of the code tools."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from treering.core.delimiters import one_line
from treering.interfaces.mcp.tool import Result

if TYPE_CHECKING:
    from treering.code.facts import Unresolved
    from treering.code.graph import NameCount

_NAMES = 3
"""Maximum number of names in a sentence."""

UnresolvedArgument = Annotated[bool, Field(description="List unresolved uses instead.")]


class UnresolvedUse(Result):
    """A use whose target is not known."""

    at: str
    """File and line."""
    text: str


def listed_uses(found: "Sequence[Unresolved]", limit: int) -> tuple[UnresolvedUse, ...]:
    places = [(use.origin.partition("::")[0], use) for use in found[:limit]]
    return tuple(UnresolvedUse(at=f"{file}:{use.line}", text=one_line(use.text)) for file, use in places)


def use_line(use: UnresolvedUse) -> str:
    return f"- {one_line(use.at)}: {use.text}"


def unresolved_sentence(names: "Sequence[NameCount]", what: str) -> str:
    """A sentence that counts the uses without a known target; empty if there are none."""
    if not names:
        return ""
    listed = ", ".join(one_line(each.name) for each in names[:_NAMES])
    more = f" and {len(names) - _NAMES:,} other names" if len(names) > _NAMES else ""
    total = sum(each.uses for each in names)
    return f"{total:,} use{'' if total == 1 else 's'} of {listed}{more} {what}; unresolved=true lists them."
