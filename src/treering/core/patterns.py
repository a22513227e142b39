"""Patterns: reusable approaches with evidence and applicability."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from treering.core.conditions import Condition
from treering.core.episodes import OutcomeStatus
from treering.core.scope import Visibility
from treering.core.values import (
    EMPTY,
    Count,
    FrozenDict,
    FrozenMap,
    Instant,
    Key,
    Keys,
    Label,
    Labels,
    Record,
    Share,
    Text,
    Value,
)

RESERVED_METADATA = frozenset({"mined", "imported", "merged_from"})
"""Metadata keys that say where a pattern came from; mining, merges and imports write them, users cannot."""


class PatternCategory(StrEnum):
    STRATEGY = "strategy"
    DECOMPOSITION = "decomposition"
    SEQUENCE = "sequence"
    TOOL_SELECTION = "tool_selection"
    FAILURE = "failure"
    RECOVERY = "recovery"
    OPTIMISATION = "optimisation"
    DOMAIN = "domain"


class PatternStatus(StrEnum):
    CANDIDATE = "CANDIDATE"
    VALIDATED = "VALIDATED"
    UNDER_REVIEW = "UNDER_REVIEW"
    DEPRECATED = "DEPRECATED"


class Strategy(Value):
    form: Literal["strategy"] = "strategy"
    approach: Text
    principles: tuple[Text, ...] = ()
    trade_offs: Text | None = None


class Parameter(Value):
    name: Label
    description: Text = ""
    required: bool = True
    default: Text | None = None


class TemplateSubtask(Value):
    title: Text
    description: Text = ""
    depends_on: Labels = ()


class Template(Value):
    form: Literal["template"] = "template"
    structure: tuple[TemplateSubtask, ...]
    parameters: tuple[Parameter, ...] = ()
    rules: tuple[Text, ...] = ()


class Heuristic(Value):
    form: Literal["heuristic"] = "heuristic"
    condition: Condition
    action: Text
    rationale: Text | None = None


class ProcedureStep(Value):
    name: Label
    action: Text
    next_if: tuple[tuple[Condition, Label], ...] = ()


class Procedure(Value):
    form: Literal["procedure"] = "procedure"
    steps: tuple[ProcedureStep, ...]
    ends_when: tuple[Condition, ...] = ()


PatternContent = Annotated[Strategy | Template | Heuristic | Procedure, Field(discriminator="form")]


class Applicability(Value):
    """Where a pattern applies, and where it does not."""

    problem_types: Labels = ()
    domains: Labels = ()
    complexity_min: Share = 0.0
    complexity_max: Share = 1.0
    capabilities: Labels = ()
    conditions: tuple[Condition, ...] = ()
    anti_conditions: tuple[Condition, ...] = ()

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.complexity_max < self.complexity_min:
            raise ValueError("complexity_max is below complexity_min")
        return self


class Application(Record):
    """One use of a pattern and its outcome."""

    pattern: Key
    episode: Key | None = None
    """Episode in which it was used; an episode counts once per pattern."""
    evidence: Count = 1
    """Generation of the evidence; a refinement starts a new one."""
    session: Key | None = None
    at: Instant
    outcome: OutcomeStatus
    task_type: Label | None = None
    features: FrozenMap = EMPTY
    time_saved_ms: float | None = None
    cost_saved: float | None = None
    owner: Key = "local"
    visibility: Visibility = Visibility.PROJECT


class Evidence(Value):
    """Evidence for and against a pattern."""

    generation: Count = 1
    """Incremented by each refinement, since outcomes of an earlier form are not evidence for the current one."""
    highest: Count = 0
    """Highest generation that was undone; its number is not reused."""
    began_at: Instant | None = None
    """Start of this generation. Earlier episodes may have shaped the pattern and are not evidence for it."""
    supporting: Keys = ()
    """Newest episodes that succeeded with it."""
    counter: Keys = ()
    applications: Count = 0
    sessions: Count = 0
    """Number of sessions in which it was applied, the unit of evidence."""
    success_rate: Share | None = None
    mean_time_saved_ms: float | None = None
    mean_cost_saved: float | None = None
    improvement: float | None = None
    confidence: Share = 0.0
    base_rate: Share | None = None
    """Success rate of similar tasks without it."""
    p_value: Share | None = None
    e_value: float | None = Field(default=None, ge=0)
    """Likelihood ratio of the evidence if it helps against if it does not; valid under repeated looks."""
    tests: Count = 0
    """Number of tests started: one for the first session of each generation that validation saw, and one per review.
    It corrects for multiple testing and never decreases."""
    tested: Count = 0
    """Last generation whose first session was counted as a test."""
    last_validated_at: Instant | None = None
    """Time of the last validation with enough sessions for a verdict."""


class Guidance(Value):
    when: Text = ""
    how: Text = ""
    benefits: tuple[Text, ...] = ()
    risks: tuple[Text, ...] = ()
    alternatives: Keys = ()


class PatternLinks(Value):
    specialises: Key | None = None
    generalises: Keys = ()
    contradicts: Keys = ()
    complements: Keys = ()
    superseded_by: Key | None = None


class Pattern(Record):
    """An approach for a kind of task, with its evidence."""

    repr_fields = ("name", "status")

    version: Count = 1
    name: Label
    category: PatternCategory
    status: PatternStatus = PatternStatus.CANDIDATE
    status_since: Instant | None = None
    summary: Text = ""
    description: Text = ""
    explanation: Text = ""
    applicability: Applicability = Field(default_factory=Applicability)
    content: PatternContent
    evidence: Evidence = Field(default_factory=Evidence)
    guidance: Guidance = Field(default_factory=Guidance)
    links: PatternLinks = Field(default_factory=PatternLinks)
    usage_count: Count = 0
    last_used_at: Instant | None = None
    deprecation_reason: Text | None = None
    owner: Key = "local"
    visibility: Visibility = Visibility.PROJECT
    created_at: Instant
    updated_at: Instant
    deleted_at: Instant | None = None
    metadata: FrozenMap = EMPTY

    def without_episode(self, id: str) -> "Pattern":
        """The pattern without references to this episode; counts stay."""
        evidence = self.evidence.replace(
            supporting=tuple(each for each in self.evidence.supporting if each != id),
            counter=tuple(each for each in self.evidence.counter if each != id),
        )
        return self.replace(evidence=evidence, metadata=_without(self.metadata, id))


def _without(value: Any, id: str) -> Any:
    """Part of the metadata without this id in any list."""
    if isinstance(value, Mapping):
        return FrozenDict({name: _without(each, id) for name, each in value.items()})
    return tuple(_without(each, id) for each in value if each != id) if isinstance(value, tuple) else value
