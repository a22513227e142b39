"""Turns and sessions. A turn never changes once it is stored."""

from enum import StrEnum
from typing import Any

from treering.core.contexts import ContextState
from treering.core.messages import MessageBody, Role
from treering.core.scope import Visibility
from treering.core.taint import Taint, Taintable
from treering.core.values import (
    EMPTY,
    Count,
    FrozenMap,
    Instant,
    Key,
    Label,
    Record,
    Text,
    Value,
    thaw,
)


class ToolCall(Value):
    """A tool call of an agent."""

    id: Key
    name: Label
    arguments: FrozenMap = EMPTY


class ToolResult(Value):
    """The result of the tool call with the same id."""

    call_id: Key
    is_error: bool = False


class Turn(Taintable, Record):
    """One message, written at `at` and stored at `recorded_at`, at position `seq` of its session.

    `body` holds its parts if it is more than a text, a call or a result.
    """

    repr_fields = ("session", "role", "text")

    session: Key
    seq: Count = 0
    role: Role
    text: Text
    at: Instant
    recorded_at: Instant
    speaker: Label | None = None
    owner: Key = "local"
    visibility: Visibility = Visibility.PROJECT
    tool_calls: tuple[ToolCall, ...] = ()
    tool_result: ToolResult | None = None
    body: MessageBody | None = None
    tainted: bool = False
    taint: Taint | None = None
    language: Label | None = None
    metadata: FrozenMap = EMPTY
    deleted_at: Instant | None = None


class SessionKind(StrEnum):
    """Purpose of a session, which determines its promotion rules."""

    CHAT = "chat"
    BUILD = "build"
    INSIGHTS = "insights"
    ROADMAP = "roadmap"
    TERMINAL = "terminal"
    CHANGELOG = "changelog"
    SPEC = "spec"
    PR_REVIEW = "pr_review"


class Session(Record):
    """A sequence of turns and events. `context` is the context window of a conversation with a model."""

    version: Count = 1
    kind: SessionKind = SessionKind.CHAT
    agent: Label | None = None
    title: Text | None = None
    owner: Key = "local"
    visibility: Visibility = Visibility.PROJECT
    started_at: Instant
    last_at: Instant
    ended_at: Instant | None = None
    turns: Count = 0
    taken: Count = 0
    """Number of times a turn was deleted or restored."""
    learned: Count = 0
    """Number of turns that learning has read."""
    commit: Label | None = None
    context: ContextState | None = None
    metadata: FrozenMap = EMPTY

    def without_words_of(self, record: str, seq: int | None) -> "Session":
        """The session without summaries of the turn at this position and without task entries that copy the record."""
        context_left = self.context if seq is None or self.context is None else self.context.without_words_of(seq)
        tasks = self.metadata.get(TASK)
        metadata = self.metadata if tasks is None else {**self.metadata, TASK: _unquoted(record, thaw(tasks))}
        return self.replace(context=context_left, metadata=metadata)

    def without_task(self, text: str) -> "Session":
        """The session without its title and task snapshots whose titles occur in `text`."""
        tasks = thaw(self.metadata.get(TASK, {}))
        saves = {name: save for name, save in tasks.get("saves", {}).items() if save["title"] not in text}
        metadata = {**self.metadata, TASK: {**tasks, "saves": saves}} if "saves" in tasks else self.metadata
        return self.replace(title=None if self.title and self.title in text else self.title, metadata=metadata)


TASK = "working"
"""Metadata key of a task's snapshots: `saves` by name, each with its `entries`."""


def _unquoted(record: str, task: dict[str, Any]) -> dict[str, Any]:
    """The task without entries that copy or reference the record."""
    for save in task.get("saves", {}).values():
        save["entries"] = [entry for entry in save["entries"] if entry.get("reference") != record]
    return task
