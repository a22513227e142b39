"""A whole task execution, kept permanently. Only its lifecycle changes after it is stored."""

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
    """Where an episode is in its life."""

    ACTIVE = "active"
    MATURE = "mature"
    AGED = "aged"
    ARCHIVED = "archived"
    DELETED = "deleted"


class EpisodeTask(Value):
    """What was asked."""

    input: Text
    goals: tuple[Text, ...] = ()
    constraints: tuple[Text, ...] = ()
    context: FrozenMap = EMPTY
    complexity: Share | None = None


class TraceEntry(Value):
    """One step as it happened."""

    at: Instant
    action: Text
    tool: Label | None = None
    input: Text = ""
    output: Text = ""
    is_error: bool = False
    duration_ms: float | None = Field(default=None, ge=0)


def trace_of(history: Iterable[TraceEntry | Mapping[str, Any]], now: datetime) -> tuple[TraceEntry, ...]:
    """Steps as values. One that does not say when it was counts as done now, and a tool's use needs no other name."""
    return tuple(each if isinstance(each, TraceEntry) else _entry(each, now) for each in history)


def _entry(told: Any, now: datetime) -> TraceEntry:
    if not isinstance(told, Mapping):
        raise InvalidInput(f"a step is a mapping with action, or tool and input, not {told!r:.60}")
    return TraceEntry.make(**{"at": now, "action": told.get("tool"), **told})


class Adaptation(Value):
    """The plan changed on the way."""

    at: Instant
    reason: Text
    change: Text


class EpisodeExecution(Value):
    """How it was done."""

    plan: tuple[Text, ...] = ()
    trace: tuple[TraceEntry, ...] = ()
    adaptations: tuple[Adaptation, ...] = ()
    duration_ms: float | None = Field(default=None, ge=0)
    resources: FrozenMap = EMPTY


class Artifact(Value):
    """Something an episode produced, in the blob store under its hash."""

    name: Label
    digest: Digest
    size: Count
    media_type: Label = "application/octet-stream"


class EpisodeOutcome(Value):
    """What came of it."""

    status: OutcomeStatus
    output: Text = ""
    side_effects: tuple[Text, ...] = ()
    quality: FrozenMap = EMPTY
    artifacts: tuple[Artifact, ...] = ()


class ReflectedText(Value):
    """A text and what is known about it. Where that is the text alone, it is given and written as a plain string."""

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
    """What was learned, how sure that is, and what it rests on."""

    confidence: Share | None = None
    evidence: tuple[Text, ...] = ()


class EpisodeFailure(ReflectedText):
    """An error or a mistake, why it happened, and what resolved it."""

    cause: Text = ""
    resolution: Text = ""


class PerformanceAnalysis(ReflectedText):
    """How well it was done: a judgement, what was measured, and what took longest."""

    measures: FrozenMap = EMPTY
    bottlenecks: tuple[Text, ...] = ()


class EpisodeReflection(Value):
    """What was learned from it."""

    insights: tuple[EpisodeInsight, ...] = ()
    patterns: Keys = ()
    failures: tuple[EpisodeFailure, ...] = ()
    performance: PerformanceAnalysis | None = None


class EpisodeMetadata(Value):
    """What it is found by."""

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
    """The only part that changes."""

    status: EpisodeStatus = EpisodeStatus.ACTIVE
    access_count: Count = 0
    last_accessed_at: Instant | None = None
    referenced_by: Keys = ()
    consolidated_into: Key | None = None
    """The episode that stands for this one and its likes."""


class Variation(Value):
    """How one episode of several alike differs from what they have in common."""

    episode: Key
    differs: FrozenMap = EMPTY


class Consolidation(Value):
    """What an episode stands for that was made of several alike; they are archived, and named here."""

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
    """One task execution from request to lesson."""

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
    """The blob that holds all of it, compressed; here is then only what it is found by. `Episodes.whole` has all."""
    deleted_at: Instant | None = None

    @property
    def description(self) -> str:
        """What was to be done."""
        return self.task.input

    @property
    def status(self) -> OutcomeStatus:
        """How it ended."""
        return self.outcome.status
