"""Candidates for a name, and how they match."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from treering.code.graph.answers import UP_TO_DATE, IndexStatus

if TYPE_CHECKING:
    from treering.code.facts import DefinitionKind


class MatchReason(StrEnum):
    """How a name was matched, the most certain first."""

    EXACT = "exactly this"
    LINE = "at this line"
    END = "ends with this"
    PARTS = "has these parts in this order"
    SPELLING = "the same in another spelling"
    TYPO = "a letter or two away"
    BEGINNING = "begins with this"
    INSIDE = "contains this"


_GUESSES = frozenset({MatchReason.TYPO, MatchReason.BEGINNING, MatchReason.INSIDE})


@dataclass(frozen=True, slots=True)
class NameMatch:
    id: str
    kind: DefinitionKind | None
    """None for files and folders; the id of a folder ends with a slash."""
    why: MatchReason
    aside: bool = False
    """Whether other matches are preferred: local definitions, tests and constructors yield to others, files to
    definitions."""


@dataclass(frozen=True, slots=True)
class NameMatches:
    """Nodes that a name may refer to: everything that matches in the best way, up to the limit."""

    asked: str
    matches: tuple[NameMatch, ...]
    left_out: int = 0
    """Number of matches beyond the limit."""
    status: IndexStatus = UP_TO_DATE

    @property
    def preferred(self) -> tuple[NameMatch, ...]:
        """Matches that are not aside: one, or several equally good ones."""
        return tuple(match for match in self.matches if not match.aside)

    @property
    def only(self) -> str | None:
        """The id, if the name refers to exactly one node and not merely occurs inside its name."""
        certain = len(self.preferred) == 1 and (not self.left_out or len(self.matches) > 1)
        return self.matches[0].id if certain and self.matches[0].why is not MatchReason.INSIDE else None

    @property
    def ambiguous(self) -> bool:
        return len(self.preferred) > 1 or (len(self.matches) == 1 and bool(self.left_out))

    @property
    def guessed(self) -> bool:
        """Whether the name does not exist: matches are only similar, or a file at another path."""
        first = self.matches[0] if self.matches else None
        return first is not None and (first.why in _GUESSES or (first.why is MatchReason.PARTS and first.kind is None))
