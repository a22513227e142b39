"""What was said: turns, in sessions. A turn never changes once it is stored."""

from enum import StrEnum
from typing import Any

from treering.core.contexts import ContextState
from treering.core.messages import Body, Role
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
    """An agent asks for a tool."""

    id: Key
    name: Label
    arguments: FrozenMap = EMPTY


class ToolResult(Value):
    """A tool answers the call with the same id."""

    call_id: Key
    is_error: bool = False


class Turn(Taintable, Record):
    """One message: said at `at`, stored at `recorded_at`, at place `seq` of its session.

    `body` holds its parts where it is more than a text, a call or a result.
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
    body: Body | None = None
    tainted: bool = False
    taint: Taint | None = None
    language: Label | None = None
    metadata: FrozenMap = EMPTY
    deleted_at: Instant | None = None


class SessionKind(StrEnum):
    """What a session is for; promotion gates differ by it."""

    CHAT = "chat"
    BUILD = "build"
    INSIGHTS = "insights"
    ROADMAP = "roadmap"
    TERMINAL = "terminal"
    CHANGELOG = "changelog"
    SPEC = "spec"
    PR_REVIEW = "pr_review"


class Session(Record):
    """A run of turns and events. `context` is the window of a conversation that is held with a model."""

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
    """How often a turn was taken away or brought back."""
    learned: Count = 0
    """How many of its turns were read for what can be learned from them."""
    commit: Label | None = None
    context: ContextState | None = None
    metadata: FrozenMap = EMPTY

    def without_words_of(self, record: str, seq: int | None) -> "Session":
        """The same session, without a summary of its turn at this place, nor the record in what tasks saved."""
        told = self.context if seq is None or self.context is None else self.context.without_words_of(seq)
        tasks = self.metadata.get(TASK)
        metadata = self.metadata if tasks is None else {**self.metadata, TASK: _unquoted(record, thaw(tasks))}
        return self.replace(context=told, metadata=metadata)

    def without_task(self, text: str) -> "Session":
        """The same session, without its title and the saves of a task if `text` repeats what they are called."""
        tasks = thaw(self.metadata.get(TASK, {}))
        saves = {name: save for name, save in tasks.get("saves", {}).items() if save["title"] not in text}
        metadata = {**self.metadata, TASK: {**tasks, "saves": saves}} if "saves" in tasks else self.metadata
        return self.replace(title=None if self.title and self.title in text else self.title, metadata=metadata)


TASK = "working"
"""Where the metadata of a task's session holds what the task saved: `saves`, by name, each with its `entries`."""


def _unquoted(record: str, task: dict[str, Any]) -> dict[str, Any]:
    """Without the entries that are copies of the record, or speak of it as moved out."""
    for save in task.get("saves", {}).values():
        save["entries"] = [entry for entry in save["entries"] if entry.get("reference") != record]
    return task
