"""Mentions of entities in a text."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from treering.core.entities import EntityKind


@dataclass(frozen=True, slots=True)
class EntityMention:
    """A name in a text. `name` is normalised: a date as 2026-05-08, a link without a trailing full stop."""

    name: str
    kind: EntityKind
    start: int
    end: int
    confidence: float
    provider: str

    @property
    def length(self) -> int:
        return self.end - self.start


class NameReader(Protocol):
    """Finds names in texts; raises `ModelUnavailable` if it cannot."""

    @property
    def name(self) -> str: ...

    def read(self, text: str, language: str) -> Iterable[EntityMention]: ...


def without_overlaps(mentions: Iterable[EntityMention]) -> tuple[EntityMention, ...]:
    """In the order of the text; of overlapping ones the most confident stays, then the longest, then the first."""
    chosen: list[EntityMention] = []
    for mention in sorted(mentions, key=_preference):
        if all(mention.end <= other.start or other.end <= mention.start for other in chosen):
            chosen.append(mention)
    return tuple(sorted(chosen, key=lambda mention: (mention.start, mention.end)))


def most_confident(mentions: Sequence[EntityMention], limit: int) -> tuple[EntityMention, ...]:
    """At most `limit`, in the order of the text."""
    if len(mentions) <= limit:
        return tuple(mentions)
    return tuple(sorted(sorted(mentions, key=_preference)[:limit], key=lambda mention: mention.start))


def _preference(mention: EntityMention) -> tuple[float, int, int, str]:
    return -mention.confidence, -mention.length, mention.start, mention.kind
