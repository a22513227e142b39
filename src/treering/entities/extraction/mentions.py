"""What a text speaks of: a name, where it stands, what it may be, how sure that is, and who noticed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from treering.core.entities import EntityKind


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a text. `name` is how it is kept: a date as 2026-05-08, a link without its full stop."""

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
    """Notices names in texts. `ModelUnavailable` where it cannot."""

    @property
    def name(self) -> str: ...

    def read(self, text: str, language: str) -> Iterable[Mention]: ...


def without_overlaps(mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    """In the order of the text. Of those that overlap the surest stays; of equals the longest, then the first."""
    kept: list[Mention] = []
    for mention in sorted(mentions, key=_preference):
        if all(mention.end <= other.start or other.end <= mention.start for other in kept):
            kept.append(mention)
    return tuple(sorted(kept, key=lambda mention: (mention.start, mention.end)))


def surest(mentions: Sequence[Mention], most: int) -> tuple[Mention, ...]:
    """At most so many, in the order of the text."""
    if len(mentions) <= most:
        return tuple(mentions)
    return tuple(sorted(sorted(mentions, key=_preference)[:most], key=lambda mention: mention.start))


def _preference(mention: Mention) -> tuple[float, int, int, str]:
    return -mention.confidence, -mention.length, mention.start, mention.kind
