"""What was said: turns, in sessions. A turn never changes once it is stored."""

from enum import StrEnum

from treering.core.contexts import ContextState
from treering.core.messages import Body, Role
from treering.core.scope import Visibility
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
    without_objects_naming,
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


class Turn(Record):
    """One message: said at `at`, stored at `recorded_at`, at place `seq` of its session.

    `body` holds its parts where it is more than a text, a call or a result.
    """

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
    commit: Label | None = None
    context: ContextState | None = None
    metadata: FrozenMap = EMPTY

    def without_words_of(self, record: str, seq: int | None) -> "Session":
        """The same session, with no object in it that names the record, and no summary of its turn at this place."""
        told = self.context if seq is None or self.context is None else self.context.without_words_of(seq)
        return self.replace(context=told, metadata=without_objects_naming(record, self.metadata))
