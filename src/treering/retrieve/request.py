"""What somebody looks for."""

from collections.abc import Mapping
from dataclasses import dataclass

from treering.core.phases import Phase
from treering.core.queries import Filter, KnowledgeFilter, TurnFilter

ALL_KNOWLEDGE = KnowledgeFilter()
ALL_TURNS = TurnFilter()


@dataclass(frozen=True, slots=True)
class Recall:
    """What to look for. An empty query lists the newest; None for a filter leaves that kind out.

    `files` are those in play now, `phase` what the work is at. A `thorough` search may ask a language model.
    """

    query: str
    knowledge: KnowledgeFilter | None
    turns: TurnFilter | None
    limit: int
    files: tuple[str, ...] = ()
    phase: Phase | None = None
    explain: bool = False
    thorough: bool = True

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
