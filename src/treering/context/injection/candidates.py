"""Candidates of an injection: items with an estimate of their use, before anything is chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from treering.core.citations import cite, short_source
from treering.core.injections import ItemKind
from treering.core.scope import Visibility

if TYPE_CHECKING:
    from treering.core.patterns import Pattern
    from treering.core.records import Knowledge


@dataclass(frozen=True, slots=True)
class InjectionCandidate:
    """An item under the title of its section. `estimate` is the chance of its use, before anything is learned.

    `record` is None for files and patterns, which have gates of their own.
    """

    kind: ItemKind
    item: str
    type: str
    section: str
    text: str
    source: str
    estimate: float
    reason: str = ""
    record: Knowledge | None = None
    visibility: Visibility = Visibility.PROJECT

    @property
    def id(self) -> str:
        """Id under which it is cited; empty for files."""
        return "" if self.kind is ItemKind.FILE else self.item

    @property
    def key(self) -> tuple[str, str]:
        return self.kind.value, self.item

    def with_chance(self, chance: float) -> InjectionCandidate:
        return replace(self, estimate=chance)


def record_candidate(record: Knowledge, section: str, estimate: float, reason: str) -> InjectionCandidate:
    text, source = cite(record)[0], short_source(record)
    return InjectionCandidate(
        ItemKind.KNOWLEDGE, record.id, record.type, section, text, source, estimate, reason, record, record.visibility
    )


def pattern_candidate(pattern: Pattern, section: str, estimate: float, reason: str) -> InjectionCandidate:
    text, source = cite(pattern)
    return InjectionCandidate(
        ItemKind.PATTERN, pattern.id, "pattern", section, text, source, estimate, reason, visibility=pattern.visibility
    )
