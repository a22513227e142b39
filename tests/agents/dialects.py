"""The APIs of three vendors, as far as their coding agents use them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.agents.script import Dialect, Reply, Request, Say, ToolCall, Turn

_PAUSE = "pause_"  # prefix of the ids of calls that are not part of the script


def _json(body: object) -> Reply:
    return Reply("application/json", json.dumps(body).encode())


def _stream(*events: Mapping[str, Any]) -> Reply:
    """Server-sent events, each preceded by its type if it has one."""
    names = (f"event: {event['type']}\n" if "type" in event else "" for event in events)
    lines = (f"{name}data: {json.dumps(event)}\n\n" for name, event in zip(names, events, strict=True))
    return Reply("text/event-stream", "".join(lines).encode())


def _anthropic_turns(request: Request) -> int:
    """Messages of the model, without pauses."""
    return sum(
        message["role"] == "assistant" and not json.dumps(message["content"]).count(f'"id": "{_PAUSE}')
        for message in request["messages"]
    )


def _anthropic_turn(turn: Turn, request: Request) -> Reply:
    return _anthropic_reply(turn, request, f"toolu_{_anthropic_turns(request)}")


def _anthropic_pause(call: ToolCall, request: Request) -> Reply | None:
    """Claude Code does not wait for the server of a plug-in."""
    if not call.tool.startswith("mcp__") or any(tool["name"] == call.tool for tool in request["tools"]):
        return None
    wait = ToolCall("Bash", {"command": "python3 -c 'import time; time.sleep(0.5)'", "description": "Wait"})
    return _anthropic_reply(wait, request, f"{_PAUSE}{len(request['messages'])}")


def _anthropic_reply(turn: Turn, request: Request, id: str) -> Reply:
    """`id` is that of the call, and with a prefix that of the message: messages with the same id are merged."""
    block: dict[str, Any]
    if isinstance(turn, ToolCall):
        block = {"type": "tool_use", "id": id, "name": turn.tool, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(turn.arguments)}
    else:
        block = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": turn.text}
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": f"msg_{id}", "type": "message", "role": "assistant", "model": request["model"], "content": []}
    ending = {"stop_reason": "tool_use" if isinstance(turn, ToolCall) else "end_turn", "stop_sequence": None}
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
    calls = (block for block in blocks if block["type"] == "tool_result")
    results = [call["content"] for call in calls if not call["tool_use_id"].startswith(_PAUSE)]
    return [result if isinstance(result, str) else "\n".join(block["text"] for block in result) for result in results]


def _anthropic_other(path: str, request: Request, page: str) -> Reply:
    """Claude Code has a small model read the page that it fetched; other requests are for titles and token counts."""
    if path == "/v1/messages" and page and page in json.dumps(request, ensure_ascii=False):
        return _anthropic_reply(Say(f"The page says: {page}"), request, "page")
    return _json({"input_tokens": 1})


ANTHROPIC = Dialect(
    asks_for_turn=lambda path, request: path == "/v1/messages" and bool(request.get("tools")),
    turns_so_far=_anthropic_turns,
    turn=_anthropic_turn,
    other=_anthropic_other,
    tool_results=_anthropic_results,
    pause=_anthropic_pause,
)


def _google_turn(turn: Turn, request: Request) -> Reply:
    if isinstance(turn, ToolCall):
        part: dict[str, Any] = {"functionCall": {"name": turn.tool, "args": turn.arguments}}
    else:
        part = {"text": turn.text}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    return _stream({"candidates": [candidate], "usageMetadata": {"totalTokenCount": 1}})


def _google_results(request: Request) -> Sequence[str]:
    parts = (part for content in request["contents"] for part in content["parts"])
    return [json.dumps(part["functionResponse"]["response"]) for part in parts if "functionResponse" in part]


def _google_other(path: str, request: Request, page: str) -> Reply:
    """The API reads a page for Gemini CLI; other requests are for titles, summaries and token counts."""
    if page and "urlContext" in json.dumps(request.get("tools")):
        content = {"role": "model", "parts": [{"text": f"The page says: {page}"}]}
        return _json({"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]})
    return _json({"candidates": [], "totalTokens": 1})


GOOGLE = Dialect(
    asks_for_turn=lambda path, request: path.endswith(":streamGenerateContent") and bool(request.get("tools")),
    turns_so_far=lambda request: sum(content["role"] == "model" for content in request["contents"]),
    turn=_google_turn,
    other=_google_other,
    tool_results=_google_results,
)

_CALLS = ("function_call", "custom_tool_call", "tool_search_call")


def _openai_turns(request: Request) -> int:
    """Calls and messages of the model, without pauses."""
    return sum(
        (item["type"] in _CALLS and not item["call_id"].startswith(_PAUSE)) or item.get("role") == "assistant"
        for item in request["input"]
    )


def _openai_item(turn: Turn) -> dict[str, Any]:
    if isinstance(turn, Say):
        return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": turn.text}]}
    if turn.tool == "tool_search":
        return {"type": "tool_search_call", "execution": "client", "arguments": turn.arguments}
    if isinstance(turn.arguments, str):
        return {"type": "custom_tool_call", "name": turn.tool, "input": turn.arguments}
    server, _, tool = turn.tool.rpartition("__")
    namespace = {"namespace": server} if server else {}
    return {"type": "function_call", "name": tool, **namespace, "arguments": json.dumps(turn.arguments)}


def _openai_reply(item: Mapping[str, Any]) -> Reply:
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    return _stream(
        {"type": "response.created", "response": {"id": "resp"}},
        {"type": "response.output_item.done", "item": {"id": "item", **item}},
        {"type": "response.completed", "response": {"id": "resp", "usage": usage}},
    )


def _openai_turn(turn: Turn, request: Request) -> Reply:
    call = {} if isinstance(turn, Say) else {"call_id": f"call_{len(request['input'])}"}
    return _openai_reply({**_openai_item(turn), **call})


def _openai_pause(call: ToolCall, request: Request) -> Reply | None:
    """Codex starts MCP servers in the background and offers their tools when they are ready."""
    server, _, _tool = call.tool.rpartition("__")
    if not server or server.removeprefix("mcp__") in json.dumps(request["tools"]):
        return None
    wait = ToolCall("exec_command", {"cmd": "sleep 0.2"})
    return _openai_reply({**_openai_item(wait), "call_id": f"{_PAUSE}{len(request['input'])}"})


def _openai_results(request: Request) -> Sequence[str]:
    return [
        json.dumps(item.get("output", item))
        for item in request["input"]
        if item["type"].endswith("_output") and not item["call_id"].startswith(_PAUSE)
    ]


OPENAI = Dialect(
    asks_for_turn=lambda path, request: path.endswith("/responses"),
    turns_so_far=_openai_turns,
    turn=_openai_turn,
    other=lambda path, request, page: _json({}),
    tool_results=_openai_results,
    pause=_openai_pause,
)
