"""Transcripts of agents written for a test, and their events."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from treering.core.events import Event
from treering.observe.readers import AgentTranscript, ReadReport, find_transcripts, read_events

AT = "2026-03-01T10:00:0{}.000Z"


def write_lines(path: Path, lines: Iterable[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return path


def only_transcript(path: Path) -> AgentTranscript:
    [transcript] = find_transcripts([path])
    return transcript


def events_of(path: Path, report: ReadReport | None = None) -> list[dict[str, Any]]:
    """The events of a file with one session, each accepted by the schema."""
    transcript = only_transcript(path)
    found = list(read_events(transcript, report or ReadReport()))
    for fields in found:
        assert Event.make(**fields, session=transcript.session).id == fields["id"]
    return found


def brief(events: Iterable[dict[str, Any]]) -> list[tuple[Any, Any]]:
    """Kind and text, or for calls the tool."""
    return [(e["kind"], e["tool"] if e["kind"] == "tool_call" else e.get("text")) for e in events]
