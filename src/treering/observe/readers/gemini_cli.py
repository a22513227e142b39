"""Sessions of Gemini CLI: `~/.gemini/tmp/<project>/chats/session-*.json` and `.jsonl`, and `logs.json`.

A chat is one JSON document `{"sessionId", "projectHash", "messages"}` or, in newer versions, a line about the session
and one line for each message; a message that changes is written again. `logs.json` holds only the prompts of all
sessions and is read for sessions without a chat.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from treering.observe.readers.documents import BrokenDocument, LongMember, members
from treering.observe.readers.event_fields import RecentItems, count, event_id, key, label, moment, text_of, word
from treering.observe.readers.inserted_text import prompt_of
from treering.observe.readers.lines import open_file, records
from treering.observe.readers.transcripts import AgentTranscript, Fields, Head, ReadReport

NAME = "gemini-cli"
LOGS = "gemini-cli-logs"

_FIELD = re.compile(rb'"(sessionId|projectHash|startTime|kind)"\s*:\s*"([^"\\]{1,200})"')
_CHAT = re.compile(rb'\A\s*\{\s*"')
_LOGS = re.compile(rb'\A\s*\[\s*\{\s*"')
_LOG_FIELDS = (b'"sessionId"', b'"messageId"', b'"message"')
_PROJECT_ROOT = ".project_root"
_MESSAGES_WITHOUT_EVENT = frozenset(("info", "error", "warning"))
_FINAL = frozenset(("success", "error", "cancelled"))
_INSERTED = (
    "<session_context>",
    "<hook_context>",
    "<state_snapshot>",
    "This is the Gemini CLI. We are setting up the context for our chat.",
    "System: ",
)
# A slash command, in contrast to a path: one word without a second slash.
_COMMAND = re.compile(r"\A[/?][\w:-]*(?:\s|\Z)")
_REFERENCED_FILES = re.compile(r"\n?--- Content from referenced files ---.*", re.DOTALL)
_UNTRUSTED = re.compile(r"\A<untrusted_context>\n(.*)\n</untrusted_context>\Z", re.DOTALL)
_EXIT_CODE = re.compile(r"^Exit Code: (?!0$)-?\d{1,10}$", re.MULTILINE)


def transcripts(head: Head) -> tuple[AgentTranscript, ...]:
    first = next((line for line in head.records if owns(line)), None)
    if first is None and _CHAT.match(head.prefix):
        found = _FIELD.findall(head.prefix.partition(b'"messages"')[0])
        first = {name.decode(): value.decode("utf-8", "replace") for name, value in found}
    if first is None or not owns(first) or (session := key(first["sessionId"])) is None:
        return ()
    subagent = None
    if first.get("kind") == "subagent":
        # Chats of subagents are in a folder that has the id of the session as its name.
        session, subagent = key(head.path.parent.name) or session, session
    return (
        AgentTranscript(
            path=head.path,
            agent=NAME,
            session=session,
            root=_root(head.path),
            started_at=moment(first.get("startTime")),
            format=NAME,
            subagent=subagent,
        ),
    )


def owns(line: Mapping[str, Any]) -> bool:
    return isinstance(line.get("sessionId"), str) and isinstance(line.get("projectHash"), str)


def _root(path: Path) -> str | None:
    """The project's folder, which newer versions note beside the folder of the chats."""
    for folder in path.parents[:3]:
        try:
            with (folder / _PROJECT_ROOT).open(encoding="utf-8", errors="replace") as file:
                return file.read(4_096).strip() or None
        except OSError:
            continue
    return None


def log_transcripts(head: Head) -> tuple[AgentTranscript, ...]:
    """One transcript for each session in `logs.json`."""
    is_log = _LOGS.match(head.prefix) and all(name in head.prefix for name in _LOG_FIELDS)
    if not is_log:
        return ()
    starts: dict[str, object] = {}
    for entry in _log_entries(head.path, ReadReport()):
        if session := key(entry.get("sessionId")):
            starts.setdefault(session, entry.get("timestamp"))
    root = _root(head.path)
    return tuple(
        AgentTranscript(path=head.path, agent=NAME, session=session, root=root, started_at=moment(at), format=LOGS)
        for session, at in starts.items()
    )


def _log_entries(path: Path, report: ReadReport) -> Iterator[Fields]:
    with open_file(path) as stream:
        try:
            for _, entry in members(stream):
                if isinstance(entry, dict):
                    yield entry
        except LongMember:
            report.too_long += 1
        except BrokenDocument:
            report.truncated += 1


def read_log(transcript: AgentTranscript, report: ReadReport) -> Iterator[Mapping[str, Any]]:
    for number, entry in enumerate(_log_entries(transcript.path, report)):
        if entry.get("sessionId") != transcript.session:
            continue
        report.lines += 1
        text = _typed(entry.get("message"), "") if entry.get("type") == "user" else ""
        if text:
            source = count(entry.get("messageId"))
            identifier = event_id("log", number if source is None else source)
            yield {"id": identifier, "kind": "prompt", "at": entry.get("timestamp"), "text": text}
        else:
            report.skip("log entry without a prompt")


def read(transcript: AgentTranscript, report: ReadReport) -> Iterator[Mapping[str, Any]]:
    return _Reading(transcript, report).events()


class _Reading:
    def __init__(self, transcript: AgentTranscript, report: ReadReport) -> None:
        self._transcript = transcript
        self._report = report
        # Events that were given for the latest messages: only the newest one or two are ever written again.
        self._given = RecentItems(256)
        self._is_started = transcript.subagent is not None

    def events(self) -> Iterator[Fields]:
        for number, message in self._messages():
            source = key(message.get("id")) or str(number)
            given: set[str] = self._given.setdefault(source, set())
            for name, draft in self._message(message):
                if name in given:
                    continue
                given.add(name)
                at = draft.get("at") or message.get("timestamp")
                if not self._is_started:
                    self._is_started = True
                    yield {"id": "session_start", "kind": "session_start", "at": at, "metadata": self._details()}
                identifier = event_id(self._transcript.subagent, source, name)
                yield {**draft, "id": identifier, "at": at, "agent": self._transcript.subagent}

    def _details(self) -> dict[str, str]:
        return {"agent": NAME, **({"cwd": self._transcript.root} if self._transcript.root else {})}

    def _messages(self) -> Iterator[tuple[int, Fields]]:
        path = self._transcript.path
        if _is_lines(path):
            for number, line in records(path, self._report):
                yield from ((number, message) for message in self._line(line))
            return
        with open_file(path) as stream:
            try:
                for number, (name, message) in enumerate(members(stream)):
                    if name == "messages" and isinstance(message, dict):
                        self._report.lines += 1
                        yield number, message
            except LongMember:
                self._report.too_long += 1
            except BrokenDocument:
                self._report.truncated += 1

    def _line(self, line: Fields) -> Iterator[Fields]:
        if "$rewindTo" in line:
            self._report.skip("$rewindTo")
        elif "$set" in line:
            # May repeat all messages after a compression; new ones among them are summaries of the program.
            self._report.skip("$set")
        elif owns(line):
            messages = line.get("messages")
            yield from (each for each in messages if isinstance(each, dict)) if isinstance(messages, list) else ()
        elif isinstance(line.get("id"), str):
            yield line
        else:
            self._report.not_understood(line.get("type"))

    def _message(self, message: Fields) -> Iterator[tuple[str, Fields]]:
        kind = word(message, "type")
        if kind == "user":
            if text := _typed(message.get("content"), message.get("displayContent")):
                yield "0", {"kind": "subagent" if self._transcript.subagent else "prompt", "text": text}
            else:
                self._report.skip("user without content")
        elif kind == "gemini":
            yield from self._response(message)
        elif kind in _MESSAGES_WITHOUT_EVENT:
            self._report.skip(kind)
        else:
            self._report.not_understood(kind)

    def _response(self, message: Fields) -> Iterator[tuple[str, Fields]]:
        usage = message.get("tokens")
        usage = usage if isinstance(usage, dict) else {}
        tokens = {"tokens": usage.get("output"), "metadata": {"input_tokens": count(usage.get("input")) or 0}}
        for index, thought in enumerate(_dicts(message.get("thoughts"))):
            text = ": ".join(part for name in ("subject", "description") if (part := word(thought, name)))
            if text:
                draft = {"kind": "reasoning", "text": text, "at": thought.get("timestamp")}
                yield f"thought{index}", {**draft, "metadata": {"thinking": True}}
        if (text := text_of(message.get("content"))).strip():
            yield "0", {"kind": "reasoning", "text": text, **(tokens if usage else {})}
        for index, call in enumerate(_dicts(message.get("toolCalls"))):
            yield from _call(call, index)


def _call(call: Fields, index: int) -> Iterator[tuple[str, Fields]]:
    call_id, tool, status = word(call, "id"), label(call.get("name")), word(call, "status")
    name = call_id or str(index)
    shared = {"tool": tool, "call_id": call_id, "at": call.get("timestamp")}
    yield f"{name}:call", {**shared, "kind": "tool_call", "arguments": call.get("args")}
    if status not in _FINAL and not call.get("result"):
        return
    text, has_failed = _result(call)
    metadata = {"cancelled": True} if status == "cancelled" else {}
    is_error = status in ("error", "cancelled") or has_failed
    yield f"{name}:result", {**shared, "kind": "tool_result", "text": text, "is_error": is_error, "metadata": metadata}


def _result(call: Fields) -> tuple[str, bool]:
    """Text of a tool's result, and whether it reports a failure that the status does not."""
    texts, has_failed = [], False
    parts = call.get("result")
    for part in parts if isinstance(parts, list) else [parts]:
        response = part.get("functionResponse") if isinstance(part, dict) else None
        response = response.get("response") if isinstance(response, dict) else None
        if isinstance(response, dict):
            has_failed = has_failed or "error" in response
            texts.append(text_of(response.get("output", response.get("error", response.get("content")))))
        else:
            texts.append(text_of(part))
    text = output_text("\n".join(each for each in texts if each) or text_of(call.get("resultDisplay")))
    return text, has_failed or is_failed_command(call.get("name"), text)


def output_text(text: str) -> str:
    """The output of a tool without the tags that the program puts around it."""
    wrapped = _UNTRUSTED.match(text.strip())
    return wrapped[1] if wrapped else text


def is_failed_command(tool: object, text: str) -> bool:
    """Whether the output of a tool is that of a command that failed."""
    return tool == "run_shell_command" and _EXIT_CODE.search(text[-400:]) is not None


def without_referenced_files(text: str) -> str:
    """A prompt without the files that the program appended."""
    return _REFERENCED_FILES.sub("", text)


def _typed(content: object, shown: object) -> str:
    """What the user typed: as shown, else without the files that the program appended."""
    text = text_of(shown) or without_referenced_files(text_of(content))
    stripped = text.strip()
    if stripped.startswith(_INSERTED) or _COMMAND.match(stripped):
        return ""
    return prompt_of(text)


def _is_lines(path: Path) -> bool:
    """Whether the first line is complete JSON about the session, in contrast to a document over many lines."""
    with open_file(path) as stream:
        first = stream.readline(65_536)
    return first.rstrip().endswith(b"}") and b'"messages"' not in first


def _dicts(items: object) -> list[Fields]:
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
