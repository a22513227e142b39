"""What works, with evidence: patterns, and the conditions that say where they apply."""

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from treering.core.scope import Visibility
from treering.core.values import (
    EMPTY,
    NESTING,
    Count,
    FrozenMap,
    Instant,
    Json,
    Key,
    Keys,
    Label,
    Labels,
    Record,
    Share,
    Text,
    Value,
)


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


class Operator(StrEnum):
    """How a field is compared. Data, never evaluated code."""

    EQ = "eq"
    IN = "in"
    RANGE = "range"
    CONTAINS = "contains"
    PREFIX = "prefix"
    EXISTS = "exists"


class Test(Value):
    """One field compared with one value."""

    form: Literal["test"] = "test"
    field: Label
    operator: Operator
    value: Json = None

    __test__ = False  # not a test case, whatever pytest thinks of the name


class Compound(Value):
    """Conditions made of conditions."""

    @model_validator(mode="after")
    def _readable_again(self) -> Self:
        if _depth(self) > NESTING:
            raise ValueError(f"conditions nest deeper than {NESTING} levels; flatten them")
        return self


class AllOf(Compound):
    form: Literal["all"] = "all"
    conditions: tuple["Condition", ...]


class AnyOf(Compound):
    form: Literal["any"] = "any"
    conditions: tuple["Condition", ...]


class Not(Compound):
    form: Literal["not"] = "not"
    condition: "Condition"


Condition = Annotated[Test | AllOf | AnyOf | Not, Field(discriminator="form")]


def _depth(condition: Value) -> int:
    parts: tuple[Condition, ...] = ()
    if isinstance(condition, AllOf | AnyOf):
        parts = condition.conditions
    elif isinstance(condition, Not):
        parts = (condition.condition,)
    return 1 + max(map(_depth, parts), default=0)


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


class Evidence(Value):
    """What supports and what contradicts."""

    supporting: Keys = ()
    counter: Keys = ()
    applications: Count = 0
    success_rate: Share | None = None
    mean_time_saved_ms: float | None = None
    mean_cost_saved: float | None = None
    improvement: float | None = None
    confidence: Share = 0.0
    p_value: Share | None = None
    last_validated_at: Instant | None = None


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
    """A reusable lesson."""

    version: Count = 1
    name: Label
    category: PatternCategory
    status: PatternStatus = PatternStatus.CANDIDATE
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
