"""Knowledge types and their payloads. Plug-ins add types with `register_knowledge_type`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from types import MappingProxyType
from typing import Any

from pydantic import Field, ValidationInfo, model_serializer, model_validator

from treering.core.errors import InvalidInput
from treering.core.values import (
    LABEL_BYTES,
    Count,
    FilePath,
    FilePaths,
    FrozenMap,
    Instant,
    Key,
    Label,
    Labels,
    Share,
    Text,
    Value,
    thaw,
)


class Payload(Value):
    """Extra fields of one knowledge type."""


class Opaque(Payload):
    """Payload of a type that this process does not know, preserved unchanged."""

    fields: FrozenMap | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_json_unchanged(cls, written: Any, info: ValidationInfo) -> Any:
        return {"fields": written} if info.mode == "json" else written

    @model_serializer
    def _to_json_unchanged(self) -> Any:
        return thaw(self.fields)


class Stated(Payload):
    """Parts of a statement; two with the same subject and attribute may contradict each other."""

    subject: Text | None = None
    attribute: Text | None = None
    value: Text | None = None
    negated: bool = False
    speaker: Label | None = None

    def subject_alone(self) -> "Stated | None":
        """Subject and attribute without value and other fields; None without a subject."""
        defaults = {
            name: each.get_default(call_default_factory=True)
            for name, each in type(self).model_fields.items()
            if name not in ("subject", "attribute") and not each.is_required()
        }
        return None if self.subject is None else self.replace(**defaults)


_NOT_TEXT = frozenset({"fingerprint"})
"""Fields without readable text."""


def payload_texts(payload: Payload | None) -> Iterator[tuple[str, str]]:
    """Texts of a payload, each with the name of its field."""
    if isinstance(payload, Opaque):
        yield from ((name, text) for name, value in (payload.fields or {}).items() for text in _texts_in(value))
    elif payload is not None:
        fields = (
            (name, value) for name, value in payload.__dict__.items() if name not in _NOT_TEXT | _defaults(payload)
        )
        yield from ((name.replace("_", " "), text) for name, value in fields for text in _texts_in(value))


def _defaults(payload: Payload) -> frozenset[str]:
    """Names of the fields that have their default value."""
    fields = type(payload).model_fields.items()
    return frozenset(name for name, field in fields if getattr(payload, name) == field.get_default())


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, Value):
        value = tuple(value.__dict__.values())
    if isinstance(value, Enum):
        yield str(value.value).replace("_", " ")
    elif isinstance(value, str):
        yield value
    elif isinstance(value, tuple | Mapping):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _texts_in(each)


class Gotcha(Payload):
    trigger: Text | None = None
    consequence: Text | None = None
    workaround: Text | None = None


class Decision(Stated):
    rationale: Text | None = None
    alternatives: tuple[Text, ...] = ()
    consequences: tuple[Text, ...] = ()


class PreferenceStrength(StrEnum):
    MUST = "must"
    PREFER = "prefer"
    AVOID = "avoid"
    NEVER = "never"


class Preference(Stated):
    strength: PreferenceStrength = PreferenceStrength.PREFER


class CodePattern(Payload):
    when_to_use: Text | None = None
    example: Text | None = None


class RequirementKind(StrEnum):
    FUNCTIONAL = "functional"
    NON_FUNCTIONAL = "non_functional"


class Requirement(Stated):
    kind: RequirementKind = RequirementKind.FUNCTIONAL
    acceptance: tuple[Text, ...] = ()
    priority: Label | None = None


class ErrorPattern(Payload):
    fingerprint: Key | None = None
    message: Text | None = None
    tool: Label | None = None
    resolution: Text | None = None
    occurrences: Count = 1


class ModuleInsight(Payload):
    module: Label | None = None
    purpose: Text | None = None
    entry_points: Labels = ()


class PrefetchPattern(Payload):
    module_trigger: Label | None = None
    always_read: FilePaths = ()
    often_read: FilePaths = ()
    session_count: Count = 0


class WorkState(Payload):
    completed: tuple[Text, ...] = ()
    in_progress: Text | None = None
    next_step: Text | None = None
    decisions: tuple[Text, ...] = ()


class CausalDependency(Payload):
    cause: FilePath | None = None
    effects: FilePaths = ()
    coupling: Share | None = None
    directional: bool = False


class TaskCalibration(Payload):
    module: Label | None = None
    methodology: Label | None = None
    mean_actual_steps: float | None = Field(default=None, ge=0)
    mean_planned_steps: float | None = Field(default=None, ge=0)
    ratio: float | None = Field(default=None, ge=0)
    samples: Count = 0


class ObservationKind(StrEnum):
    PRECONDITION = "precondition"
    TIMING = "timing"
    UI_BEHAVIOR = "ui_behavior"
    TEST_SEQUENCE = "test_sequence"
    GOTCHA = "gotcha"


class E2EObservation(Payload):
    kind: ObservationKind = ObservationKind.UI_BEHAVIOR
    tool: Label | None = None


class DeadEnd(Payload):
    approach: Text | None = None
    reason: Text | None = None
    alternative: Text | None = None
    task_context: Text | None = None


class WorkUnitOutcome(Payload):
    succeeded: bool | None = None
    steps: Count | None = None
    files_changed: FilePaths = ()
    failures: tuple[Text, ...] = ()


class RecipeStep(Value):
    description: Text
    file: FilePath | None = None
    line: Count | None = None


class WorkflowRecipe(Payload):
    task_pattern: Text | None = None
    steps: tuple[RecipeStep, ...] = ()
    last_validated_at: Instant | None = None
    success_count: Count = 0


class ContextCost(Payload):
    module: Label | None = None
    mean_tokens: float | None = Field(default=None, ge=0)
    max_tokens: Count | None = None
    samples: Count = 0


class Fact(Stated):
    """A fact."""


class Reflection(Payload):
    period_start: Instant | None = None
    period_end: Instant | None = None
    fact_count: Count = 0


@dataclass(frozen=True, slots=True)
class KnowledgeType:
    """A knowledge type: its payload and half-life in days without use (None: no decay).

    With `raised_by_use`, every use extends the half-life.
    """

    name: str
    payload: type[Payload]
    half_life_days: float | None
    raised_by_use: bool = False


_TYPES: dict[str, KnowledgeType] = {
    kind.name: kind
    for kind in (
        KnowledgeType("gotcha", Gotcha, 60),
        KnowledgeType("decision", Decision, None),
        KnowledgeType("preference", Preference, None),
        KnowledgeType("pattern", CodePattern, None),
        KnowledgeType("requirement", Requirement, None),
        KnowledgeType("error_pattern", ErrorPattern, 60),
        KnowledgeType("module_insight", ModuleInsight, 90),
        KnowledgeType("prefetch_pattern", PrefetchPattern, None),
        KnowledgeType("work_state", WorkState, 7),
        KnowledgeType("causal_dependency", CausalDependency, 120),
        KnowledgeType("task_calibration", TaskCalibration, 180),
        KnowledgeType("e2e_observation", E2EObservation, 30),
        KnowledgeType("dead_end", DeadEnd, 90),
        KnowledgeType("work_unit_outcome", WorkUnitOutcome, None),
        KnowledgeType("workflow_recipe", WorkflowRecipe, 120),
        KnowledgeType("context_cost", ContextCost, None),
        KnowledgeType("fact", Fact, 90, raised_by_use=True),
        KnowledgeType("reflection", Reflection, None),
    )
}


def register_knowledge_type(name: str, payload: type[Payload], half_life_days: float | None = None) -> KnowledgeType:
    """Add a knowledge type. The same definition may be registered twice; another one raises `InvalidInput`."""
    kind = KnowledgeType(name, payload, half_life_days)
    if not name.isidentifier() or len(name.encode()) > LABEL_BYTES:
        raise InvalidInput(f"{name!r} is not a valid name of a knowledge type; use letters, digits and underscores")
    if _TYPES.setdefault(name, kind) != kind:
        raise InvalidInput(f"knowledge type {name!r} exists already with another definition; choose another name")
    return kind


def knowledge_types() -> Mapping[str, KnowledgeType]:
    """Every registered type by name."""
    return MappingProxyType(_TYPES)


def knowledge_type(name: str) -> KnowledgeType:
    """The type with this name. Raises `InvalidInput` with the known types for any other."""
    try:
        return _TYPES[name]
    except (KeyError, TypeError):
        known = ", ".join(sorted(_TYPES))
        raise InvalidInput(f"unknown knowledge type {name!r}; use one of {known}, or register it") from None
