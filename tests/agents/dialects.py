"""The APIs of three vendors, as far as their coding agents speak them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.agents.script import Calls, Dialect, Reply, Request, Turn


def _json(body: object) -> Reply:
    return Reply("application/json", json.dumps(body).encode())


def _stream(*events: Mapping[str, Any]) -> Reply:
    """Server-sent events, each with its type in front where it has one."""
    names = (f"event: {event['type']}\n" if "type" in event else "" for event in events)
    lines = (f"{name}data: {json.dumps(event)}\n\n" for name, event in zip(names, events, strict=True))
    return Reply("text/event-stream", "".join(lines).encode())


def _anthropic_turns(request: Request) -> int:
    return sum(message["role"] == "assistant" for message in request["messages"])


def _anthropic_spoken(turn: Turn, request: Request) -> Reply:
    block: dict[str, Any]
    if isinstance(turn, Calls):
        block = {"type": "tool_use", "id": f"toolu_{_anthropic_turns(request)}", "name": turn.tool, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(turn.arguments)}
    else:
        block = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": turn.text}
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "msg", "type": "message", "role": "assistant", "model": request["model"], "content": []}
    ending = {"stop_reason": "tool_use" if isinstance(turn, Calls) else "end_turn", "stop_sequence": None}
    return _stream(
        {"type": "message_start", "message": {**message, **ending, "stop_reason": None, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ending, "usage": usage},
        {"type": "message_stop"},
    )


def _anthropic_results(request: Request) -> Sequence[str]:
    contents = (message["content"] for message in request["messages"])
    blocks = (block for content in contents if isinstance(content, list) for block in content)
    results = [block["content"] for block in blocks if block["type"] == "tool_result"]
    return [told if isinstance(told, str) else "\n".join(block["text"] for block in told) for told in results]


ANTHROPIC = Dialect(
    asks_for_a_turn=lambda path, request: path == "/v1/messages" and bool(request.get("tools")),
    turns_so_far=_anthropic_turns,
    spoken=_anthropic_spoken,
    errand=lambda path, request: _json({"input_tokens": 1}),
    tool_results=_anthropic_results,
)


def _google_spoken(turn: Turn, request: Request) -> Reply:
    if isinstance(turn, Calls):
        part: dict[str, Any] = {"functionCall": {"name": turn.tool, "args": dict(turn.arguments)}}
    else:
        part = {"text": turn.text}
    said = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    return _stream({"candidates": [said], "usageMetadata": {"totalTokenCount": 1}})


def _google_results(request: Request) -> Sequence[str]:
    parts = (part for content in request["contents"] for part in content["parts"])
    return [json.dumps(part["functionResponse"]["response"]) for part in parts if "functionResponse" in part]


GOOGLE = Dialect(
    asks_for_a_turn=lambda path, request: path.endswith(":streamGenerateContent") and bool(request.get("tools")),
    turns_so_far=lambda request: sum(content["role"] == "model" for content in request["contents"]),
    spoken=_google_spoken,
    errand=lambda path, request: _json({"candidates": [], "totalTokens": 1}),
    tool_results=_google_results,
)


def _openai_spoken(turn: Turn, request: Request) -> Reply:
    said: dict[str, Any]
    if isinstance(turn, Calls):
        server, _, tool = turn.tool.rpartition("__")
        said = {"type": "function_call", "namespace": server, "name": tool, "call_id": f"call_{len(request['input'])}"}
        said["arguments"] = json.dumps(turn.arguments)
    else:
        said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": turn.text}]}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    return _stream(
        {"type": "response.created", "response": {"id": "resp"}},
        {"type": "response.output_item.done", "item": {"id": "item", **said}},
        {"type": "response.completed", "response": {"id": "resp", "usage": usage}},
    )


def _openai_results(request: Request) -> Sequence[str]:
    return [json.dumps(item["output"]) for item in request["input"] if item["type"] == "function_call_output"]


OPENAI = Dialect(
    asks_for_a_turn=lambda path, request: path.endswith("/responses"),
    turns_so_far=lambda request: sum(item["type"] == "function_call" for item in request["input"]),
    spoken=_openai_spoken,
    errand=lambda path, request: _json({}),
    tool_results=_openai_results,
)
