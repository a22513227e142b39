"""What a name may mean, and how surely."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from treering.code.graph.answers import WHOLE, Standing

if TYPE_CHECKING:
    from treering.code.facts import DefinitionKind


class Why(StrEnum):
    """How a name was understood, the surest first."""

    EXACT = "exactly this"
    LINE = "what stands at this line"
    END = "ends with this"
    PARTS = "has these parts in this order"
    SPELLING = "the same in another spelling"
    TYPO = "a letter or two away"
    BEGINNING = "begins with this"
    INSIDE = "contains this"


_GUESSES = frozenset({Why.TYPO, Why.BEGINNING, Why.INSIDE})


@dataclass(frozen=True, slots=True)
class Match:
    id: str
    kind: DefinitionKind | None
    """None for a file, and for a folder, whose id ends with a slash."""
    why: Why
    aside: bool = False
    """Others fit as well, and are meant rather: what stands inside a function or in a test yields to what does not, and
    a file to a definition."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a name may mean. Everything that fits in the same way is here, up to the limit."""

    asked: str
    matches: tuple[Match, ...]
    left_out: int = 0
    """Matches beyond the limit."""
    standing: Standing = WHOLE

    @property
    def meant(self) -> tuple[Match, ...]:
        """Those that are not aside: one, or equals."""
        return tuple(match for match in self.matches if not match.aside)

    @property
    def only(self) -> str | None:
        """The id, if the name means one thing, which more than contains it."""
        certain = len(self.meant) == 1 and (not self.left_out or len(self.matches) > 1)
        return self.matches[0].id if certain and self.matches[0].why is not Why.INSIDE else None

    @property
    def ambiguous(self) -> bool:
        return len(self.meant) > 1 or (len(self.matches) == 1 and bool(self.left_out))

    @property
    def guessed(self) -> bool:
        """Whether nothing is called so: what is here only resembles it, or is a file that stands elsewhere."""
        first = self.matches[0] if self.matches else None
        return first is not None and (first.why in _GUESSES or (first.why is Why.PARTS and first.kind is None))
