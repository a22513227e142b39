"""Transcripts of agents → events.

`find_transcripts` recognises files by their content; `read_events` streams the events of one session. Nothing in a
transcript is fatal: broken, over-long and unknown lines are counted in a `ReadReport`.
"""

from treering.observe.readers.discovery import find_transcripts
from treering.observe.readers.table import READERS, TranscriptReader, read_events
from treering.observe.readers.transcripts import AgentTranscript, ReadReport

__all__ = ["READERS", "AgentTranscript", "ReadReport", "TranscriptReader", "find_transcripts", "read_events"]
