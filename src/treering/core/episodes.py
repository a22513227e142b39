"""Episodes: complete task executions. Only the lifecycle changes after an episode is stored."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from treering.core.errors import InvalidInput
from treering.core.scope import Visibility
from treering.core.taint import Taint, Taintable
from treering.core.values import EMPTY, Count, FrozenMap, Instant, Key, Keys, Label, Labels, Record, Share, Text, Value

Vector = Annotated[tuple[float, ...], Field(max_length=16_384)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class OutcomeStatus(StrEnum):
    SUCCESS = "SUCCESS"
    PARTIAL = "PARTIAL"
    FAILURE = "FAILURE"


class EpisodeStatus(StrEnum):
    """Stage of an episode's lifecycle."""

    ACTIVE = "active"
    MATURE = "mature"
    AGED = "aged"
    ARCHIVED = "archived"
    DELETED = "deleted"


class EpisodeTask(Value):
    """The requested task."""

    input: Text
    goals: tuple[Text, ...] = ()
    constraints: tuple[Text, ...] = ()
    context: FrozenMap = EMPTY
    complexity: Share | None = None


class TraceEntry(Value):
    """One step of the execution."""

    at: Instant
    action: Text
    tool: Label | None = None
    input: Text = ""
    output: Text = ""
    is_error: bool = False
    duration_ms: float | None = Field(default=None, ge=0)


def trace_of(history: Iterable[TraceEntry | Mapping[str, Any]], now: datetime) -> tuple[TraceEntry, ...]:
    """Steps as values. The default time is `now`, the default action the name of the tool."""
    return tuple(each if isinstance(each, TraceEntry) else _entry(each, now) for each in history)


def _entry(step: Any, now: datetime) -> TraceEntry:
    if not isinstance(step, Mapping):
        raise InvalidInput(f"a step is {step!r:.60}; pass a mapping with action, or with tool and input")
    return TraceEntry.make(**{"at": now, "action": step.get("tool"), **step})


class Adaptation(Value):
    """A change of the plan during execution."""

    at: Instant
    reason: Text
    change: Text


class EpisodeExecution(Value):
    """How the task was executed."""

    plan: tuple[Text, ...] = ()
    trace: tuple[TraceEntry, ...] = ()
    adaptations: tuple[Adaptation, ...] = ()
    duration_ms: float | None = Field(default=None, ge=0)
    resources: FrozenMap = EMPTY


class Artifact(Value):
    """A file that an episode produced, stored as a blob under its hash."""

    name: Label
    digest: Digest
    size: Count
    media_type: Label = "application/octet-stream"


class EpisodeOutcome(Value):
    """How the task ended."""

    status: OutcomeStatus
    output: Text = ""
    side_effects: tuple[Text, ...] = ()
    quality: FrozenMap = EMPTY
    artifacts: tuple[Artifact, ...] = ()


class ReflectedText(Value):
    """A text with details; without details, it is read and written as a plain string."""

    text: Text

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, given: Any) -> Any:
        return {"text": given} if isinstance(given, str) else given

    @model_serializer(mode="wrap")
    def _as_text(self, written: SerializerFunctionWrapHandler) -> Any:
        plain = all(getattr(self, name) in ("", (), None, EMPTY) for name in type(self).model_fields if name != "text")
        return self.text if plain else written(self)

    def __str__(self) -> str:
        return self.text


class EpisodeInsight(ReflectedText):
    """An insight with its confidence and evidence."""

    confidence: Share | None = None
    evidence: tuple[Text, ...] = ()


class EpisodeFailure(ReflectedText):
    """An error or mistake, its cause and its resolution."""

    cause: Text = ""
    resolution: Text = ""


class PerformanceAnalysis(ReflectedText):
    """A judgement of the performance, with measurements and bottlenecks."""

    measures: FrozenMap = EMPTY
    bottlenecks: tuple[Text, ...] = ()


class EpisodeReflection(Value):
    """What was learned from the episode."""

    insights: tuple[EpisodeInsight, ...] = ()
    patterns: Keys = ()
    failures: tuple[EpisodeFailure, ...] = ()
    performance: PerformanceAnalysis | None = None


class EpisodeMetadata(Value):
    """Fields for filtering."""

    domain: Label | None = None
    task_type: Label | None = None
    tools: Labels = ()
    strategies: Labels = ()
    tags: Labels = ()


class EpisodeEmbeddings(Value):
    """Vectors of one model."""

    model: Label
    task: Vector = ()
    outcome: Vector = ()
    whole: Vector = ()


class EpisodeLifecycle(Value):
    """The only part that changes after the episode is stored."""

    status: EpisodeStatus = EpisodeStatus.ACTIVE
    access_count: Count = 0
    last_accessed_at: Instant | None = None
    referenced_by: Keys = ()
    consolidated_into: Key | None = None
    """The consolidated episode that represents this one."""


class Variation(Value):
    """Differences of one episode from what a group has in common."""

    episode: Key
    differs: FrozenMap = EMPTY


class Consolidation(Value):
    """The group of similar episodes that a consolidated episode represents; its members are archived."""

    representative: Key
    members: Keys
    instances: Count
    first_at: Instant
    last_at: Instant
    common: FrozenMap = EMPTY
    variations: tuple[Variation, ...] = ()
    mean_duration_ms: float | None = Field(default=None, ge=0)
    success_rate: Share
    patterns: Keys = ()


class Episode(Taintable, Record):
    """One task execution, from request to reflection."""

    repr_fields = ("description", "status")

    version: Count = 1
    session: Key | None = None
    at: Instant
    owner: Key = "local"
    visibility: Visibility = Visibility.PROJECT
    tainted: bool = False
    taint: Taint | None = None
    task: EpisodeTask
    execution: EpisodeExecution = Field(default_factory=EpisodeExecution)
    outcome: EpisodeOutcome
    reflection: EpisodeReflection = Field(default_factory=EpisodeReflection)
    metadata: EpisodeMetadata = Field(default_factory=EpisodeMetadata)
    embeddings: EpisodeEmbeddings | None = None
    consolidation: Consolidation | None = None
    lifecycle: EpisodeLifecycle = Field(default_factory=EpisodeLifecycle)
    cold: Digest | None = None
    """Blob with the complete compressed episode; the record then has only fields for search. See `Episodes.whole`."""
    deleted_at: Instant | None = None

    @property
    def description(self) -> str:
        """The task."""
        return self.task.input

    @property
    def status(self) -> OutcomeStatus:
        """Status of the outcome."""
        return self.outcome.status
