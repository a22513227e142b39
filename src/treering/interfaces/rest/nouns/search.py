"""Search, and answers to questions with numbered citations."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from pydantic import ConfigDict, Field

from treering.core.queries import SearchFilter, ShareRange, TimeRange
from treering.interfaces.rest.calls import Route
from treering.interfaces.rest.schemas import Answered, Asked, ScoreTerm, StoredRecord
from treering.memory import Memory

Kind = Literal["knowledge", "turn", "episode", "pattern", "code"]


class CodePlace(Answered):
    """Lines of a file; numbers start at 1 and the end is inclusive."""

    id: str
    path: str
    symbol: str
    start_line: int
    end_line: int
    score: float
    text: str = ""
    relevance: float = 0.0


class SearchHit(Answered):
    """One result. The best one has score 1; `also` are repetitions that were folded into it."""

    id: str
    kind: Kind
    text: str
    score: float
    source: str = Field(description="Citation: who said it, when, where.")
    record: StoredRecord | CodePlace
    also: tuple[str, ...] = ()
    superseded_by: str | None = None


class RankReason(Answered):
    """How the rank of one document was computed."""

    id: str
    kind: str
    text: str
    ranks: dict[str, int]
    parts: list[ScoreTerm]
    relevance: float
    factors: dict[str, float]
    score: float
    lost: str = ""
    passed: str = ""


class SearchExplanation(Answered):
    """The interpreted query, the results, and the documents that ranked next."""

    understood: dict[str, str]
    results: list[RankReason]
    runners_up: list[RankReason]


class SearchAnswer(Answered):
    """Results, best first. With low confidence they are only the nearest records."""

    query: str
    hits: list[SearchHit]
    confidence: Literal["high", "low"]
    missing: dict[str, str] = Field(description="Parts of the search that were unavailable, with the reason.")
    unreadable: list[str]
    milliseconds: dict[str, float]
    embedder: str
    strength: float
    explanation: SearchExplanation | None = None


class SearchWhere(Asked):
    """Filter for records of any kind; kinds without a filtered field are left out."""

    kinds: tuple[Kind, ...] = ()
    types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    not_sessions: tuple[str, ...] = ()
    roles: tuple[Literal["user", "assistant", "system", "tool"], ...] = ()
    since: datetime | None = None
    before: datetime | None = None
    min_confidence: float | None = Field(default=None, ge=0, le=1)
    tainted: bool | None = None

    def filter(self) -> SearchFilter:
        fields: dict[str, Any] = self.model_dump(exclude={"since", "before", "min_confidence"})
        if self.since or self.before:
            fields["time"] = TimeRange.make(since=self.since, before=self.before)
        if self.min_confidence is not None:
            fields["confidence"] = ShareRange.make(at_least=self.min_confidence)
        return SearchFilter.make(**{name: tuple(v) if isinstance(v, list) else v for name, v in fields.items()})


class SearchRequest(Asked):
    """A search in natural language."""

    query: str = Field(default="", max_length=20_000, description="Text to search for; empty lists the newest.")
    limit: int | None = Field(default=None, ge=1, le=1_000)
    where: SearchWhere | None = None
    superseded: bool = Field(default=False, description="Include corrected and flagged records.")
    as_of: str | None = Field(default=None, description="Answer from what was known then: a date or time.")
    files: tuple[str, ...] = Field(default=(), description="Files that the work touches now: raises related records.")
    phase: str | None = Field(default=None, description="Phase of the work: define, implement, coding, debugging…")
    explain: bool = Field(default=False, description="Explain the ranking of each result.")
    thorough: bool = True
    precise: bool = Field(default=False, description="Only records that the query names or mostly repeats.")
    repeated: bool = Field(default=False, description="Keep results that say the same as a better one.")
    private: bool = Field(default=False, description="Keep the query away from models on other machines.")
    tainted: bool = Field(default=True, description="Include unconfirmed records from outside.")
    code: bool | None = Field(default=None, description="Add code locations, or leave them out.")

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"query": "when do we deploy?", "limit": 5}]}
    )

    def options(self) -> Mapping[str, Any]:
        """Keyword arguments of `Memory.search`."""
        fields = self.model_dump(exclude={"query", "where"})
        return {**fields, "where": None if self.where is None else self.where.filter()}


class AskRequest(Asked):
    """A question that the memory may answer."""

    question: str = Field(min_length=1, max_length=20_000)
    limit: int = Field(default=5, ge=1, le=50, description="Maximum number of citations.")
    tainted: bool = Field(default=False, description="Use unconfirmed records from outside.")

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"question": "When do we deploy?"}]})


class Citation(Answered):
    """A passage of the answer, and the record that it quotes."""

    number: int
    id: str
    kind: Kind
    text: str
    source: str
    score: float
    record: StoredRecord


class ExtractiveAnswer(Answered):
    """Passages that answer a question, each with its citation; `found` is false if nothing stored answers it."""

    question: str
    found: bool
    text: str = Field(description="The passages with the numbers of their citations; empty if nothing was found.")
    citations: list[Citation]
    missing: dict[str, str]


def search(memory: Memory, body: SearchRequest) -> Any:
    """Search records of every kind by words, meaning and relations, in one ranking."""
    return memory.search(body.query, **body.options())


def ask(memory: Memory, body: AskRequest) -> ExtractiveAnswer:
    """Answer a question with quotations of stored records, numbered in the order of their relevance.

    Nothing is written by a model: each passage is a record, word for word or shortened. If no record answers the
    question, `found` is false.
    """
    return extractive_answer(memory.context.answer(body.question, limit=body.limit, tainted=body.tainted))


def extractive_answer(quoted: Any) -> ExtractiveAnswer:
    return ExtractiveAnswer(
        question=quoted.question,
        found=quoted.found,
        text=quoted.text,
        citations=[Citation.model_validate(each, from_attributes=True) for each in quoted.passages],
        missing=dict(quoted.missing),
    )


ROUTES = (
    Route("POST", "/search", search, SearchAnswer, "Search"),
    Route("POST", "/ask", ask, ExtractiveAnswer, "Ask a question"),
)
