"""Detection of the format of an item, by traits that only some formats have."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from treering.conversation.formats.content import Item
from treering.core.messages import MessageFormat

_ALL = (MessageFormat.PLAIN, MessageFormat.CHAT, MessageFormat.ANTHROPIC, MessageFormat.RESPONSES)


@dataclass(frozen=True, slots=True)
class FormatTrait:
    """A trait of items, and the formats in which it occurs."""

    formats: frozenset[MessageFormat]
    holds: Callable[[Item], bool]


def candidates(item: Item) -> tuple[MessageFormat, ...]:
    """The possible formats of an item, likeliest first. A trait that contradicts an earlier one is ignored."""
    left = frozenset(_ALL)
    for trait in _TRAITS:
        if left & trait.formats and trait.holds(item):
            left &= trait.formats
    return tuple(format for format in _ALL if format in left)


def detect_all(items: Sequence[Item]) -> list[MessageFormat]:
    """The format of each item. An ambiguous item gets the format of the others if they agree."""
    found = [candidates(item) for item in items]
    sure = {formats[0] for formats in found if len(formats) == 1}
    shared = next(iter(sure)) if len(sure) == 1 else None
    return [shared if shared in formats else formats[0] for formats in found]


def _has(*keys: str) -> Callable[[Item], bool]:
    return lambda item: any(key in item for key in keys)


def _is(key: str, *values: str) -> Callable[[Item], bool]:
    return lambda item: item.get(key) in values


def _holds(*types: str) -> Callable[[Item], bool]:
    return lambda item: any(part.get("type") in types for part in _parts(item))


def _parts(item: Item) -> list[Mapping[str, Any]]:
    content = item.get("content")
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def _is_typed(item: Item) -> bool:
    return isinstance(item.get("type"), str) and item["type"] != "message"


def _has_result(item: Item) -> bool:
    return any(str(part.get("type")).endswith("_tool_result") for part in _parts(item))


def _in(*formats: MessageFormat) -> frozenset[MessageFormat]:
    return frozenset(formats)


_TRAITS = (
    FormatTrait(_in(MessageFormat.PLAIN), _has("parts")),
    FormatTrait(_in(MessageFormat.RESPONSES), lambda item: "role" not in item and ("type" in item or "id" in item)),
    FormatTrait(_in(MessageFormat.CHAT), _has("tool_calls", "tool_call_id", "function_call", "refusal", "audio")),
    FormatTrait(_in(MessageFormat.CHAT), _is("role", "function", "tool")),
    FormatTrait(_in(MessageFormat.RESPONSES), _holds("input_text", "output_text", "input_image", "input_file")),
    FormatTrait(
        _in(MessageFormat.ANTHROPIC),
        _holds("tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "document", "image"),
    ),
    FormatTrait(_in(MessageFormat.ANTHROPIC), _has_result),
    FormatTrait(_in(MessageFormat.CHAT), _holds("image_url", "file")),
    FormatTrait(_in(MessageFormat.CHAT, MessageFormat.RESPONSES), _holds("refusal", "input_audio")),
    FormatTrait(_in(MessageFormat.CHAT, MessageFormat.ANTHROPIC), _holds("text")),
    FormatTrait(_in(MessageFormat.ANTHROPIC), _has("stop_reason", "stop_sequence")),
    FormatTrait(_in(MessageFormat.CHAT, MessageFormat.RESPONSES), _is("role", "developer")),
    FormatTrait(_in(MessageFormat.RESPONSES), _is_typed),
    FormatTrait(_in(MessageFormat.RESPONSES), _has("status", "phase")),
    FormatTrait(_in(MessageFormat.RESPONSES), _is("type", "message")),
    FormatTrait(_in(MessageFormat.PLAIN), _has("origin", "at", "speaker")),
    FormatTrait(_in(MessageFormat.CHAT), _has("name")),
    # Weak: some chat servers also accept this Anthropic field.
    FormatTrait(_in(MessageFormat.ANTHROPIC), lambda item: any("citations" in part for part in _parts(item))),
    FormatTrait(
        _in(MessageFormat.CHAT, MessageFormat.ANTHROPIC, MessageFormat.RESPONSES),
        lambda item: not isinstance(item.get("content"), str),
    ),
)
