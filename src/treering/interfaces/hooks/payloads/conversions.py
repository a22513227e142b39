"""Conversions that the hooks of several agents share."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from treering.core.events import SessionOutcome
from treering.core.injections import InjectionPoint
from treering.interfaces.hooks.payloads.reading import NOTHING, Fields, HookCall, HookDraft
from treering.observe.errors import failure_of
from treering.observe.readers.event_fields import amount, count, event_id, key, label, text_of, word
from treering.observe.readers.inserted_text import prompt_of, without_reminders
from treering.observe.tools import ToolAction, ToolUse, tool_use

_BEGINNINGS = frozenset({"startup", "resume", "clear", "compact"})
_MAX_ERROR = 20_000  # characters of a failing command's output: its beginning and its end
# A command, in contrast to a path: one word without a second slash.
_SLASH = re.compile(r"\A/([\w:.-]{1,200})(?=\s|\Z)(.*)\Z", re.DOTALL)
_OUTPUTS = ("stdout", "stderr", "output", "content", "result", "text", "error", "filenames", "llmContent", "message")


@dataclass(frozen=True, slots=True)
class HookToolResult:
    """The outcome of a tool call as a hook reports it."""

    text: str
    is_error: bool = False
    duration_ms: float | None = None
    tokens: int | None = None
    interrupted: bool = False


def started(call: HookCall, _root: str) -> HookDraft:
    """The session starts, or goes on after a resumption or a compaction."""
    source = word(call.payload, "source")
    begin = source if source in _BEGINNINGS else "startup"
    details = {"cwd": word(call.payload, "cwd"), "source": source}
    metadata = {name: value for name, value in details.items() if value}
    event = {"id": "session_start", "kind": "session_start", "metadata": metadata}
    return HookDraft((event,), InjectionPoint.START, {"begin": begin})


def ended(call: HookCall, _root: str) -> HookDraft:
    return HookDraft(({"kind": "session_end"},), end=SessionOutcome.SUCCESS)


def compacting(_call: HookCall, _root: str) -> HookDraft:
    return HookDraft(compacts=True)


def prompted(call: HookCall, _root: str) -> HookDraft:
    """The user typed a prompt. What a program wrote in the user's name is not one."""
    return prompt_draft(word(call.payload, "prompt"))


def prompt_draft(given: str) -> HookDraft:
    typed = typed_text(given)
    text = prompt_of(typed)
    if not text:
        return HookDraft(typed=typed)
    return HookDraft(({"kind": "prompt", "text": text},), InjectionPoint.PROMPT, {"prompt": text}, typed=typed)


def typed_text(given: str) -> str:
    """A prompt with a slash command in the form that transcripts have, so that both give the same event."""
    if found := _SLASH.match(given.strip()):
        return f"<command-name>/{found[1]}</command-name>\n<command-args>{found[2].strip()}</command-args>"
    return given


def said(call: HookCall, text: str, *, stops: bool = True) -> HookDraft:
    """The agent's words at the end of its turn."""
    events = ({"kind": "reasoning", "text": text},) if text.strip() else ()
    is_repeated = call.payload.get("stop_hook_active") is True  # the agent goes on because a hook asked for it
    point = InjectionPoint.STEP if stops and not is_repeated and call.subagent is None else None
    return HookDraft(events, point, stops=stops and call.subagent is None)


def tool_called(call: HookCall, _root: str) -> HookDraft:
    """The agent is about to use a tool."""
    event = _call_event(call)
    return HookDraft((event,)) if event["call_id"] else NOTHING  # without an id, the result brings the call


def tool_ended(call: HookCall, root: str, result: HookToolResult) -> HookDraft:
    """A tool was used: the call, which is ignored if it is known by its id, and its result."""
    called = _call_event(call)
    call_id = called["call_id"] or event_id("hook", call.id)
    called = {**called, "call_id": call_id}
    tool, arguments = called["tool"] or "", arguments_of(call.payload.get("tool_input"))
    use = tool_use(tool, arguments, root)
    ended_event = {
        "kind": "tool_result",
        "tool": tool,
        "call_id": call_id,
        "text": "" if use.action is ToolAction.EDIT and not result.is_error else result.text,
        "is_error": result.is_error,
        "duration_ms": result.duration_ms,
        "tokens": result.tokens,
        "metadata": {"interrupted": True} if result.interrupted else {},
    }
    happened = _happened(tool, use, result, root)
    return HookDraft((called, ended_event), InjectionPoint.TOOL if happened else None, happened)


def _call_event(call: HookCall) -> dict[str, Any]:
    payload = call.payload
    return {
        "kind": "tool_call",
        "tool": label(payload.get("tool_name")),
        "call_id": key(payload.get("tool_use_id")),
        "arguments": arguments_of(payload.get("tool_input")),
    }


def _happened(tool: str, use: ToolUse, result: HookToolResult, root: str) -> dict[str, Any]:
    """Fields of the occasion; empty if nothing can be known about what the tool did."""
    if result.interrupted:
        return {}
    text = _ends_of(result.text)
    has_failed = result.is_error or (
        use.action is ToolAction.RUN and failure_of(tool, use, text, is_error=False, root=root) is not None
    )
    found = {
        "files": use.paths,
        "search": use.pattern if use.action in (ToolAction.SEARCH, ToolAction.LIST) else "",
        "command": use.command,
        "error": (text or "failed") if has_failed else "",
    }
    return {name: value for name, value in found.items() if value}


def batch_ended(call: HookCall, root: str) -> HookDraft:
    """The agent's calls of one step are done. Each has had its own hook: here is only the point between two steps."""
    calls = call.payload.get("tool_calls")
    files: dict[str, None] = {}
    for each in calls[:100] if isinstance(calls, list) else ():
        if isinstance(each, Mapping):
            use = tool_use(word(each, "tool_name"), arguments_of(each.get("tool_input")), root)
            files.update(dict.fromkeys(use.paths))
    return HookDraft(point=None if call.subagent else InjectionPoint.STEP, occasion={"files": tuple(files)})


def subagent_event(call: HookCall, text: str = "") -> Fields:
    """An event of the main agent about one of its subagents."""
    metadata = {"agent_id": call.subagent or "", "agent_type": word(call.payload, "agent_type")}
    return {"kind": "subagent", "agent": None, "text": text, "metadata": metadata}


def arguments_of(given: object) -> dict[str, Any]:
    """Arguments of a tool: an object, or one as JSON text."""
    value = json_value(given) if isinstance(given, str) else given
    if isinstance(value, Mapping):
        return dict(value)
    return {} if value is None or value == "" else {"input": value}


def json_value(text: str) -> Any:
    """The value of a JSON text, or the text itself if it is none."""
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def result_text(response: object) -> str:
    """The text of a tool's response in any of its forms."""
    if isinstance(response, Mapping):
        file = response.get("file")
        if isinstance(file, Mapping):
            return without_reminders(word(file, "content"))
        parts = (_part(response.get(name)) for name in _OUTPUTS)
        return without_reminders("\n".join(part for part in parts if part))
    return without_reminders(text_of(response))


def _part(value: object) -> str:
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return "\n".join(value)
    return text_of(value)


def duration_of(payload: Fields, *names: str) -> float | None:
    return next((found for name in names if (found := amount(payload.get(name))) is not None), None)


def tokens_of(response: object) -> int | None:
    return count(response.get("totalTokens")) if isinstance(response, Mapping) else None


def _ends_of(text: str) -> str:
    half = _MAX_ERROR // 2
    return text if len(text) <= _MAX_ERROR else f"{text[:half]}\n…\n{text[-half:]}"
