"""Payloads of hooks as agents send them, captured from the programs and shortened; those of Cursor and VS Code are from
their documentation."""

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from treering.interfaces.hooks.payloads.reading import HookCall, HookReading
from treering.interfaces.hooks.payloads.table import READERS
from treering.location.hook_files import ensure_private_folder
from treering.location.hook_spool import append_line, event_line

ROOT = "/home/user/proj"
AT = datetime(2026, 11, 15, 1, 24, tzinfo=UTC)
CLAUDE = "00000000-0000-4000-8000-000000000001"
CODEX = "01a00000-0000-7000-8000-1c402bdccc9c"
Payload = dict[str, Any]


def claude(hook: str, **fields: Any) -> Payload:
    shared = {
        "session_id": CLAUDE,
        "transcript_path": f"/home/user/.claude/projects/-home-user-proj/{CLAUDE}.jsonl",
        "cwd": ROOT,
        "prompt_id": "00000000-0000-4000-8000-000000000002",
        "permission_mode": "default",
        "hook_event_name": hook,
    }
    return shared | fields


def bash(command: str, stdout: str, id: str = "toolu_1", **fields: Any) -> Payload:
    response = {"stdout": stdout, "stderr": "", "interrupted": False, "isImage": False}
    return claude(
        "PostToolUse",
        tool_name="Bash",
        tool_input={"command": command},
        tool_response=response,
        tool_use_id=id,
        duration_ms=39,
        **fields,
    )


def failed_bash(command: str, error: str, id: str = "toolu_2") -> Payload:
    return claude(
        "PostToolUseFailure",
        tool_name="Bash",
        tool_input={"command": command, "description": "fail"},
        tool_use_id=id,
        error=error,
        is_interrupt=False,
        duration_ms=10,
    )


def edit(path: str, id: str, old: str = "a", new: str = "b") -> Payload:
    given = {"file_path": f"{ROOT}/{path}", "old_string": old, "new_string": new}
    response = {"filePath": given["file_path"], "oldString": old, "newString": new, "structuredPatch": []}
    return claude("PostToolUse", tool_name="Edit", tool_input=given, tool_response=response, tool_use_id=id)


def prompt(text: str, **fields: Any) -> Payload:
    return claude("UserPromptSubmit", prompt=text, **fields)


def codex(hook: str, **fields: Any) -> Payload:
    shared = {"session_id": CODEX, "turn_id": "01a0", "cwd": ROOT, "hook_event_name": hook, "model": "gpt-5-codex"}
    return shared | fields


def gemini(hook: str, **fields: Any) -> Payload:
    shared = {
        "session_id": CLAUDE,
        "transcript_path": "/home/user/.gemini/tmp/proj/chats/session-2026-11-15T01-24-8dc25118.jsonl",
        "cwd": ROOT,
        "hook_event_name": hook,
        "timestamp": "2026-11-15T01:24:51.788Z",
    }
    return shared | fields


def cursor(hook: str, **fields: Any) -> Payload:
    shared = {
        "conversation_id": "conv-123",
        "generation_id": "gen-456",
        "hook_event_name": hook,
        "workspace_roots": [ROOT],
        "cursor_version": "2.0.77",
    }
    return shared | fields


def vscode(hook: str, **fields: Any) -> Payload:
    shared = {"timestamp": "2026-02-09T10:30:00.000Z", "cwd": ROOT, "sessionId": "vs-1", "hookEventName": hook}
    return shared | fields


def hook_of(payload: Mapping[str, Any]) -> str:
    return str(payload.get("hook_event_name") or payload.get("hookEventName") or "")


def read(agent: str, payload: Mapping[str, Any], id: str = "line-1") -> HookReading:
    """What the payload says; fails if it says nothing."""
    found = READERS[agent].read(HookCall(id, AT, agent, hook_of(payload), payload), ROOT)
    assert found is not None
    return found


def put(folder: str | os.PathLike[str], agent: str, *payloads: Mapping[str, Any], first: int = 0) -> list[str]:
    """Write lines to the spool as a hook process does, and return their ids."""
    ensure_private_folder(os.fspath(folder))
    ids = []
    for number, payload in enumerate(payloads, start=first):
        ids.append(f"{agent}-{number}")
        line = event_line(agent, hook_of(payload), json.loads(json.dumps(payload)), ids[-1], AT.timestamp() + number)
        assert append_line(os.fspath(folder), line)
    return ids
