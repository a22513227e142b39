"""What works, with evidence: patterns, and where they apply."""

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


class Subtask(Value):
    title: Text
    description: Text = ""
    depends_on: Labels = ()


class Template(Value):
    form: Literal["template"] = "template"
    structure: tuple[Subtask, ...]
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
            raise ValueError("complexity_max lies below complexity_min")
        return self


class Application(Record):
    """One use of a pattern and what came of it."""

    pattern: Key
    episode: Key | None = None
    """In which it was used; one episode counts once for a pattern."""
    evidence: Count = 1
    """Which generation of evidence it belongs to: a refinement begins a new one."""
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
    """What supports and what contradicts."""

    generation: Count = 1
    """Grows with each refinement: what came of an earlier form of the pattern proves nothing about this one."""
    highest: Count = 0
    """The highest generation of a form that was undone since: its number is not given to another one."""
    began_at: Instant | None = None
    """When this generation began: episodes that were stored before may have shaped it, and prove nothing about it."""
    supporting: Keys = ()
    """Episodes that succeeded with it; of many the newest."""
    counter: Keys = ()
    applications: Count = 0
    sessions: Count = 0
    """In how many sessions it was applied: what counts as evidence."""
    success_rate: Share | None = None
    mean_time_saved_ms: float | None = None
    mean_cost_saved: float | None = None
    improvement: float | None = None
    confidence: Share = 0.0
    base_rate: Share | None = None
    """How often tasks of its kind succeed without it."""
    p_value: Share | None = None
    e_value: float | None = Field(default=None, ge=0)
    """How much likelier its evidence is if it helps than if it does not, however often somebody looks."""
    tests: Count = 0
    """How many tests of it were begun, whatever came of them: by the first session of each generation that validation
    saw, and by each review. Luck has as many chances as there were tests, so none is ever taken back."""
    tested: Count = 0
    """The generation whose first session was counted last."""
    last_validated_at: Instant | None = None
    """When it was last judged by enough sessions to decide anything, whatever the verdict."""


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
    """What works for a kind of task, with its evidence."""

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
        """The same, naming this episode nowhere; what it was counted for stays counted."""
        evidence = self.evidence.replace(
            supporting=tuple(each for each in self.evidence.supporting if each != id),
            counter=tuple(each for each in self.evidence.counter if each != id),
        )
        return self.replace(evidence=evidence, metadata=_without(self.metadata, id))


def _without(value: Any, id: str) -> Any:
    """A part of the metadata, without this id in any of its lists."""
    if isinstance(value, Mapping):
        return FrozenDict({name: _without(each, id) for name, each in value.items()})
    return tuple(_without(each, id) for each in value if each != id) if isinstance(value, tuple) else value
