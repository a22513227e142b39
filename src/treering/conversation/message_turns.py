"""Lossless conversion between messages and turns."""

import json
from datetime import datetime

from treering.core.messages import CallPart, Message, MessageBody, Part, ResultPart, Role, TextPart
from treering.core.redaction import without_secrets
from treering.core.scope import Scope
from treering.core.turns import ToolCall, ToolResult, Turn
from treering.core.values import EMPTY


def turn_of(scope: Scope, message: Message, *, id: str, session: str, now: datetime, at: datetime) -> Turn:
    """The turn that stores a message. Secrets are redacted in each part."""
    clean = without_secrets(message).value
    return Turn.make(
        id=id,
        session=session,
        role=clean.role,
        text=clean.text,
        at=at,
        recorded_at=now,
        speaker=clean.speaker,
        owner=scope.principal,
        tool_calls=tuple(map(_tool_call, clean.calls)),
        tool_result=next((ToolResult(call_id=each.call_id, is_error=each.is_error) for each in clean.results), None),
        body=_body(clean),
    )


def message_of(turn: Turn) -> Message:
    """The message that a turn stores."""
    fields = {"id": turn.id, "role": turn.role, "at": turn.at, "speaker": turn.speaker}
    if turn.body is None:
        return Message.make(parts=_parts(turn), **fields)
    parts = tuple(_filled(part, turn.text) for part in turn.body.parts)
    return Message.make(parts=parts, origin=turn.body.origin, extra=turn.body.extra, **fields)


def _body(message: Message) -> MessageBody | None:
    """What the fields of the turn do not hold; None if the message is a single text."""
    only = TextPart(text=message.text)
    if message.extra == EMPTY and message.parts == (only,):
        return None
    parts = tuple(_emptied(part, message.text) for part in message.parts)
    return MessageBody(parts=parts, origin=message.origin, extra=message.extra)


def _emptied(part: Part, whole: str) -> Part:
    if isinstance(part, TextPart) and part.text == whole:
        return part.replace(text=None)
    if isinstance(part, ResultPart):
        return part.replace(parts=tuple(_emptied(each, whole) for each in part.parts))
    return part


def _filled(part: Part, whole: str) -> Part:
    if isinstance(part, TextPart) and part.text is None:
        return part.replace(text=whole)
    if isinstance(part, ResultPart):
        return part.replace(parts=tuple(_filled(each, whole) for each in part.parts))
    return part


def _parts(turn: Turn) -> tuple[Part, ...]:
    """Parts of a turn that was not stored as a message."""
    text = TextPart(text=turn.text)
    if turn.tool_result is not None:
        return (ResultPart(call_id=turn.tool_result.call_id, is_error=turn.tool_result.is_error, parts=(text,)),)
    calls = tuple(CallPart(id=call.id, name=call.name, arguments=call.arguments) for call in turn.tool_calls)
    said = () if turn.role is Role.ASSISTANT and calls and not turn.text else (text,)
    return (*said, *calls)


def _tool_call(call: CallPart) -> ToolCall:
    """Arguments that are not a JSON object are stored under `text`."""
    try:
        return ToolCall.make(id=call.id, name=call.name, arguments=json.loads(call.arguments_text))
    except (ValueError, RecursionError):
        return ToolCall.make(id=call.id, name=call.name, arguments={"text": call.arguments_text})
