"""What somebody looks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from treering.core.errors import InvalidInput
from treering.core.queries import Filter, KnowledgeFilter, TimeRange, TurnFilter

if TYPE_CHECKING:
    from treering.core.phases import Phase

ALL_KNOWLEDGE = KnowledgeFilter.defaults()
ALL_TURNS = TurnFilter.defaults()


@dataclass(frozen=True, slots=True)
class Recall:
    """What to look for. An empty query lists the newest; None for a filter leaves that kind out.

    `files` are those in play now, `phase` what the work is at. A `thorough` search may ask a language model,
    a `precise` one answers only with what the query is really about. With `repeated`, what says the same as a better
    result is a result too.
    """

    query: str
    knowledge: KnowledgeFilter | None
    turns: TurnFilter | None
    limit: int
    files: tuple[str, ...] = ()
    phase: Phase | None = None
    explain: bool = False
    thorough: bool = True
    precise: bool = False
    repeated: bool = False

    def filters(self) -> Mapping[str, Filter]:
        """By kind."""
        wanted: Mapping[str, Filter | None] = {"knowledge": self.knowledge, "turn": self.turns}
        return {kind: where for kind, where in wanted.items() if where is not None}


def standing(where: KnowledgeFilter) -> KnowledgeFilter:
    """Only what still holds: neither corrected nor doubted, unless the filter itself asks for such records."""
    return where.replace(
        deprecated=False if where.deprecated is None else where.deprecated,
        flagged=False if where.flagged is None else where.flagged,
    )


def holding(where: KnowledgeFilter, now: datetime) -> KnowledgeFilter:
    """Only what holds at the time that the filter speaks of: neither corrected, doubted nor out of date."""
    if where.deprecated or where.flagged:
        raise InvalidInput("precise recall never answers with what was corrected or is doubted; leave one of them out")
    then = where.believed_at or now
    return where.replace(
        deprecated=where.deprecated if where.believed_at else False,
        flagged=False,
        valid_at=then if where.valid_at is None else where.valid_at,
    )


def believed(where: KnowledgeFilter | None, at: datetime) -> KnowledgeFilter | None:
    """Only what was known at that time and had not been corrected yet."""
    return None if where is None else where.replace(believed_at=at, flagged=False)


def said_by(where: TurnFilter | None, at: datetime) -> TurnFilter | None:
    """Only what had been said by then."""
    if where is None:
        return None
    since = where.said.since if where.said else None
    before = where.said.before if where.said else None
    return where.replace(said=TimeRange(since=since, before=at if before is None else min(before, at)))
