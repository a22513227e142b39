"""Items as the providers send and take them, with odd ones among them."""

import json
from typing import Any

from treering.core.messages import Message, MessageFormat

Item = dict[str, Any]
PNG = "iVBORw0KGgo="
PDF = "JVBERi0xLjQ="


def call(id: str, name: str = "read", arguments: str = '{"path": "a.txt"}', **extra: Any) -> Item:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}, **extra}


def use(id: str, **extra: Any) -> Item:
    return {"type": "tool_use", "id": id, "name": "read", "input": {"path": "a.txt"}, **extra}


CHAT: tuple[Item, ...] = (
    {"role": "user", "content": "hi"},
    {"role": "user", "content": ""},
    {"role": "system", "content": "be brief"},
    {"role": "developer", "content": [{"type": "text", "text": "be brief"}]},
    {"role": "user", "content": "hi", "name": "alice"},
    {"role": "user", "content": "hi", "name": "a name the API refuses"},
    {"role": "user", "content": [{"type": "text", "text": "hi"}]},
    {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]},
    {"role": "user", "content": []},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "what is this?"},
            {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "high"}},
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
            {"type": "image_url", "image_url": {"url": "data:,odd", "detail": None}},
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
            {"type": "file", "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PDF}"}},
            {"type": "file", "file": {"file_id": "file-1"}},
            {"type": "video_url", "video_url": {"url": "https://example.org/a.mp4"}},
        ],
    },
    {"role": "assistant", "content": None, "tool_calls": [call("call_1"), call("call_2", arguments="")]},
    {"role": "assistant", "tool_calls": [call("call_1", index=0)]},
    {"role": "assistant", "content": "", "tool_calls": [call("call_1")], "reasoning_content": "hm", "refusal": None},
    {"role": "assistant", "content": "done", "tool_calls": None, "function_call": None, "audio": None},
    {"role": "assistant", "content": "done", "tool_calls": [], "annotations": []},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "call_1", "function": {"name": "now"}}]},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1", "type": "custom", "custom": {"name": "python", "input": "print(1)"}}],
    },
    {"role": "assistant", "content": None, "function_call": {"name": "now", "arguments": "{}", "x": 1}},
    {"role": "function", "name": "now", "content": "12:00"},
    {"role": "assistant", "content": None, "refusal": "I cannot help with that."},
    {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}, {"type": "text", "text": "Sorry."}]},
    {"role": "assistant", "content": None, "audio": {"id": "audio_1"}},
    {
        "role": "assistant",
        "content": None,
        "audio": {"id": "audio_1", "data": "AAAA", "expires_at": 1, "transcript": "hello"},
    },
    {"role": "tool", "tool_call_id": "call_1", "content": "text"},
    {"role": "tool", "tool_call_id": "call_1", "content": "", "name": "read"},
    {
        "role": "tool",
        "tool_call_id": "call_1",
        "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": None, "extra": {"patch": {"set": {}}}},
)

RESPONSES: tuple[Item, ...] = (
    {"role": "user", "content": "hi"},
    {"role": "developer", "content": "be brief", "type": "message"},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}], "status": "completed"},
    {
        "role": "user",
        "content": [
            {"type": "input_text", "text": "look"},
            {"type": "input_image", "image_url": "https://example.org/a.png", "detail": "auto"},
            {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"},
            {"type": "input_image", "file_id": "file-1", "detail": "low"},
            {"type": "input_file", "filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PDF}"},
            {"type": "input_file", "file_url": "https://example.org/a.pdf"},
        ],
    },
    {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "phase": "final_answer",
        "content": [
            {"type": "output_text", "text": "see [1]", "annotations": [{"type": "url_citation", "url": "x"}]},
            {"type": "refusal", "refusal": "No."},
        ],
    },
    {"role": "assistant", "content": [{"type": "input_text", "text": "odd but kept"}]},
    {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_1",
        "name": "read",
        "arguments": '{"path":"a.txt"}',
        "status": "completed",
    },
    {"type": "function_call_output", "call_id": "call_1", "output": "text", "id": "fco_1"},
    {"type": "function_call_output", "call_id": "call_1", "output": [{"type": "input_text", "text": "one"}]},
    {
        "type": "function_call_output",
        "call_id": "call_1",
        "output": [{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "https://e.org/a.png"}],
    },
    {"type": "custom_tool_call", "call_id": "call_2", "name": "python", "input": "print(1)"},
    {"type": "custom_tool_call_output", "call_id": "call_2", "output": "1"},
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA", "status": None},
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}},
    {"type": "computer_call_output", "call_id": "call_3", "output": {"type": "computer_screenshot", "file_id": "f"}},
    {"type": "mcp_approval_response", "approval_request_id": "a", "approve": True},
    {"type": "item_reference", "id": "msg_1"},
    {"id": "msg_1"},
    {"id": "msg_1", "type": None},
    {"type": "of_the_future", "role": "assistant", "nested": {"a": [1, None]}},
)

ANTHROPIC: tuple[Item, ...] = (
    {"role": "user", "content": "hi"},
    {"role": "user", "content": [{"type": "text", "text": "hi"}]},
    {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]},
    {
        "role": "user",
        "content": [
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
            {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
            {"type": "image", "source": {"type": "file", "file_id": "file_1"}},
            {
                "type": "document",
                "title": "report",
                "source": {"type": "text", "media_type": "text/plain", "data": "x"},
            },
            {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PDF}},
            {"type": "search_result", "source": "s", "title": "t", "content": [{"type": "text", "text": "x"}]},
        ],
    },
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "b3BhcXVl"},
            {"type": "text", "text": "see", "citations": [{"type": "char_location", "cited_text": "x"}]},
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}},
            {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
            use("toolu_1"),
            use("toolu_2", caller={"type": "direct"}),
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": "text", "is_error": False},
            {
                "type": "tool_result",
                "tool_use_id": "toolu_2",
                "content": [{"type": "text", "text": "e"}],
                "is_error": True,
            },
            {"type": "tool_result", "tool_use_id": "toolu_3"},
            {"type": "tool_result", "tool_use_id": "toolu_4", "content": []},
            {
                "type": "tool_result",
                "tool_use_id": "toolu_5",
                "content": [
                    {"type": "text", "text": "shot"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
                    {"type": "tool_reference", "tool_name": "x"},
                ],
                "cache_control": {"type": "ephemeral"},
            },
            {"type": "text", "text": "<system-reminder>\nbe kind\n</system-reminder>"},
        ],
    },
    {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "now"}]},
    {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": [{"type": "text", "text": "done"}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1},
    },
    {"role": "system", "content": "in the midst"},
)

PLAIN: tuple[Item, ...] = (
    {"role": "user", "content": "hi"},
    {"role": "assistant", "content": "hi", "speaker": "Ann Lee", "id": "m1", "at": "2026-05-01T10:00:00+02:00"},
    {"role": "user", "content": "hi", "mood": "good", "extra": {"plain": 1, "own": [1]}},
    {"role": "assistant", "parts": [{"kind": "call", "id": "c", "name": "now"}], "speaker": None},
    {"role": "tool", "parts": [{"kind": "result", "call_id": "c", "parts": [{"kind": "text", "text": "12"}]}]},
    {"role": "tool", "parts": [{"kind": "result", "call_id": "c", "is_error": True}]},
    {"role": "user", "parts": [{"kind": "text", "text": "hi", "extra": {}}], "origin": "chat", "extra": {"a": 1}},
    {"role": "user", "parts": [{"kind": "image", "url": "https://e.org/a.png", "width": 3}]},
    {"role": "user", "parts": []},
    json.loads(Message.of("user", "dumped").to_json()),
)

ITEMS = {
    MessageFormat.CHAT: CHAT,
    MessageFormat.RESPONSES: RESPONSES,
    MessageFormat.ANTHROPIC: ANTHROPIC,
    MessageFormat.PLAIN: PLAIN,
}
