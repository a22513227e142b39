"""Hooks of Codex: those of Claude Code, with the outputs of Codex."""

from __future__ import annotations

from treering.interfaces.hooks.payloads import claude_code
from treering.interfaces.hooks.payloads.conversions import (
    HookToolResult,
    duration_of,
    json_value,
    result_text,
    tool_ended,
)
from treering.interfaces.hooks.payloads.reading import HookCall, HookDraft, HookReader
from treering.observe.readers import codex
from treering.observe.readers.codex_output import tool_output


def used_tool(call: HookCall, root: str) -> HookDraft:
    """A tool was used. Codex names no exit code here: a failure is recognised by what the output says."""
    response = call.payload.get("tool_response")
    text, has_failed, duration = tool_output(response)
    if not text and isinstance(response, dict):
        text = result_text(response)
    elif isinstance(response, str) and isinstance(parsed := json_value(response), dict) and "content" in parsed:
        text, has_failed, duration = tool_output(parsed)
    if duration is None:
        duration = duration_of(call.payload, "duration_ms")
    return tool_ended(call, root, HookToolResult(text, has_failed, duration))


READER = HookReader(codex.NAME, {**claude_code.HOOKS, "PostToolUse": used_tool})
