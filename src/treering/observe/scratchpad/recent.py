"""The last moments of a session: short windows that connect an event with those before it."""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, NamedTuple

from treering.observe.scratchpad.entries import frozen

MAX_OPEN_COMMANDS = 64
MAX_WRITTEN_FILES = 64


class Did(StrEnum):
    """What a journal entry records."""

    READ = "read"
    SEARCHED = "searched"
    EDITED = "edited"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CORRECTED = "corrected"


class JournalEntry(NamedTuple):
    """One action, numbered from 1; `value` is a path, a pattern, a command, a fingerprint or the kind of a cue.

    `at` is the time in seconds since 1970, or 0 if it is not known.
    """

    number: int
    step: int
    did: str
    value: str
    at: float = 0.0


class FileTouch(NamedTuple):
    step: int
    path: str
    at: float
    edited: bool


class OpenError(NamedTuple):
    """A failure that was not resolved yet; numbers of the journal at its last failure and at the next run (or 0)."""

    fingerprint: str
    failed_at: int
    next_run: int


class FailedCall(NamedTuple):
    """The last call that failed: its tool (of a command: empty), what it was called with, and when."""

    tool: str
    value: str
    fingerprint: str
    step: int
    number: int


class WrittenLines(NamedTuple):
    """Checksums of the lines that the last edit of a file added."""

    step: int
    number: int
    lines: tuple[int, ...]


class SeenListing(NamedTuple):
    """Checksums of the names that a listing returned."""

    key: str
    step: int
    names: tuple[int, ...]


class SucceededCommand(NamedTuple):
    normal: str
    purpose: str
    step: int
    edits: int


@dataclass(slots=True)
class RecentHistory:
    """Windows of fixed size."""

    number: int = 0
    now: float = 0.0  # time of the event that is taken in
    calls: deque[str] = field(default_factory=lambda: deque(maxlen=8))
    touches: deque[FileTouch] = field(default_factory=lambda: deque(maxlen=12))
    journal: deque[JournalEntry] = field(default_factory=lambda: deque(maxlen=200))
    succeeded: deque[SucceededCommand] = field(default_factory=lambda: deque(maxlen=3))
    listings: deque[SeenListing] = field(default_factory=lambda: deque(maxlen=4))
    left_reads: deque[str] = field(default_factory=lambda: deque(maxlen=4))
    cues: deque[tuple[str, int]] = field(default_factory=lambda: deque(maxlen=3))
    configs: deque[tuple[str, int]] = field(default_factory=lambda: deque(maxlen=3))
    sources: deque[tuple[str, int]] = field(default_factory=lambda: deque(maxlen=2))
    open_errors: dict[str, tuple[OpenError, ...]] = field(default_factory=dict)
    written: dict[str, WrittenLines] = field(default_factory=dict)
    chain: tuple[str, ...] = ()
    imports: tuple[int, ...] = ()
    accessed: tuple[str, float] = ("", 0.0)  # last file, until the next tool call
    searched: tuple[str, int] = ("", 0)
    last_read: str = ""  # if nothing happened since
    failed: tuple[str, str, str, int, int] = ("", "", "", 0, 0)  # FailedCall, until it is resolved
    subtask: str = ""

    def note(self, step: int, did: Did, value: str) -> int:
        """Add to the journal; returns the entry's number."""
        self.number += 1
        self.journal.append(JournalEntry(self.number, step, did, value, self.now))
        return self.number

    def since(self, number: int, until: int | None = None) -> Iterator[JournalEntry]:
        """Entries after `number`, up to and including `until`, newest first."""
        for entry in reversed(self.journal):
            if entry.number <= number:
                return
            if until is None or entry.number <= until:
                yield entry

    def state(self) -> dict[str, Any]:
        return {name: _plain(getattr(self, name)) for name in _NAMES}

    @classmethod
    def from_state(cls, state: Mapping[str, Any] | None) -> "RecentHistory":
        """The history whose `state()` this is; None, if it was removed from a checkpoint, gives an empty one."""
        recent = cls()
        if state is None:
            return recent
        for name, value in state.items():
            empty = getattr(recent, name)
            if isinstance(empty, deque):
                row = _ROWS.get(name, _as_is)
                setattr(recent, name, deque((row(frozen(each)) for each in value), empty.maxlen))
            elif not isinstance(empty, dict):
                setattr(recent, name, frozen(value))
        recent.open_errors = {
            key: tuple(OpenError(*each) for each in errors) for key, errors in state["open_errors"].items()
        }
        recent.written = {path: WrittenLines(*frozen(lines)) for path, lines in state["written"].items()}
        return recent


_NAMES = tuple(each.name for each in fields(RecentHistory))
_ROWS: Mapping[str, Any] = {
    "touches": lambda row: FileTouch(*row),
    "journal": lambda row: JournalEntry(*row),
    "succeeded": lambda row: SucceededCommand(*row),
    "listings": lambda row: SeenListing(*row),
}


def _as_is(value: Any) -> Any:
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, (deque, tuple, list)):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return value
