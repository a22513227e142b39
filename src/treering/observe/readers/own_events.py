"""Event files of Treering: one event per line, with the fields of `core.events.Event`; may be compressed with gzip.

Other names of fields and kinds that recorders use are accepted too. A file may hold several sessions, also mixed.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter, ValidationError

from treering.core.events import Event, EventKind, SessionType
from treering.core.values import FilePath
from treering.observe.readers.event_fields import (
    count,
    event_id,
    event_mapping,
    key,
    label,
    moment,
    plain,
    text_of,
    word,
)
from treering.observe.readers.lines import numbered_lines, open_file, parse, records
from treering.observe.readers.transcripts import AgentTranscript, Fields, FilePart, FileParts, Head, ReadReport

NAME = "events"

KINDS: Mapping[str, EventKind] = {
    **{kind.value: kind for kind in EventKind},
    "user_text": EventKind.PROMPT,
    "assistant_text": EventKind.REASONING,
    "tool_use": EventKind.TOOL_CALL,
    "session_complete": EventKind.SESSION_END,
    "step_complete": EventKind.STEP,
}
ALIASES: Mapping[str, str] = {
    "ts": "at",
    "timestamp": "at",
    "input": "arguments",
    "tool_name": "tool",
    "tool_use_id": "call_id",
}
_KNOWN = frozenset(Event.model_fields)
_DEFAULT_SESSION = "session"
_PATH: TypeAdapter[str] = TypeAdapter(FilePath)


def transcripts(head: Head) -> tuple[AgentTranscript, ...]:
    if not any(owns(line) for line in head.records):
        return ()
    return tuple(_sessions(head))


def owns(line: Fields) -> bool:
    kind = line.get("kind")
    return isinstance(kind, str) and kind in KINDS and not ("type" in line and "payload" in line)


def _sessions(head: Head) -> Iterator[AgentTranscript]:
    """The sessions of a file, each with the places of its lines. A line that cannot be read belongs to the session
    before it."""
    fallback = key(head.path.name.partition(".")[0]) or _DEFAULT_SESSION
    found: dict[str, _SessionLines] = {}
    current: _SessionLines | None = None
    with open_file(head.path) as stream:
        part_start, part_line, end, last = 0, 1, 0, 0
        for number, line, _ in numbered_lines(stream, ReadReport()):
            value = parse(line)
            if isinstance(value, dict):
                lines = found.setdefault(key(value.get("session")) or fallback, _SessionLines())
                if current is not None and lines is not current:
                    current.parts.add(FilePart(part_start, part_line, end))
                    part_start, part_line = end, last + 1
                current = lines
                lines.add(value)
            end, last = stream.tell(), number
        if current is not None:
            current.parts.add(FilePart(part_start, part_line, stream.tell()))
    for session, lines in found.items():
        yield AgentTranscript(
            path=head.path,
            agent=lines.agent or "unknown",
            session=session,
            root=lines.root,
            started_at=lines.started_at,
            type=lines.type,
            format=NAME,
            parts=lines.parts,
        )


class _SessionLines:
    """Where the lines of a session are, and what its first ones say about it."""

    def __init__(self) -> None:
        self.parts = FileParts()
        self.started_at: datetime | None = None
        self.agent: str | None = None
        self.root: str | None = None
        self.type = SessionType.BUILD

    def add(self, line: Fields) -> None:
        if self.started_at is None:
            self.started_at = next(
                (each for name in ("at", "ts", "timestamp") if (each := moment(line.get(name)))), None
            )
        if line.get("kind") == EventKind.SESSION_START:
            metadata = line.get("metadata")
            details = {**metadata, **line} if isinstance(metadata, dict) else line
            self.agent = self.agent or label(details.get("agent"))
            self.root = self.root or label(details.get("root") or details.get("cwd"), 4_096)
            if word(details, "type") in set(SessionType):
                self.type = SessionType(details["type"])


def read(transcript: AgentTranscript, report: ReadReport) -> Iterator[Mapping[str, Any]]:
    for number, line in records(transcript.path, report, transcript.parts):
        draft = draft_of(line)
        if draft is None:
            report.not_understood(line.get("kind"))
        else:
            yield {**draft, "id": draft.get("id") or event_id(number)}


def draft_of(given: Mapping[str, Any]) -> Fields | None:
    """The fields of an event from those of a mapping with any accepted names; None without a known kind.

    Fields that an event does not have are kept in `metadata`.
    """
    written = given.get("kind")
    kind = KINDS.get(written) if isinstance(written, str) else None
    if kind is None:
        return None
    draft: Fields = {"kind": kind.value}
    metadata: Fields = {}
    # A recorder that calls the time `ts` also calls the id of a tool call `id`.
    has_call_id = "call_id" not in given and "at" not in given and kind in (EventKind.TOOL_CALL, EventKind.TOOL_RESULT)
    for name, value in given.items():
        field = "call_id" if name == "id" and has_call_id else ALIASES.get(name, name)
        if field in ("kind", "session", "metadata", "seq"):
            continue
        if field in _KNOWN and (field == name or field not in given):
            draft[field] = value
        elif name == "side":
            draft["agent"] = value if isinstance(value, str) else "sidechain" if value is True else given.get("agent")
        else:
            metadata[name] = value
    if isinstance(given.get("metadata"), Mapping):
        metadata.update(given["metadata"])
    draft["text"] = text_of(draft.get("text"))
    number = count(given.get("seq"))
    draft["id"] = key(draft.get("id")) or (None if number is None else event_id("seq", number))
    if metadata:
        draft["metadata"] = metadata
    return draft


def checked(draft: Mapping[str, Any], *, at: datetime) -> dict[str, object]:
    """`event_mapping` with the fields that only our own files have."""
    event = event_mapping(draft, at=at)
    if step := count(draft.get("step")):
        event["step"] = step
    if files := _files(draft.get("files")):
        event["files"] = files
    taint = draft.get("taint")
    # An unreadable taint is still a taint.
    if draft.get("tainted") or taint is not None:
        event["tainted"] = True
        source = taint.get("source") if isinstance(taint, Mapping) else taint
        if (name := label(source)) is not None:
            reason = plain(taint.get("reason")) if isinstance(taint, Mapping) else ""
            event["taint"] = {"source": name, "reason": reason if isinstance(reason, str) else ""}
    return event


def _files(value: object) -> tuple[str, ...]:
    """The paths that are inside the project."""
    found = []
    for each in value[:1_000] if isinstance(value, (list, tuple)) else ():
        try:
            found.append(_PATH.validate_python(each, strict=True))
        except ValidationError:
            continue
    return tuple(found)
