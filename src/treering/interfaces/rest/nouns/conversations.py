"""Conversations with a model: messages, the window that is sent, and why messages left it."""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Path, Query
from pydantic import ConfigDict, Field

from treering.core.contexts import RemovedMessages, WindowRules
from treering.core.messages import Message
from treering.core.queries import SessionFilter
from treering.core.turns import Session
from treering.interfaces.rest.calls import Route
from treering.interfaces.rest.schemas import After, Answered, Asked, CountAnswer, Limit, ListPage
from treering.interfaces.servers.threads import CallQueue
from treering.memory import Memory

ConversationId = Annotated[str, Path(description="Id of the conversation, which is also its session.")]
MessageId = Annotated[str, Path(description="Id of the message.")]


class ConversationRules(Asked):
    """The model, and the rules of its window; what is left out has its default."""

    model: str | None = None
    limit: int | None = Field(default=None, ge=1, description="Context window of the model, in tokens.")
    max_tokens: int | None = Field(default=None, ge=1)
    max_messages: int | None = Field(default=None, ge=1)
    keep_recent: int | None = Field(default=None, ge=0)
    strategy: Literal["rolling_window", "importance", "hybrid"] | None = None
    oversize: Literal["error", "truncate"] | None = None
    at_task_boundary: bool | None = None


class MessagesRequest(Asked):
    """Messages in the format of any provider, or as role and text."""

    messages: list[dict[str, Any]] = Field(min_length=1, max_length=1_000)
    format: str | None = Field(default=None, description="Format of the messages; detected by default.")
    rules: ConversationRules | None = None

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"messages": [{"role": "user", "content": "Hello"}], "rules": {"model": "gpt-4o"}}]
        },
    )


class BuildRequest(Asked):
    """The message that is sent now, and is not stored."""

    current: dict[str, Any] | None = None
    tools: tuple[dict[str, Any], ...] = ()
    recall: bool = Field(default=False, description="Quote removed messages that matter now.")


class RemovedMessage(Answered):
    """A message that was removed from the window."""

    id: str
    role: str
    at: datetime
    text: str


class WindowMarker(Answered):
    messages: int
    places: int
    summary: str


class BuiltWindow(Answered):
    """The messages of a request in order, with its tokens."""

    messages: list[Message]
    tokens: int
    max_tokens: int
    limit: int
    exact: bool
    markers: list[WindowMarker]
    recalled: list[RemovedMessage]
    truncated: list[str]
    left_out: dict[str, str]
    missing: dict[str, str]


class ConversationFigures(Answered):
    """Statistics of the window."""

    id: str
    rules: WindowRules
    exact: bool
    messages: int
    in_context: int
    removed: int
    left_out: int
    tokens: int
    total_tokens: int
    tokens_by_role: dict[str, int]
    marker_tokens: int
    oldest: datetime | None
    last_removal: datetime | None
    spans: list[RemovedMessages]
    counts_from_cache: float
    counts_estimated: int


class MessageImportance(Answered):
    score: float
    modifiers: list[tuple[str, float]]


class MessageReason(Answered):
    """One message with its tokens and importance, and why it is in the window or not."""

    place: int
    seq: int
    id: str
    role: str
    at: datetime
    tokens: int
    importance: MessageImportance
    segment: int
    pinned: bool
    protected: bool
    in_context: bool
    why: str
    text: str
    cues: list[tuple[str, str]]


class WindowReasons(Answered):
    """Every message in order, the tasks they belong to, and statistics."""

    stats: ConversationFigures
    lines: list[MessageReason]
    segments: list[tuple[int, str, str]]


class PinMessage(Asked):
    pinned: bool = True


class MarkMessage(Asked):
    unimportant: bool = True


def list_conversations(memory: Memory, limit: Limit = 50, after: After = None) -> ListPage[Session]:
    """List sessions with stored messages, newest first."""
    page = memory.page("conversations", where=SessionFilter.defaults(), limit=limit, after=after)
    return ListPage[Session].model_construct(items=list(page.items), next=page.next, total=None)


def add_messages(memory: Memory, id: ConversationId, body: MessagesRequest) -> ListPage[Message]:
    """Store messages of a conversation, all or none; a new conversation is created with the rules."""
    rules = {} if body.rules is None else body.rules.given()
    messages = memory.conversation(id, **rules).extend(body.messages, format=body.format)
    return ListPage[Message].model_construct(items=list(messages), next=None, total=None)


def list_messages(memory: Memory, id: ConversationId) -> ListPage[Message]:
    """All messages of a conversation, in order."""
    messages = memory.conversation(id, create=False).messages()
    return ListPage[Message].model_construct(items=list(messages), next=None, total=None)


def build_window(memory: Memory, id: ConversationId, body: BuildRequest | None = None) -> Any:
    """The messages to send now: system prompts, the window, and the current message. Prunes if it is too full."""
    asked = body or BuildRequest()
    conversation = memory.conversation(id, create=False)
    return conversation.build(asked.current, tools=asked.tools, recall=asked.recall)


def get_window_stats(memory: Memory, id: ConversationId) -> Any:
    """Messages in the window and removed ones, tokens by role, the limit, and why each span was removed."""
    return memory.conversation(id, create=False).stats()


def explain_window(memory: Memory, id: ConversationId) -> Any:
    """Every message with its importance, the reasons for it, and whether it is in the window."""
    found = memory.conversation(id, create=False).explain()
    return {
        "stats": found.stats,
        "segments": found.segments,
        "lines": [
            {**{name: getattr(line, name) for name in _LINE}, "importance": _importance(line.importance)}
            for line in found.lines
        ],
    }


def prune_window(memory: Memory, id: ConversationId) -> CountAnswer:
    """Remove messages from the window down to its target size; they stay stored."""
    return CountAnswer(count=memory.conversation(id, create=False).prune())


def clear_window(memory: Memory, id: ConversationId) -> CountAnswer:
    """Remove everything but system prompts and pinned messages from the window."""
    return CountAnswer(count=memory.conversation(id, create=False).clear())


def search_removed(
    memory: Memory,
    id: ConversationId,
    query: Annotated[str, Query(max_length=20_000)],
    limit: Annotated[int | None, Query(ge=1, le=100)] = None,
) -> ListPage[RemovedMessage]:
    """Removed messages that match the query, best first."""
    found = memory.conversation(id, create=False).search(query, limit=limit)
    return ListPage[RemovedMessage](items=[RemovedMessage.model_validate(each) for each in found])


def pin_message(memory: Memory, id: ConversationId, message: MessageId, body: PinMessage | None = None) -> CountAnswer:
    """Pin a message to the window, or unpin it. Pinning a removed message brings it back."""
    memory.conversation(id, create=False).pin(message, pinned=body is None or body.pinned)
    return CountAnswer(count=1)


def mark_message(
    memory: Memory, id: ConversationId, message: MessageId, body: MarkMessage | None = None
) -> CountAnswer:
    """Mark a message as unimportant, so that it is removed among the first, or undo that."""
    memory.conversation(id, create=False).unimportant(message, marked=body is None or body.unimportant)
    return CountAnswer(count=1)


_LINE = (
    "place",
    "seq",
    "id",
    "role",
    "at",
    "tokens",
    "segment",
    "pinned",
    "protected",
    "in_context",
    "why",
    "text",
    "cues",
)


def _importance(found: Any) -> dict[str, Any]:
    modifiers = found.modifiers.items() if hasattr(found.modifiers, "items") else found.modifiers
    return {"score": found.score, "modifiers": [(str(name), float(value)) for name, value in modifiers]}


_WRITE = CallQueue.WRITE
_C = "/conversations"
ROUTES = (
    Route("GET", _C, list_conversations, ListPage[Session], "List conversations"),
    Route("GET", f"{_C}/{{id}}/messages", list_messages, ListPage[Message], "List messages of a conversation"),
    Route("POST", f"{_C}/{{id}}/messages", add_messages, ListPage[Message], "Store messages", _WRITE, 201),
    Route("POST", f"{_C}/{{id}}/build", build_window, BuiltWindow, "Build the messages to send", _WRITE),
    Route("GET", f"{_C}/{{id}}/stats", get_window_stats, ConversationFigures, "Get statistics of the window"),
    Route("GET", f"{_C}/{{id}}/explanation", explain_window, WindowReasons, "Explain the window"),
    Route("GET", f"{_C}/{{id}}/removed", search_removed, ListPage[RemovedMessage], "Search removed messages"),
    Route("POST", f"{_C}/{{id}}/prune", prune_window, CountAnswer, "Prune the window", _WRITE),
    Route("POST", f"{_C}/{{id}}/clear", clear_window, CountAnswer, "Clear the window", _WRITE),
    Route("POST", f"{_C}/{{id}}/messages/{{message}}/pin", pin_message, CountAnswer, "Pin a message", _WRITE),
    Route("POST", f"{_C}/{{id}}/messages/{{message}}/mark", mark_message, CountAnswer, "Mark as unimportant", _WRITE),
)
