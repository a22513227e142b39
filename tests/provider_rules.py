"""What the providers ask of a request, written down apart from the code that makes them.

The shapes come from the official SDKs. Their types are too loose in two spots, which is made up for here: an unknown
key passes (so what they read is compared with what was given), and an `Iterable` is only checked once it is read. They
may be too strict in one: in Responses, several texts of an assistant need the id of a message; we write one item each.
The order of calls and results is in no type at all: it is stated below.
"""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from anthropic.types import MessageParam, TextBlockParam
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam
from pydantic import TypeAdapter

from treering.conversation.formats import ProviderMessages
from treering.core.messages import MessageFormat

_ITEMS = {
    MessageFormat.CHAT: ChatCompletionMessageParam,
    MessageFormat.RESPONSES: ResponseInputItemParam,
    MessageFormat.ANTHROPIC: MessageParam,
}


def check(written: ProviderMessages, format: MessageFormat) -> None:
    """Raise where the provider would refuse the request."""
    json.dumps(written.messages, allow_nan=False).encode()
    for item in written.messages:
        assert _read(_sdk(_ITEMS[format]).validate_python(item)) == item
    _RULES[format](written)


@cache
def _sdk(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _read(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _read(entry) for key, entry in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_read(entry) for entry in value]
    return value


def _chat(written: ProviderMessages) -> None:
    assert written.system is None
    open_ids: set[str] = set()
    for item in written.messages:
        if item["role"] == "tool":
            assert item["tool_call_id"] in open_ids, "a tool message without a call directly before it"
            open_ids.remove(item["tool_call_id"])
            continue
        assert not open_ids, "something stands between calls and their tool messages"
        calls = item.get("tool_calls", [])
        open_ids = {call["id"] for call in calls}
        assert len(open_ids) == len(calls)
        assert all(isinstance(json.loads(call["function"]["arguments"]), dict) for call in calls if "function" in call)


def _responses(written: ProviderMessages) -> None:
    assert written.system is None
    calls: dict[str, str] = {}
    for item in written.messages:
        kind = item.get("type", "message")
        if kind in ("function_call", "custom_tool_call"):
            assert item["call_id"] not in calls
            calls[item["call_id"]] = f"{kind}_output"
        elif kind in ("function_call_output", "custom_tool_call_output"):
            assert calls.get(item["call_id"]) == kind, "an output without a call of its kind"
            calls[item["call_id"]] = "answered"
        else:
            assert all(kind in ("answered",) for kind in calls.values()), "something stands before an output"


def _anthropic(written: ProviderMessages) -> None:
    if isinstance(written.system, list):
        for block in written.system:
            assert _read(_sdk(TextBlockParam).validate_python(block)) == block
    seen: set[str] = set()
    asked: list[str] = []
    for place, item in enumerate(written.messages):
        assert item["role"] in (("user",) if place == 0 else ("user", "assistant"))
        blocks = _blocks(item["content"])
        assert blocks
        assert all(block["text"].strip() for block in blocks if block["type"] == "text"), "an empty text block"
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert sorted(results) == sorted(asked), "calls and results do not match"
        assert all(block["type"] == "tool_result" for block in blocks[: len(results)]), "something before the results"
        asked = [block["id"] for block in blocks if block["type"] == "tool_use"]
        assert item["role"] == "assistant" or not asked
        assert not seen.intersection(asked)
        assert len(set(asked)) == len(asked)
        assert all(isinstance(block["input"], dict) for block in blocks if block["type"] == "tool_use")
        seen.update(asked)


def _blocks(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


_RULES = {MessageFormat.CHAT: _chat, MessageFormat.RESPONSES: _responses, MessageFormat.ANTHROPIC: _anthropic}
