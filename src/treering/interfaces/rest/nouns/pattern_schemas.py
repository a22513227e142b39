"""Requests and answers of patterns."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import ConfigDict, Field

from treering.core.episodes import OutcomeStatus
from treering.core.patterns import Application, Pattern, PatternCategory, PatternStatus
from treering.interfaces.rest.nouns.episodes import EpisodeResult, FailureResult
from treering.interfaces.rest.nouns.search import SearchHit
from treering.interfaces.rest.schemas import Answered, Asked

Fields = dict[str, Any]


class PatternRequest(Asked):
    """A new pattern; it starts as a candidate."""

    name: str
    category: PatternCategory
    content: Fields = Field(description="A strategy, template, heuristic or procedure: `form` and its fields.")
    id: str | None = None
    fields: Fields = Field(
        default_factory=dict, description="summary, description, applicability, guidance, links, metadata…"
    )

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "name": "Reproduce before fixing",
                    "category": "strategy",
                    "content": {"form": "strategy", "approach": "write the failing test first"},
                }
            ]
        },
    )


class PatternChanges(Asked):
    """Fields of a pattern to change; evidence is reset if content or applicability changes."""

    changes: Fields


class ApplicableRequest(Asked):
    """The task that patterns should apply to."""

    task: str = Field(min_length=1, max_length=20_000)
    limit: int | None = Field(default=None, ge=1, le=1_000)
    statuses: list[PatternStatus] | None = None
    features: Fields = Field(
        default_factory=dict, description="task_type, domain, complexity, tools, files, languages, context."
    )

    def options(self) -> Mapping[str, Any]:
        """Keyword arguments of the library's verbs."""
        statuses = {} if self.statuses is None else {"statuses": tuple(self.statuses)}
        return {**self.features, **statuses}


class AfterFailureRequest(Asked):
    """A failure, and the steps before it."""

    error: str = Field(min_length=1, max_length=100_000)
    history: tuple[Fields, ...] = ()
    task: str = ""
    limit: int | None = Field(default=None, ge=1, le=1_000)
    features: Fields = Field(default_factory=dict)


class NextStepsRequest(Asked):
    """The steps so far."""

    history: tuple[Fields, ...] = ()
    features: Fields = Field(default_factory=dict)
    message: str | None = None
    limit: int = Field(default=3, ge=1, le=100)


class ApplicationRequest(Asked):
    """One use of a pattern."""

    episode: str | None = None
    outcome: OutcomeStatus | None = None
    session: str | None = None
    at: str | None = None
    task_type: str | None = None
    time_saved_ms: float | None = None
    cost_saved: float | None = None


class DeprecateRequest(Asked):
    reason: str = Field(min_length=1)
    superseded_by: str | None = None


class ConditionRequest(Asked):
    """A condition as patterns hold it."""

    condition: dict[str, Any]


class ConditionText(Answered):
    text: str


class MergeRequest(Asked):
    ids: list[str] = Field(min_length=2, max_length=100)


class InstantiateRequest(Asked):
    values: dict[str, str] = Field(default_factory=dict)


class PatternFile(Asked):
    """Patterns as YAML or JSON, as an export writes them."""

    text: str


class DryRun(Asked):
    dry_run: bool = Field(default=False, description="Only report what would be done.")


class RankedPatternAnswer(Answered):
    """A pattern with its score, the terms of it, and the reason."""

    pattern: Pattern
    score: float
    terms: dict[str, float]
    why: str


class TaskAdvice(Answered):
    """What memory has for a new task."""

    task: str
    features: Fields
    patterns: list[RankedPatternAnswer]
    episodes: list[EpisodeResult]
    known: list[SearchHit]
    missing: dict[str, str]
    text: str


class SuggestedStep(Answered):
    """A likely next step."""

    step: str
    share: float
    because: str
    times: int
    of: int


class FailureAdvice(Answered):
    """What helps after a failure."""

    error: str
    recoveries: list[RankedPatternAnswer]
    similar: list[FailureResult]
    next_steps: list[SuggestedStep]
    known: list[SearchHit]
    text: str


class SessionEvidence(Answered):
    """Outcomes of a pattern in one session."""

    at: datetime
    successes: int
    partial: int
    n: int


class ProposedRefinement(Answered):
    """A narrower applicability, or null, with the reason."""

    applicability: Fields | None
    changes: list[str]
    reason: str
    p_value: float | None = None
    gain: float | None = None


class PatternReviewAnswer(Answered):
    """Where a pattern failed, and how it could be narrowed."""

    pattern: Pattern
    failed: list[Application]
    succeeded: int
    proposed: ProposedRefinement


class RefinedPatternAnswer(Answered):
    before: Pattern
    after: Pattern
    refinement: ProposedRefinement


class ValidatedPatternAnswer(Answered):
    """A pattern with its status before validation and the verdict."""

    pattern: str
    name: str
    before: PatternStatus
    moved: bool
    judged: Fields


class SimilarPatternAnswer(Answered):
    pattern: Pattern
    score: float
    structure: float
    applicability: float
    words: float


class WeakPattern(Answered):
    """A pattern of low value, with the reasons."""

    pattern: Pattern
    reasons: list[str]


class MinedPatternAnswer(Answered):
    """A finding of mining."""

    key: str
    category: PatternCategory
    name: str
    summary: str
    steps: list[str]
    supporting: list[str]
    counter: list[str]
    support: int
    against: int
    sessions: int
    base_rate: float
    lift: float
    success_rate: float


class PatternImportAnswer(Answered):
    """Ids of imported patterns, and those skipped with the reason."""

    added: list[str]
    updated: list[str]
    left: dict[str, str]
