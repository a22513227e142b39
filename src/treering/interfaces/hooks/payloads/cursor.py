"""Hooks of Cursor, from its documentation: cursor.com/docs/agent/hooks.

`postToolUse` reports every tool; the hooks for commands, edits and MCP tools are for versions without it.
"""

from __future__ import annotations

from dataclasses import replace

from treering.core.events import SessionOutcome
from treering.interfaces.hooks.payloads.conversions import (
    HookToolResult,
    arguments_of,
    compacting,
    duration_of,
    ended,
    json_value,
    prompted,
    result_text,
    said,
    started,
    tool_called,
    tool_ended,
)
from treering.interfaces.hooks.payloads.reading import Fields, HookCall, HookDraft, HookReader
from treering.observe.readers.event_fields import word

NAME = "cursor"
_UNFINISHED = frozenset({"error", "aborted"})


def used_tool(call: HookCall, root: str) -> HookDraft:
    output = call.payload.get("tool_output")
    response = json_value(output) if isinstance(output, str) else output
    code = response.get("exitCode", response.get("exit_code", 0)) if isinstance(response, dict) else 0
    result = HookToolResult(result_text(response), code not in (0, None), duration_of(call.payload, "duration"))
    return tool_ended(call, root, result)


def failed_tool(call: HookCall, root: str) -> HookDraft:
    interrupted = call.payload.get("is_interrupt") is True
    text, duration = word(call.payload, "error_message"), duration_of(call.payload, "duration")
    return tool_ended(call, root, HookToolResult(text, True, duration, interrupted=interrupted))


def ran_command(call: HookCall, root: str) -> HookDraft:
    arguments = {"command": word(call.payload, "command")}
    return _used(call, root, "Shell", arguments, word(call.payload, "output"))


def edited_file(call: HookCall, root: str) -> HookDraft:
    arguments = {"file_path": word(call.payload, "file_path"), "edits": call.payload.get("edits")}
    return _used(call, root, "MultiEdit", arguments, "")


def used_server(call: HookCall, root: str) -> HookDraft:
    """A tool of an MCP server, which the payload does not name: its answer counts as outside content."""
    server = word(call.payload, "server") or "unknown"
    tool = f"mcp__{server}__{word(call.payload, 'tool_name')}"
    text = result_text(json_value(word(call.payload, "result_json")))
    return _used(call, root, tool, arguments_of(call.payload.get("tool_input")), text)


def _used(call: HookCall, root: str, tool: str, arguments: Fields, text: str) -> HookDraft:
    payload = {**call.payload, "tool_name": tool, "tool_input": arguments}
    return tool_ended(
        replace(call, payload=payload), root, HookToolResult(text, False, duration_of(payload, "duration"))
    )


def answered(call: HookCall, _root: str) -> HookDraft:
    return said(call, word(call.payload, "text"), stops=False)


def stopped(call: HookCall, _root: str) -> HookDraft:
    return replace(said(call, ""), failed=word(call.payload, "status") in _UNFINISHED)


def ended_session(call: HookCall, root: str) -> HookDraft:
    draft = ended(call, root)
    has_failed = word(call.payload, "reason") in _UNFINISHED or word(call.payload, "final_status") in _UNFINISHED
    return replace(draft, end=SessionOutcome.FAILURE) if has_failed else draft


READER = HookReader(
    NAME,
    {
        "sessionStart": started,
        "beforeSubmitPrompt": prompted,
        "preToolUse": tool_called,
        "postToolUse": used_tool,
        "postToolUseFailure": failed_tool,
        "afterShellExecution": ran_command,
        "afterFileEdit": edited_file,
        "afterMCPExecution": used_server,
        "afterAgentResponse": answered,
        "stop": stopped,
        "preCompact": compacting,
        "sessionEnd": ended_session,
    },
)
