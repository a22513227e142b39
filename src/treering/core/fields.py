"""Typed keyword arguments of `remember`, `turn`, `episode` and `task`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from os import PathLike
from typing import TYPE_CHECKING, Any, TypedDict

from treering.core.errors import InvalidInput

if TYPE_CHECKING:
    from treering.core.episodes import (
        EpisodeExecution,
        EpisodeMetadata,
        EpisodeReflection,
        TraceEntry,
    )
    from treering.core.messages import MessageBody
    from treering.core.payloads import Payload
    from treering.core.records import Level, RecordChunk, Relation, Source, WorkUnit
    from treering.core.scope import Visibility
    from treering.core.taint import Taint
    from treering.core.turns import ToolCall, ToolResult

Moment = datetime | date | str
Fields = Mapping[str, Any]


class KnowledgeFields(TypedDict, total=False):
    """Fields of `Knowledge` except text and type."""

    id: str
    version: int
    payload: Payload | Fields | None
    confidence: float
    tags: Iterable[str]
    files: Iterable[str | PathLike[str]]
    modules: Iterable[str]
    level: Level | str
    visibility: Visibility | str
    owner: str
    source: Source | str
    session: str | None
    commit: str | None
    provenance_sessions: Iterable[str]
    source_ids: Iterable[str]
    work_unit: WorkUnit | Fields | None
    methodology: str | None
    node: str | None
    impacted_nodes: Iterable[str]
    relations: Iterable[Relation | Fields]
    superseded_by: str | None
    created_at: Moment
    updated_at: Moment
    last_accessed_at: Moment
    access_count: int
    uses: int
    half_life_days: float | None
    valid_from: Moment | None
    valid_until: Moment | None
    stale_at: Moment | None
    deprecated_at: Moment | None
    deleted_at: Moment | None
    needs_review: bool
    user_verified: bool
    pinned: bool
    muted: bool
    flagged: bool
    tainted: bool
    taint: Taint | Fields | None
    citation: str | None
    language: str | None
    chunk: RecordChunk | Fields | None


class TurnFields(TypedDict, total=False):
    """Fields of `Turn` except session, role, text, id and time."""

    speaker: str | None
    visibility: Visibility | str
    tool_calls: Iterable[ToolCall | Fields]
    tool_result: ToolResult | Fields | None
    body: MessageBody | None
    tainted: bool
    taint: Taint | Fields | None
    language: str | None
    metadata: Fields


class EpisodeFields(TypedDict, total=False):
    """Fields of an episode's parts, or whole parts (`execution`, `reflection`, `metadata`) as mappings."""

    goals: Iterable[str]
    constraints: Iterable[str]
    context: Fields
    complexity: float | None
    plan: Iterable[str]
    trace: Iterable[TraceEntry | Fields]
    adaptations: Iterable[Any]
    duration_ms: float | None
    resources: Fields
    side_effects: Iterable[str]
    quality: float | None
    insights: Iterable[Any]
    patterns: Iterable[str]
    failures: Iterable[Any]
    performance: Any
    domain: str | None
    task_type: str | None
    tools: Iterable[str]
    strategies: Iterable[str]
    tags: Iterable[str]
    execution: EpisodeExecution | Fields
    reflection: EpisodeReflection | Fields
    metadata: EpisodeMetadata | Fields
    visibility: Visibility | str
    tainted: bool
    taint: Taint | Fields | None
    embeddings: Fields
    consolidation: Any


class TaskFields(TypedDict, total=False):
    """Arguments of `Task.load_task_context` except the description."""

    goals: Iterable[str]
    constraints: Iterable[Any]
    success_criteria: Iterable[str]
    plan: Iterable[Any]
    system: Iterable[str] | str


def check_arguments(verb: str, given: Iterable[str], known: type) -> None:
    """Raise `InvalidInput`, naming the public verb, for a keyword argument that is not one of the `known` fields."""
    unknown = sorted(set(given) - known.__annotations__.keys())
    if unknown:
        raise InvalidInput(
            f"{verb}() has no argument {', '.join(map(repr, unknown))}; use {', '.join(sorted(known.__annotations__))}"
        )
