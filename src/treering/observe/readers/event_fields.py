"""Checked fields of events: whatever a transcript contains, `core.events.Event` accepts the result."""

import hashlib
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from treering.core.values import LABEL_BYTES, NESTING, NUMBER_BITS, fitting, is_key, storable

# Room for the levels that an event adds around its arguments.
_LEVELS = NESTING - 2
_MILLISECONDS = 1e11  # larger numbers of seconds are after the year 5000


def event_mapping(draft: Mapping[str, Any], *, at: datetime) -> dict[str, object]:
    """The fields of an event from those that a format gave; missing and invalid ones are left out."""
    event: dict[str, object] = {"id": draft["id"], "kind": draft["kind"], "at": at}
    if text := draft.get("text"):
        event["text"] = storable(text) if isinstance(text, str) else ""
    if (tool := label(draft.get("tool"))) is not None:
        event["tool"] = tool
    if (call_id := key(draft.get("call_id"))) is not None:
        event["call_id"] = call_id
    if (agent := label(draft.get("agent"))) is not None:
        event["agent"] = agent
    if arguments := draft.get("arguments"):
        event["arguments"] = plain(arguments) if isinstance(arguments, Mapping) else {"input": plain(arguments)}
    if draft.get("is_error"):
        event["is_error"] = True
    if (tokens := count(draft.get("tokens"))) is not None:
        event["tokens"] = tokens
    if (duration := amount(draft.get("duration_ms"))) is not None:
        event["duration_ms"] = duration
    if metadata := draft.get("metadata"):
        event["metadata"] = plain(metadata)
    return event


def moment(written: object) -> datetime | None:
    """A timestamp in UTC from ISO text or from seconds or milliseconds since 1970; None if it is neither."""
    try:
        if isinstance(written, str):
            parsed = datetime.fromisoformat(written.strip())
            return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
        if isinstance(written, datetime):
            return written.replace(tzinfo=UTC) if written.tzinfo is None else written.astimezone(UTC)
        if isinstance(written, (int, float)) and not isinstance(written, bool) and written > 0:
            return datetime.fromtimestamp(written / 1000 if written > _MILLISECONDS else written, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def label(value: object, limit: int = LABEL_BYTES) -> str | None:
    """A label without control characters, cut to its limit; None if nothing is left."""
    if not isinstance(value, str) or not value:
        return None
    if len(value) <= limit and value.isascii() and value.isprintable() and not value.isspace():
        return value
    printable = "".join(each for each in value[: 4 * limit] if each.isprintable()).strip()
    return fitting(printable, limit, limit) or None


def word(fields: Mapping[str, Any], name: str) -> str:
    """A field that is text; "" if it is missing or anything else."""
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def key(value: object) -> str | None:
    """An id that a key accepts, else None; ids are never shortened, because two could become equal."""
    return value if isinstance(value, str) and is_key(value) else None


def count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < 2**63 else None


def amount(value: object) -> float | None:
    """A finite number that is not negative."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def plain(value: Any, levels: int = _LEVELS) -> Any:
    """JSON that a record accepts: text both engines can store, finite numbers, bounded nesting."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, (Mapping, list, tuple)):
        if levels == 0:
            return "…"
        if isinstance(value, Mapping):
            return {storable(str(name)): plain(item, levels - 1) for name, item in value.items()}
        return [plain(item, levels - 1) for item in value]
    return _plain_number(value)


def _plain_number(value: Any) -> Any:
    if isinstance(value, int) and value.bit_length() > NUMBER_BITS:
        return "(a number with thousands of digits)"
    is_plain = isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
    return value if is_plain else None


class RecentItems(dict[str, Any]):
    """A mapping of the newest entries; the oldest ones make room, so that a file of any size fits in memory."""

    def __init__(self, limit: int = 1_024) -> None:
        super().__init__()
        self._limit = limit

    def __setitem__(self, name: str, item: Any) -> None:
        if name not in self and len(self) >= self._limit:
            del self[next(iter(self))]
        super().__setitem__(name, item)


def text_of(content: object) -> str:
    """The text of a message's content: a string, or the texts of its blocks; an image is `[image]`."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        content = [content]
    if not isinstance(content, list):
        return ""
    return "\n".join(part for part in map(_block_text, content) if part)


def _block_text(block: object) -> str:
    if isinstance(block, str):
        return block
    if not isinstance(block, Mapping):
        return ""
    text = block.get("text")
    if isinstance(text, str):
        return text
    kind = block.get("type")
    if "inlineData" in block or (isinstance(kind, str) and "image" in kind):
        return "[image]"
    return ""


def event_id(*parts: object) -> str:
    """An id from stable parts, such as a message's id and the number of a block."""
    joined = ":".join(str(part) for part in parts if part is not None)
    return joined if is_key(joined) else hashlib.sha256(joined.encode("utf-8", "replace")).hexdigest()[:32]
