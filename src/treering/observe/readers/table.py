"""The formats of transcripts, and reading any of them."""

import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from treering.observe.readers import claude_code, codex, gemini_cli, own_events
from treering.observe.readers.event_fields import event_mapping, moment
from treering.observe.readers.transcripts import AgentTranscript, Fields, Head, ReadReport


@dataclass(frozen=True, slots=True)
class TranscriptReader:
    """One format: its lines, the sessions of a file that has it, the fields of their events, their check."""

    owns: Callable[[Fields], bool]
    transcripts: Callable[[Head], tuple[AgentTranscript, ...]]
    read: Callable[[AgentTranscript, ReadReport], Iterator[Mapping[str, Any]]]
    check: Callable[..., dict[str, object]] = event_mapping


# By name. The first line that a format owns decides the format of a file; documents have no lines.
READERS: Mapping[str, TranscriptReader] = {
    claude_code.NAME: TranscriptReader(claude_code.owns, claude_code.transcripts, claude_code.read),
    codex.NAME: TranscriptReader(codex.owns, codex.transcripts, codex.read),
    gemini_cli.NAME: TranscriptReader(gemini_cli.owns, gemini_cli.transcripts, gemini_cli.read),
    gemini_cli.LOGS: TranscriptReader(lambda _: False, gemini_cli.log_transcripts, gemini_cli.read_log),
    own_events.NAME: TranscriptReader(own_events.owns, own_events.transcripts, own_events.read, own_events.checked),
}


def read_events(transcript: AgentTranscript, report: ReadReport) -> Iterator[dict[str, object]]:
    """The events of a session in file order, as fields of `core.events.Event` except `session`.

    Ids are the same in every reading. An event without a time has that of the one before it. A file that cannot be
    read to its end is counted in the report and gives the events before the damage.
    """
    reader = READERS[transcript.format]
    at = transcript.started_at or _modified_at(transcript)
    try:
        for draft in reader.read(transcript, report):
            at = moment(draft.get("at")) or at
            yield reader.check(draft, at=at)
            report.events += 1
    except (OSError, EOFError, zlib.error):
        report.unreadable += 1


def _modified_at(transcript: AgentTranscript) -> datetime:
    try:
        return datetime.fromtimestamp(transcript.path.stat().st_mtime, UTC)
    except (OSError, OverflowError, ValueError):
        return datetime.fromtimestamp(0, UTC)
