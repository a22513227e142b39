"""Transcripts of Claude Code: `~/.claude/projects/<folder>/<session>.jsonl` and those of its subagents.

A line is one message or one block of a message. Lines of a subagent have `isSidechain`: they are in the file of the
session (older versions) or in `agent-<id>.jsonl`, beside it or in `<session>/subagents/`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from treering.observe.readers import line_types
from treering.observe.readers.event_fields import (
    RecentItems,
    amount,
    count,
    event_id,
    key,
    label,
    moment,
    text_of,
    word,
)
from treering.observe.readers.inserted_text import prompt_of, without_reminders
from treering.observe.readers.lines import records
from treering.observe.readers.transcripts import AgentTranscript, Fields, Head, ReadReport

NAME = "claude-code"

_SUBAGENT_FILE = "agent-"
_SYNTHETIC = "<synthetic>"


def transcripts(head: Head) -> tuple[AgentTranscript, ...]:
    lines = [line for line in head.records if owns(line)]
    session = next((each for line in lines if (each := key(line["sessionId"]))), None)
    if session is None:
        return ()
    subagent = _subagent_of_file(head, lines)
    return (
        AgentTranscript(
            path=head.path,
            agent=NAME,
            session=session,
            root=next((folder for line in lines if (folder := word(line, "cwd"))), None),
            started_at=next((at for line in head.records if (at := moment(line.get("timestamp")))), None),
            format=NAME,
            subagent=subagent,
        ),
    )


def owns(line: Fields) -> bool:
    return isinstance(line.get("sessionId"), str) and isinstance(line.get("type"), str) and "projectHash" not in line


def _subagent_of_file(head: Head, lines: list[Fields]) -> str | None:
    name = head.path.name.partition(".")[0]
    messages = [line for line in lines if line["type"] in ("user", "assistant")]
    if not messages or not all(line.get("isSidechain") is True for line in messages):
        return None
    agent = next((each for line in messages if (each := label(line.get("agentId")))), None)
    if agent is None and name.startswith(_SUBAGENT_FILE):
        return label(name.removeprefix(_SUBAGENT_FILE))
    # An older file of a session may begin with the lines of a subagent.
    return agent if name.startswith(_SUBAGENT_FILE) else None


def read(transcript: AgentTranscript, report: ReadReport) -> Iterator[Mapping[str, Any]]:
    return _Reading(transcript, report).events()


class _Reading:
    def __init__(self, transcript: AgentTranscript, report: ReadReport) -> None:
        self._transcript = transcript
        self._report = report
        self._tools = RecentItems()
        self._agents = RecentItems(4_096)  # of lines in older sidechains, by uuid
        self._latest_agent: str | None = None
        self._message: object = None
        self._message_tokens = 0
        self._is_started = transcript.subagent is not None

    def events(self) -> Iterator[Fields]:
        for number, line in records(self._transcript.path, self._report):
            kind = word(line, "type")
            convert = _CONVERSIONS.get(kind)
            if convert is None:
                if kind in line_types.CLAUDE_CODE:
                    self._report.skip(kind)
                else:
                    self._report.not_understood(kind)
                continue
            if "forkedFrom" in line:
                self._report.skip("copied from another session")
                continue
            drafts = list(convert(self, line))
            if not drafts:
                self._report.skip(f"{kind} without content")
                continue
            at = line.get("timestamp")
            if not self._is_started:
                self._is_started = True
                yield self._start(line, at)
            agent = self._agent(line)
            source = key(line.get("uuid")) or event_id(self._transcript.subagent, number)
            for index, draft in drafts:
                yield {**draft, "id": event_id(source, index), "at": at, "agent": agent}

    def _start(self, line: Fields, at: object) -> Fields:
        details = {
            "agent": NAME,
            "cwd": line.get("cwd"),
            "branch": line.get("gitBranch"),
            "version": line.get("version"),
        }
        metadata = {name: value for name, value in details.items() if isinstance(value, str) and value}
        return {"id": "session_start", "kind": "session_start", "at": at, "metadata": metadata}

    def _agent(self, line: Fields) -> str | None:
        """The subagent that a line belongs to; older sidechains have only the uuid of the previous line."""
        if self._transcript.subagent is not None:
            return self._transcript.subagent
        if line.get("isSidechain") is not True:
            return None
        agent = label(line.get("agentId"))
        uuid, parent = word(line, "uuid"), word(line, "parentUuid")
        if agent is None:
            agent = self._agents.get(parent, self._latest_agent) if parent else label(uuid)
        if agent is None:
            agent = "sidechain"
        if uuid:
            self._agents[uuid] = agent
        self._latest_agent = agent
        return agent

    def user(self, line: Fields) -> Iterator[tuple[int, Fields]]:
        content = _content(line)
        is_prompt = not (line.get("isMeta") or line.get("isCompactSummary") or line.get("isVisibleInTranscriptOnly"))
        # The task of a subagent comes from the agent that started it.
        kind = "subagent" if line.get("isSidechain") is True else "prompt"
        for index, block in enumerate(content):
            if block.get("type") == "tool_result":
                yield index, self._result(block, line, is_only=len(content) == 1)
            elif is_prompt and isinstance(block.get("text"), str) and (text := prompt_of(block["text"])):
                yield index, {"kind": kind, "text": text}

    def _result(self, block: Fields, line: Fields, *, is_only: bool) -> Fields:
        call_id = word(block, "tool_use_id")
        details = line.get("toolUseResult") if is_only else None
        details = details if isinstance(details, dict) else {}
        metadata = {"interrupted": True} if details.get("interrupted") is True else {}
        return {
            "kind": "tool_result",
            "tool": self._tools.pop(call_id, None),
            "call_id": call_id,
            "text": without_reminders(text_of(block.get("content"))),
            "is_error": block.get("is_error") is True,
            "duration_ms": _first(amount, details, "durationMs", "totalDurationMs"),
            "tokens": count(details.get("totalTokens")),
            "metadata": metadata,
        }

    def assistant(self, line: Fields) -> Iterator[tuple[int, Fields]]:
        message = line.get("message")
        if line.get("isApiErrorMessage") or (isinstance(message, dict) and message.get("model") == _SYNTHETIC):
            return
        tokens, context = self._usage(message if isinstance(message, dict) else {})
        for index, block in enumerate(_content(line)):
            draft = self._block(block)
            if draft is None:
                continue
            if tokens:
                draft["tokens"] = tokens
                draft["metadata"] = {**draft.get("metadata", {}), "input_tokens": context}
                tokens = 0
            yield index, draft

    def _block(self, block: Fields) -> Fields | None:
        """The event of one block of a response."""
        kind = word(block, "type")
        if kind == "text":
            text = block.get("text")
            return {"kind": "reasoning", "text": text} if isinstance(text, str) and text.strip() else None
        if kind == "thinking":
            text = block.get("thinking")
            is_empty = not isinstance(text, str) or not text.strip()
            return None if is_empty else {"kind": "reasoning", "text": text, "metadata": {"thinking": True}}
        call_id = word(block, "id")
        if kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
            name = label(block.get("name"))
            if call_id and name:
                self._tools[call_id] = name
            return {"kind": "tool_call", "tool": name, "call_id": call_id, "arguments": block.get("input")}
        if kind.endswith("_tool_result"):
            call_id = word(block, "tool_use_id")
            tool = self._tools.pop(call_id, None)
            return {"kind": "tool_result", "tool": tool, "call_id": call_id, "text": text_of(block.get("content"))}
        if kind not in ("redacted_thinking", "fallback"):
            self._report.not_understood(f"assistant block {kind}")
        return None

    def _usage(self, message: Fields) -> tuple[int, int]:
        """Tokens written since the previous line of the same response, and tokens of its whole input.

        Each block of a response is a line that repeats the usage, complete only in the last one.
        """
        usage = message.get("usage")
        if not isinstance(usage, dict):
            return 0, 0
        if message.get("id") != self._message or self._message is None:
            self._message, self._message_tokens = message.get("id"), 0
        written = count(usage.get("output_tokens")) or 0
        new = max(0, written - self._message_tokens)
        self._message_tokens = max(self._message_tokens, written)
        names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        return new, sum(count(usage.get(name)) or 0 for name in names)

    def attachment(self, line: Fields) -> Iterator[tuple[int, Fields]]:
        """A prompt that the user typed while the agent was working; other attachments are made by the program."""
        attachment = line.get("attachment")
        if not isinstance(attachment, dict) or attachment.get("type") != "queued_command":
            return
        is_typed = attachment.get("commandMode", "prompt") == "prompt" and not attachment.get("isMeta")
        if is_typed and (text := prompt_of(text_of(attachment.get("prompt")))):
            yield 0, {"kind": "prompt", "text": text}


_CONVERSIONS = {"user": _Reading.user, "assistant": _Reading.assistant, "attachment": _Reading.attachment}


def _content(line: Fields) -> list[Fields]:
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else message
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return []
    blocks = ({"type": "text", "text": block} if isinstance(block, str) else block for block in content)
    return [block for block in blocks if isinstance(block, dict)]


def _first(check: Any, fields: Mapping[str, Any], *names: str) -> Any:
    return next((each for name in names if (each := check(fields.get(name))) is not None), None)
