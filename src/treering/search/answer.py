"""The answer to a search: ranked hits, their explanation, unavailable parts and timings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias, overload

from treering.core.values import brief

if TYPE_CHECKING:
    from treering.core.code_locations import CodeLocation
    from treering.core.episodes import Episode
    from treering.core.patterns import Pattern
    from treering.core.records import Knowledge
    from treering.core.turns import Turn


StoredRecord: TypeAlias = "Knowledge | Turn | Episode | Pattern"
HitRecord: TypeAlias = "StoredRecord | CodeLocation"


@dataclass(frozen=True, slots=True)
class Hit:
    """One result. `score` is relative to the best hit, which has 1; `source` is the citation.

    `also` lists the ids of duplicates that were folded into this hit. For queries about the present, `superseded_by`
    is the id of the record that replaced this one.
    """

    id: str
    kind: str
    text: str
    score: float
    source: str
    record: HitRecord
    also: tuple[str, ...] = ()
    superseded_by: str | None = None

    def __repr__(self) -> str:
        return f"Hit(id={self.id!r}, score={self.score:.3f}, text={brief(self.text)!r})"


@dataclass(frozen=True, slots=True)
class ScorePart:
    """One term of a relevance score: a value and its weight."""

    name: str
    value: float
    weight: float

    @property
    def added(self) -> float:
        return self.value * self.weight


@dataclass(frozen=True, slots=True)
class RankExplanation:
    """How the rank of one document was computed.

    `ranks` are its positions on the paths that found it; `parts` add up to its relevance before it is normalised to at
    most 1; `factors` multiply it. `passed` is the reason why a precise search accepted it, `lost` the reason why it is
    not in the answer.
    """

    id: str
    kind: str
    text: str
    ranks: Mapping[str, int]
    parts: tuple[ScorePart, ...]
    relevance: float
    factors: Mapping[str, float]
    score: float
    lost: str = ""
    passed: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The interpreted query, the results, and the documents that ranked next."""

    understood: Mapping[str, str]
    results: tuple[RankExplanation, ...]
    runners_up: tuple[RankExplanation, ...]


class Confidence(StrEnum):
    """Whether the results answer the query or are only the nearest records."""

    HIGH = "high"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class Answer(Sequence[Hit]):
    """The results, best first.

    `missing` maps each unavailable part of the search to the reason, `unreadable` lists records that were found but
    could not be read (run `doctor` for details), `milliseconds` gives the duration of each stage, `embedder` the model
    whose vectors were compared. With a low `confidence` no result answers the query: they are only the nearest records.
    `code` holds the code locations among the results. `strength` is the absolute score of the best hit, comparable with
    the relevance of code locations.
    """

    query: str
    hits: tuple[Hit, ...]
    missing: Mapping[str, str] = field(default_factory=dict)
    unreadable: tuple[str, ...] = ()
    milliseconds: Mapping[str, float] = field(default_factory=dict)
    embedder: str = ""
    explanation: Explanation | None = None
    confidence: Confidence = Confidence.HIGH
    code: tuple[CodeLocation, ...] = ()
    strength: float = 1.0

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[index]

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __repr__(self) -> str:
        return f"Answer(query={brief(self.query)!r}, confidence={self.confidence.value!r}, hits={list(self.hits)!r})"

    def _repr_html_(self) -> str:
        """A table of the results, for notebooks."""
        from html import escape

        rows = "".join(
            f"<tr><td>{hit.score:.2f}</td><td>{escape(hit.text)}</td><td>{escape(hit.source)}</td></tr>"
            for hit in self.hits
        )
        note = "" if self.confidence is Confidence.HIGH else "<p>Low confidence: only the nearest records.</p>"
        head = "<tr><th>score</th><th>text</th><th>source</th></tr>"
        return f"<p>{escape(self.query)}</p>{note}<table>{head}{rows}</table>"
