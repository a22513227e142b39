"""Turns: messages, word for word."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import ConfigDict, Field

from treering.core.queries import TimeRange, TurnFilter
from treering.core.scope import Visibility
from treering.core.taint import Taint
from treering.core.turns import ToolCall, ToolResult, Turn
from treering.interfaces.rest.calls import Route, stored_record
from treering.interfaces.rest.schemas import After, Asked, Descending, Limit, ListPage, Total
from treering.interfaces.servers.threads import CallQueue
from treering.memory import Memory

RoleName = Literal["user", "assistant", "system", "tool"]


class TurnRequest(Asked):
    """A message to store."""

    session: str = Field(description="Session that the message belongs to.")
    role: RoleName = "user"
    text: str
    speaker: str | None = None
    at: str | None = Field(default=None, description="When it was said: 2026-05-08T13:56Z, 8 May 2026 1:56 pm…")
    id: str | None = Field(default=None, description="Id; a turn with a known id is stored once.")
    visibility: Visibility | None = None
    tool_calls: list[ToolCall] | None = None
    tool_result: ToolResult | None = None
    taint: Taint | None = None
    language: str | None = None
    metadata: dict[str, Any] | None = None

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"session": "s1", "role": "user", "text": "We deploy on Fridays."}]},
    )


def store_turn(memory: Memory, body: TurnRequest) -> Turn:
    """Store a message of a conversation, word for word. A turn with a known id is stored once."""
    fields = {name: getattr(body, name) for name in type(body).model_fields if getattr(body, name) is not None}
    return memory.turn(**fields)


def list_turns(
    memory: Memory,
    *,
    sessions: Annotated[Sequence[str], Query(description="Only these sessions; repeatable.")] = (),
    roles: Annotated[Sequence[RoleName], Query(description="Only these roles; repeatable.")] = (),
    speakers: Annotated[Sequence[str], Query(description="Only these speakers; repeatable.")] = (),
    since: Annotated[datetime | None, Query(description="Said at this time or later.")] = None,
    before: Annotated[datetime | None, Query(description="Said before this time.")] = None,
    order: Annotated[Literal["at", "seq", "recorded_at"], Query()] = "at",
    descending: Descending = True,
    limit: Limit = 50,
    after: After = None,
    total: Total = False,
) -> ListPage[Turn]:
    """List messages, newest first."""
    said = TimeRange.make(since=since, before=before) if since or before else None
    where = TurnFilter.make(sessions=tuple(sessions), roles=tuple(roles), speakers=tuple(speakers), said=said)
    page = memory.page("turns", where=where, order=order, descending=descending, limit=limit, after=after)
    counted = memory.count("turns", where=where) if total else None
    return ListPage[Turn].model_construct(items=list(page.items), next=page.next, total=counted)


ROUTES = (
    Route("GET", "/turns", list_turns, ListPage[Turn], "List messages"),
    Route("POST", "/turns", store_turn, Turn, "Store a message", CallQueue.WRITE, 201, replay=stored_record),
)
