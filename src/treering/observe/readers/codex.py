"""Rollouts of Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`.

Since September 2025 a line is `{"timestamp", "type", "payload"}`. Earlier lines are bare items after a first line about
the session, and the first versions wrote one JSON document `{"session", "items"}`. Items are those of OpenAI's
Responses API in all of them.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from treering.observe.readers import line_types
from treering.observe.readers.codex_output import has_failed, json_object, milliseconds, tool_output
from treering.observe.readers.documents import BrokenDocument, LongMember, members
from treering.observe.readers.event_fields import RecentItems, count, event_id, key, label, moment, text_of, word
from treering.observe.readers.inserted_text import prompt_of
from treering.observe.readers.lines import open_file, records
from treering.observe.readers.transcripts import AgentTranscript, Fields, Head, ReadReport

NAME = "codex"

_ENVELOPES = frozenset(("session_meta", "turn_context", "response_item", "event_msg", "compacted", "world_state"))
# Beginnings of messages with the role of the user that the program inserted.
_INSERTED = (
    "# AGENTS.md instructions",
    "<user_instructions>",
    "<environment_context>",
    "<environments_instructions>",
    "<apps_instructions>",
    "<skills_instructions>",
    "<plugins_instructions>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<multi_agent_mode>",
    "<recommended_plugins>",
    "<user_shell_command>",
    "<user_action>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<hook_prompt",
    "<external_",
    "<codex_internal_context",
    "<goal_context>",
    "<model_switch>",
    "<skill>",
    "<image",
    "</image>",
    "<audio",
    "</audio>",
    "<current_time_reminder>",
    "<rollout_budget>",
    "<realtime_",
    "<token_budget",
    "<context_window",
    "Warning: The maximum number of unified exec processes",
    "Warning: apply_patch was requested via",
    "Warning: Your account was flagged",
)
_IDE_REQUEST = re.compile(
    r"\A# (?:Context from my IDE setup|Files mentioned by the user):.*?^## My request for Codex:\s*",
    re.DOTALL | re.MULTILINE,
)
_WORKING_FOLDER = re.compile(r"<cwd>([^<\n]+)</cwd>|^Current working directory: ([^\n]+)$", re.MULTILINE)


def transcripts(head: Head) -> tuple[AgentTranscript, ...]:
    meta = _meta(head)
    if meta is None:
        return ()
    session, subagent = _session(meta)
    name = head.path.name
    if session is None and (found := _ID_IN_NAME.search(name)):
        session = found[0]
    if session is None:
        return ()
    return (
        AgentTranscript(
            path=head.path,
            agent=NAME,
            session=session,
            root=word(meta, "cwd") or _working_folder(head),
            started_at=moment(meta.get("timestamp"))
            or next((each for line in head.records if (each := moment(line.get("timestamp")))), None),
            format=NAME,
            subagent=subagent,
        ),
    )


_ID_IN_NAME = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_DOCUMENT = re.compile(rb'\A\s*\{\s*"session"\s*:\s*\{')
_DOCUMENT_FIELD = re.compile(rb'"(id|timestamp)"\s*:\s*"([^"\\]{1,200})"')


def _meta(head: Head) -> Fields | None:
    """What the file says about its session; None if the file is not a rollout."""
    if _DOCUMENT.match(head.prefix) and b'"items"' in head.prefix:
        found = _DOCUMENT_FIELD.findall(head.prefix.partition(b'"items"')[0])
        return {name.decode(): value.decode("utf-8", "replace") for name, value in reversed(found)}
    is_rollout = False
    for line in head.records:
        payload = line.get("payload")
        if word(line, "type") in _ENVELOPES and isinstance(payload, dict):
            is_rollout = True
            if line["type"] == "session_meta":
                return payload
        elif _is_bare_meta(line):
            return line
    return {} if is_rollout else None


def owns(line: Fields) -> bool:
    is_envelope = word(line, "type") in _ENVELOPES and isinstance(line.get("payload"), dict)
    return is_envelope or _is_bare_meta(line)


def _is_bare_meta(line: Fields) -> bool:
    has_only_meta = "type" not in line and "kind" not in line and "sessionId" not in line
    return has_only_meta and "id" in line and "timestamp" in line and ("instructions" in line or "git" in line)


def _session(meta: Fields) -> tuple[str | None, str | None]:
    """The session and, for the thread of a subagent, its id."""
    thread, root = key(meta.get("id")), key(meta.get("session_id"))
    source = meta.get("source")
    parent = key(meta.get("parent_thread_id"))
    if parent is None and isinstance(source, dict):
        spawned = source.get("subagent")
        spawned = spawned.get("thread_spawn") if isinstance(spawned, dict) else None
        parent = key(spawned.get("parent_thread_id")) if isinstance(spawned, dict) else None
    session = root if root and root != thread else parent
    return (session, thread) if session and thread else (thread or root, None)


def _working_folder(head: Head) -> str | None:
    """The folder from the description of the environment, which older versions put into the first message."""
    for line in head.records:
        payload = line.get("payload", line)
        if isinstance(payload, dict) and payload.get("type") == "message":
            if found := _WORKING_FOLDER.search(text_of(payload.get("content"))):
                return (found[1] or found[2]).strip() or None
        elif isinstance(payload, dict) and line.get("type") == "turn_context" and word(payload, "cwd"):
            return word(payload, "cwd")
    return None


def read(transcript: AgentTranscript, report: ReadReport) -> Iterator[Mapping[str, Any]]:
    return _Reading(transcript, report).events()


class _Reading:
    def __init__(self, transcript: AgentTranscript, report: ReadReport) -> None:
        self._transcript = transcript
        self._report = report
        self._tools = RecentItems()
        self._results = RecentItems()  # what the event stream said about a call: error, duration
        self._total_tokens: object = None
        self._own_history_from = 0
        self._has_meta = False
        self._is_internal = transcript.subagent is not None

    def events(self) -> Iterator[Fields]:
        subagent = self._transcript.subagent
        for number, at, line in self._lines():
            for index, draft in enumerate(self._line(line)):
                identifier = draft.get("id") or event_id(subagent, number, index)
                yield {**draft, "id": identifier, "at": at, "agent": subagent}

    def _lines(self) -> Iterator[tuple[int, object, Fields]]:
        with open_file(self._transcript.path) as stream:
            is_document = _DOCUMENT.match(stream.read(4_096)) is not None
        if not is_document:
            yield from (
                (number, line.get("timestamp"), line) for number, line in records(self._transcript.path, self._report)
            )
            return
        with open_file(self._transcript.path) as stream:
            try:
                for number, (name, value) in enumerate(members(stream), start=1):
                    if name == "items" and isinstance(value, dict):
                        self._report.lines += 1
                        yield number, value.get("timestamp"), value
            except LongMember:
                self._report.too_long += 1
            except BrokenDocument:
                self._report.truncated += 1

    def _line(self, line: Fields) -> Iterator[Fields]:
        kind, payload = word(line, "type"), line.get("payload")
        ordinal = count(line.get("ordinal"))
        if ordinal is not None and ordinal < self._own_history_from:
            self._report.skip("copied from another session")
        elif kind == "session_meta" and isinstance(payload, dict) and not self._has_meta:
            yield from self._start(payload)
        elif kind == "response_item" and isinstance(payload, dict):
            yield from self._item(payload)
        elif kind == "event_msg" and isinstance(payload, dict):
            yield from self._stream(payload)
        elif kind in line_types.CODEX:
            self._report.skip(kind)
        elif _is_bare_meta(line) and not self._has_meta:
            yield from self._start(line)
        elif "record_type" in line:
            self._report.skip("record_type")
        elif payload is None and kind in _ITEMS:
            yield from self._item(line)
        else:
            self._report.not_understood(kind)

    def _start(self, meta: Fields) -> Iterator[Fields]:
        self._has_meta = True
        self._own_history_from = count(meta.get("subagent_history_start_ordinal")) or 0
        source = meta.get("source")
        if isinstance(source, dict) and ("subagent" in source or "internal" in source):
            self._is_internal = True
        if self._transcript.subagent is not None:
            self._report.skip("session_meta")
            return
        git = meta.get("git")
        details = {
            "agent": NAME,
            "cwd": meta.get("cwd"),
            "branch": git.get("branch") if isinstance(git, dict) else None,
            "version": meta.get("cli_version"),
            "source": source,
        }
        metadata = {name: value for name, value in details.items() if isinstance(value, str) and value}
        yield {"id": "session_start", "kind": "session_start", "metadata": metadata}

    def _item(self, item: Fields) -> Iterator[Fields]:
        kind = word(item, "type")
        convert = _ITEMS.get(kind)
        if convert is None:
            if kind in line_types.CODEX_ITEMS:
                self._report.skip(kind)
            else:
                self._report.not_understood(f"response_item {kind}")
            return
        is_empty = True
        for draft in convert(self, item):
            is_empty = False
            yield draft
        if is_empty:
            self._report.skip(f"{kind} without content")

    def message(self, item: Fields) -> Iterator[Fields]:
        role = item.get("role")
        if role == "assistant":
            if (text := text_of(item.get("content"))).strip():
                yield {"kind": "reasoning", "text": text}
        elif role == "user":
            content = item.get("content")
            parts = content if isinstance(content, list) else [content]
            texts = [text for part in parts if (text := _typed(text_of(part)))]
            if texts:
                # The task of a subagent comes from the agent that started it.
                yield {"kind": "subagent" if self._is_internal else "prompt", "text": "\n".join(texts)}

    def agent_message(self, item: Fields) -> Iterator[Fields]:
        if (text := text_of(item.get("content"))).strip():
            metadata = {name: word(item, name) for name in ("author", "recipient")}
            yield {"kind": "subagent", "text": text, "metadata": metadata}

    def reasoning(self, item: Fields) -> Iterator[Fields]:
        text = text_of(item.get("content")) or text_of(item.get("summary"))
        if text.strip():
            yield {"kind": "reasoning", "text": text, "metadata": {"thinking": True}}

    def call(self, item: Fields) -> Iterator[Fields]:
        call_id = word(item, "call_id") or word(item, "id")
        tool = _tool_name(item)
        if call_id and tool:
            self._tools[call_id] = tool
        yield {"kind": "tool_call", "tool": tool, "call_id": call_id, "arguments": _arguments(item)}

    def output(self, item: Fields) -> Iterator[Fields]:
        call_id = word(item, "call_id")
        text, is_error, duration = tool_output(item.get("output"))
        seen_error, seen_duration = self._results.pop(call_id, (False, None))
        yield {
            "kind": "tool_result",
            "tool": self._tools.pop(call_id, None) or label(item.get("name")),
            "call_id": call_id,
            "text": text,
            "is_error": is_error or seen_error,
            "duration_ms": seen_duration if duration is None else duration,
        }

    def _stream(self, payload: Fields) -> Iterator[Fields]:
        kind = word(payload, "type")
        if kind == "token_count":
            yield from self._tokens(payload)
        elif kind in ("exec_command_end", "mcp_tool_call_end", "patch_apply_end"):
            if call_id := word(payload, "call_id"):
                self._results[call_id] = (has_failed(payload), milliseconds(payload.get("duration")))
            self._report.skip(kind)
        elif kind == "item_completed" and (text := _plan(payload.get("item"))):
            yield {"kind": "plan", "text": text}
        elif kind in line_types.CODEX_STREAM:
            self._report.skip(kind)
        else:
            self._report.not_understood(f"event_msg {kind}")

    def _tokens(self, payload: Fields) -> Iterator[Fields]:
        """A step of the model; the line is repeated when only the rate limits have changed."""
        info = payload.get("info")
        last, total = (
            (info.get("last_token_usage"), info.get("total_token_usage")) if isinstance(info, dict) else (0, 0)
        )
        if not isinstance(last, dict) or total == self._total_tokens:
            self._report.skip("token_count")
            return
        self._total_tokens = total
        metadata = {"input_tokens": count(last.get("input_tokens")) or 0}
        yield {"kind": "step", "tokens": last.get("output_tokens"), "metadata": metadata}


_ITEMS = {
    "message": _Reading.message,
    "agent_message": _Reading.agent_message,
    "reasoning": _Reading.reasoning,
    "function_call": _Reading.call,
    "function_call_output": _Reading.output,
    "custom_tool_call": _Reading.call,
    "custom_tool_call_output": _Reading.output,
    "local_shell_call": _Reading.call,
    "local_shell_call_output": _Reading.output,
    "mcp_tool_call_output": _Reading.output,
    "tool_search_call": _Reading.call,
    "tool_search_output": _Reading.output,
    "web_search_call": _Reading.call,
}
# Names of tools for items that have none.
_TOOLS = {"local_shell_call": "local_shell", "tool_search_call": "tool_search", "web_search_call": "web_search"}


def _typed(text: str) -> str:
    """What the user typed in one part of a message."""
    if text.lstrip().startswith(_INSERTED):
        return ""
    return prompt_of(_IDE_REQUEST.sub("", text))


def _tool_name(item: Fields) -> str | None:
    name = word(item, "name") or _TOOLS.get(word(item, "type"), "")
    namespace = word(item, "namespace")
    if namespace.startswith("mcp__") and not name.startswith("mcp__"):
        return label(f"{namespace.rstrip('_')}__{name}")
    return label(name)


def _arguments(item: Fields) -> Any:
    given = item.get("arguments", item.get("input", item.get("action")))
    if isinstance(given, str):
        parsed = json_object(given)
        return {"input": given} if parsed is None else parsed
    return given


def _plan(item: object) -> str:
    """The text of a completed plan, which no item of the conversation has."""
    if isinstance(item, dict) and word(item, "type").lower() == "plan":
        return word(item, "text").strip()
    return ""
