"""What recall gives back: results, how they were found, what was missing, and what each stage took."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from html import escape
from typing import TYPE_CHECKING, TypeAlias, overload

from treering.core.values import brief

if TYPE_CHECKING:
    from treering.core.code_locations import CodePlace
    from treering.core.episodes import Episode
    from treering.core.patterns import Pattern
    from treering.core.records import Knowledge
    from treering.core.turns import Turn


Remembered: TypeAlias = "Knowledge | Turn | Episode | Pattern"
Found: TypeAlias = "Remembered | CodePlace"


@dataclass(frozen=True, slots=True)
class Hit:
    """One result. `score` compares it with the best of its answer, which has 1; `source` cites it.

    `also` names results that say the same and were folded into this one. Where the query asks for the present,
    `superseded_by` is the result that holds in its place.
    """

    id: str
    kind: str
    text: str
    score: float
    source: str
    record: Found
    also: tuple[str, ...] = ()
    superseded_by: str | None = None

    def __repr__(self) -> str:
        return f"Hit(id={self.id!r}, score={self.score:.3f}, text={brief(self.text)!r})"


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a relevance: what was seen, what it counts, and so what it added."""

    name: str
    value: float
    weight: float

    @property
    def added(self) -> float:
        return self.value * self.weight


@dataclass(frozen=True, slots=True)
class Reasons:
    """Why one document stands where it stands.

    `ranks` are its places on the paths that found it; `parts` add up to its relevance before it is evened to at most 1;
    `factors` multiply it. `passed` says why a precise search let it through, `lost` what kept it out of the answer.
    """

    id: str
    kind: str
    text: str
    ranks: Mapping[str, int]
    parts: tuple[Part, ...]
    relevance: float
    factors: Mapping[str, float]
    score: float
    lost: str = ""
    passed: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """How an answer came about: the query as it was understood, its results, and those that came next."""

    understood: Mapping[str, str]
    results: tuple[Reasons, ...]
    runners_up: tuple[Reasons, ...]


class Confidence(StrEnum):
    """Whether the results have to do with the query, or are only the nearest there are."""

    HIGH = "high"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class Answer(Sequence[Hit]):
    """The results, best first.

    `missing` says which ways of finding were not available and why, `unreadable` what was found but cannot be shown
    (`doctor` says more), `milliseconds` what each stage took, `embedder` whose vectors were compared. With a low
    `confidence` nothing answers the query: the results are only the nearest that there are. `code` are the places in
    the code among the results. `strength` is how much speaks for the best record, which places it among those.
    """

    query: str
    hits: tuple[Hit, ...]
    missing: Mapping[str, str] = field(default_factory=dict)
    unreadable: tuple[str, ...] = ()
    milliseconds: Mapping[str, float] = field(default_factory=dict)
    embedder: str = ""
    explanation: Explanation | None = None
    confidence: Confidence = Confidence.HIGH
    code: tuple[CodePlace, ...] = ()
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
        rows = "".join(
            f"<tr><td>{hit.score:.2f}</td><td>{escape(hit.text)}</td><td>{escape(hit.source)}</td></tr>"
            for hit in self.hits
        )
        note = "" if self.confidence is Confidence.HIGH else "<p>Low confidence: only the nearest records.</p>"
        head = "<tr><th>score</th><th>text</th><th>source</th></tr>"
        return f"<p>{escape(self.query)}</p>{note}<table>{head}{rows}</table>"
