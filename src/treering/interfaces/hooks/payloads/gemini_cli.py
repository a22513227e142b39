"""Hooks of Gemini CLI. Its payloads have no ids of tool calls, so a call is known only by its result."""

from __future__ import annotations

import re
from collections.abc import Mapping

from treering.interfaces.hooks.payloads.conversions import (
    HookToolResult,
    compacting,
    ended,
    prompt_draft,
    result_text,
    said,
    started,
    tool_ended,
)
from treering.interfaces.hooks.payloads.reading import NOTHING, HookCall, HookDraft, HookReader
from treering.observe.readers import gemini_cli
from treering.observe.readers.event_fields import text_of, word

# Context that a hook gave before comes back in front of the next prompt.
_HOOK_CONTEXT = re.compile(r"<hook_context>.*?(?:</hook_context>|\Z)", re.DOTALL)


def prompted(call: HookCall, _root: str) -> HookDraft:
    given = _HOOK_CONTEXT.sub("", word(call.payload, "prompt"))
    return prompt_draft(gemini_cli.without_referenced_files(given).strip())


def used_tool(call: HookCall, root: str) -> HookDraft:
    response = call.payload.get("tool_response")
    if not isinstance(response, Mapping):
        return NOTHING if response is None else tool_ended(call, root, HookToolResult(text_of(response)))
    text = gemini_cli.output_text(result_text(response) or text_of(response.get("returnDisplay")))
    has_failed = bool(response.get("error")) or gemini_cli.is_failed_command(word(call.payload, "tool_name"), text)
    return tool_ended(call, root, HookToolResult(text, has_failed))


def answered(call: HookCall, _root: str) -> HookDraft:
    return said(call, word(call.payload, "prompt_response"))


READER = HookReader(
    gemini_cli.NAME,
    {
        "SessionStart": started,
        "BeforeAgent": prompted,
        "AfterTool": used_tool,
        "AfterAgent": answered,
        "PreCompress": compacting,
        "SessionEnd": ended,
    },
)
