"""Hooks of Claude Code. Those of Codex and VS Code have the same names and fields."""

from __future__ import annotations

from collections.abc import Mapping

from treering.interfaces.hooks.payloads.conversions import (
    HookToolResult,
    batch_ended,
    compacting,
    duration_of,
    ended,
    prompted,
    result_text,
    said,
    started,
    subagent_event,
    tokens_of,
    tool_called,
    tool_ended,
)
from treering.interfaces.hooks.payloads.reading import NOTHING, HookCall, HookDraft, HookReader
from treering.observe.readers import claude_code
from treering.observe.readers.event_fields import word


def used_tool(call: HookCall, root: str) -> HookDraft:
    response = call.payload.get("tool_response")
    interrupted = isinstance(response, Mapping) and response.get("interrupted") is True
    has_failed = isinstance(response, Mapping) and response.get("is_error") is True
    duration = duration_of(call.payload, "duration_ms")
    result = HookToolResult(result_text(response), has_failed, duration, tokens_of(response), interrupted)
    return tool_ended(call, root, result)


def failed_tool(call: HookCall, root: str) -> HookDraft:
    interrupted = call.payload.get("is_interrupt") is True
    text, duration = word(call.payload, "error"), duration_of(call.payload, "duration_ms")
    return tool_ended(call, root, HookToolResult(text, True, duration, interrupted=interrupted))


def expanded_prompt(call: HookCall, _root: str) -> HookDraft:
    """A slash command before its expansion; the prompt itself comes with its own hook."""
    name, arguments = word(call.payload, "command_name"), word(call.payload, "command_args")
    if not name:
        return NOTHING
    return HookDraft(typed=f"<command-name>/{name}</command-name>\n<command-args>{arguments}</command-args>")


def stopped(call: HookCall, _root: str) -> HookDraft:
    return said(call, word(call.payload, "last_assistant_message"))


def displayed(call: HookCall, _root: str) -> HookDraft:
    """A message of the agent, if it came as a whole."""
    is_whole = call.payload.get("final") is True and call.payload.get("index") == 0
    return said(call, word(call.payload, "delta") if is_whole else "", stops=False)


def failed(call: HookCall, _root: str) -> HookDraft:
    """The agent stopped because of an error, such as one of the API; its words are those of the program."""
    return HookDraft(failed=True)


def started_subagent(call: HookCall, _root: str) -> HookDraft:
    return HookDraft((subagent_event(call),)) if word(call.payload, "agent_type") else NOTHING


def stopped_subagent(call: HookCall, _root: str) -> HookDraft:
    """A subagent gave its result. One without a type belongs to the program, such as that of a compaction."""
    if not word(call.payload, "agent_type"):
        return NOTHING
    words = said(call, word(call.payload, "last_assistant_message"), stops=False)
    return HookDraft((*words.events, subagent_event(call)))


HOOKS = {
    "SessionStart": started,
    "UserPromptSubmit": prompted,
    "UserPromptExpansion": expanded_prompt,
    "PreToolUse": tool_called,
    "PostToolUse": used_tool,
    "PostToolUseFailure": failed_tool,
    "PostToolBatch": batch_ended,
    "MessageDisplay": displayed,
    "Stop": stopped,
    "StopFailure": failed,
    "SubagentStart": started_subagent,
    "SubagentStop": stopped_subagent,
    "PreCompact": compacting,
    "SessionEnd": ended,
}
READER = HookReader(claude_code.NAME, HOOKS)
