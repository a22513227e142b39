"""Reads events of any sender: coerces what it can, drops what it cannot, and never raises for a field's value."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from treering.core.events import Event, EventKind

_NOTHING: Mapping[str, object] = MappingProxyType({})
_KINDS: dict[str, EventKind] = {kind.value: kind for kind in EventKind} | {
    "session_complete": EventKind.SESSION_END,
    "step_complete": EventKind.STEP,
}
_MAX_NUMBER = 2**53
_MAX_FILES = 50
_MILLISECONDS = 1e11  # a larger number cannot be seconds since 1970
_LATEST = 253_402_300_800  # seconds since 1970 at the end of the year 9999
_TRUE = frozenset({"true", "yes", "1"})
UNKNOWN_SOURCE = "unknown"


@dataclass(slots=True)
class IncomingEvent:
    """An event with fields of the right types. `taint` is the source of outside content that the sender names."""

    kind: EventKind
    id: str
    at: float | None
    step: int
    tool: str
    call_id: str
    arguments: Mapping[str, object]
    text: str
    is_error: bool
    duration_ms: float | None
    tokens: int | None
    files: tuple[str, ...]
    taint: str | None
    metadata: Mapping[str, object]


def read_event(event: object) -> IncomingEvent | None:
    """The event, or None if its kind is unknown or it is not a mapping."""
    fields: Mapping[str, Any]
    if type(event) is dict:
        fields = event
    elif isinstance(event, Event):
        fields = event.__dict__
    elif isinstance(event, Mapping):
        fields = event
    else:
        return None
    get = fields.get
    name = get("kind")
    kind = _KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        return None
    # Most fields are missing or have the right type, and a call for each would take longer than the rest.
    step, tokens, duration, files = get("step"), get("tokens"), get("duration_ms"), get("files")
    tainted, taint = get("tainted"), get("taint")
    arguments, metadata = get("arguments"), get("metadata")
    return IncomingEvent(
        kind,
        own if type(own := get("id")) is str else _text(own),
        seconds_of(get("at")),
        _count(step) or 0 if step else 0,
        tool if type(tool := get("tool")) is str else _text(tool),
        call_id if type(call_id := get("call_id")) is str else _text(call_id),
        arguments if type(arguments) is dict else _mapping(arguments),
        text if type(text := get("text")) is str else _text(text),
        is_error if type(is_error := get("is_error")) is bool else _flag(is_error),
        None if duration is None else _number(duration),
        None if tokens is None else _count(tokens),
        _names(files) if files else (),
        taint_of(tainted, taint) if tainted or taint else None,
        metadata if type(metadata) is dict else _mapping(metadata),
    )


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, (Mapping, bool)):
        return ""
    if isinstance(value, (list, tuple)):
        return "\n".join(_part_text(part) for part in value[:200])
    return str(value) if isinstance(value, (int, float)) else ""


def _part_text(part: object) -> str:
    """Text of a content block, as agents send them."""
    if isinstance(part, Mapping):
        part = part.get("text")
    return part if isinstance(part, str) else ""


def _mapping(value: object) -> Mapping[str, object]:
    return value if value is not None and isinstance(value, Mapping) else _NOTHING


def _number(value: object) -> float | None:
    if value is None or isinstance(value, bool):
        return None
    try:
        number = float(value) if isinstance(value, (int, float, str)) else math.nan
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and 0 <= number <= _MAX_NUMBER else None


def _count(value: object) -> int | None:
    number = _number(value)
    return None if number is None else int(number)


def _flag(value: object) -> bool:
    if value is None:
        return False
    return value.lower() in _TRUE if isinstance(value, str) else value is True or value == 1


def _names(value: object) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)):
        return ()
    return tuple(each for each in value[:_MAX_FILES] if isinstance(each, str))


def seconds_of(value: object) -> float | None:
    """Seconds since 1970 of a datetime, an ISO text, or a number of seconds or milliseconds."""
    if value is None:
        return None
    if isinstance(value, str):
        return _seconds_of_text(value)
    if isinstance(value, datetime):
        return _seconds_of_moment(value)
    number = _number(value)
    if number is None or number <= _MILLISECONDS:
        return number
    return number / 1000 if number < _LATEST * 1000 else None


@lru_cache(maxsize=16)  # the time of one event is read several times
def _seconds_of_text(value: str) -> float | None:
    try:
        return _seconds_of_moment(datetime.fromisoformat(value))
    except ValueError:
        return seconds_of(_number(value))


def _seconds_of_moment(value: datetime) -> float | None:
    try:
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    except (OverflowError, ValueError):
        return None


def time_of(value: object) -> datetime | None:
    """The time of an event, in UTC."""
    return moment_of(seconds_of(value))


def moment_of(seconds: float | None) -> datetime | None:
    """The time of a number of seconds since 1970, in UTC."""
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def taint_of(tainted: object, taint: object) -> str | None:
    """Source of a taint; a claim that an event is not tainted counts only if it names none."""
    if taint is None:
        return UNKNOWN_SOURCE if _flag(tainted) else None
    source = taint.get("source") if isinstance(taint, Mapping) else getattr(taint, "source", taint)
    return source if isinstance(source, str) and source else UNKNOWN_SOURCE
