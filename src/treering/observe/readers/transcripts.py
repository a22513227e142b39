"""Transcripts of agent sessions, and the report of what was read and left out."""

from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from treering.core.events import SessionType

# A parsed line of a transcript, or an event before its fields are checked.
Fields = dict[str, Any]


class FilePart(NamedTuple):
    """Lines of one session that follow one another in a file that holds several: bytes of the uncompressed file."""

    offset: int
    first_line: int
    end: int


class FileParts:
    """Where the lines of a session are in a file. Sessions may alternate line by line, so that parts must be small."""

    __slots__ = ("_numbers",)

    def __init__(self) -> None:
        self._numbers = array("Q")

    def add(self, part: FilePart) -> None:
        self._numbers.extend(part)

    def __iter__(self) -> Iterator[FilePart]:
        numbers = self._numbers
        return (FilePart(*numbers[start : start + 3]) for start in range(0, len(numbers), 3))

    def __len__(self) -> int:
        return len(self._numbers) // 3


@dataclass(frozen=True, slots=True)
class AgentTranscript:
    """One session, or the part of one subagent in it, as recorded in one file.

    `agent` is the program that wrote it, `format` the row of `READERS` that reads it. `subagent` is set if the file
    belongs to a subagent of the session; its events have the same `agent` field.
    """

    path: Path
    agent: str
    session: str
    root: str | None = None
    started_at: datetime | None = None
    type: SessionType = SessionType.BUILD
    format: str = "events"
    subagent: str | None = None
    parts: FileParts | None = field(default=None, compare=False)


@dataclass(slots=True)
class ReadReport:
    """Counts of what was read. `skipped` and `unknown` are lines by type: without an event, and not understood."""

    events: int = 0
    lines: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    broken: int = 0
    too_long: int = 0
    truncated: int = 0  # files whose last line is incomplete: the agent is still writing it
    ignored: int = 0  # files that are not transcripts
    unreadable: int = 0  # files that could not be opened, or not to their end
    deadline: float = inf  # on the monotonic clock: lines after it are not read

    def skip(self, name: str) -> None:
        self.skipped[_short(name)] += 1

    def not_understood(self, name: object) -> None:
        self.unknown[_short(name) if isinstance(name, str) and name else "(no type)"] += 1


def _short(name: str) -> str:
    """A type's name for a report; hostile names cannot fill it."""
    return "".join(each if each.isprintable() else "?" for each in name[:60])


@dataclass(frozen=True, slots=True)
class Head:
    """Beginning of a file: its first bytes and its first lines that are JSON objects."""

    path: Path
    prefix: bytes
    records: tuple[Fields, ...]
