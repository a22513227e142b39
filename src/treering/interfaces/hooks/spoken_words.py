"""The agent's words between its tool calls, which no hook reports: they are read from the transcript of the session."""

from __future__ import annotations

import os
import stat
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from treering.core.events import EventKind
from treering.observe.scratchpad.hashes import hash_of
from treering.observe.scratchpad.intake import seconds_of
from treering.observe.tools import tool_use

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

READ_SECONDS = 2.0  # in the background; what follows is read at the next pause of the agent
MAX_BYTES_AT_PAUSE = 4 * 1024 * 1024  # a longer transcript is read once, at the end of its session
_MAX_KNOWN = 20_000  # events of one session


@dataclass(slots=True)
class SpokenWords:
    """The transcript of one session, as far as it was read. Never used while a hook waits for an answer.

    It is read up to the first prompt or result that no hook reported: memory was paused there, or an event was lost
    that may have brought content from outside. Hooks report no call that was refused, so a failed one may be missing,
    unless it would have brought such content.
    """

    session: str
    path: str = ""
    root: str = ""
    _size: int = -1
    _known: set[str] = field(default_factory=set)
    _reported: set[str] = field(default_factory=set)

    def note(self, events: Iterable[Mapping[str, object]]) -> None:
        """Take in what a hook reported."""
        if len(self._reported) < _MAX_KNOWN:
            self._reported.update(filter(None, map(_name, events)))

    def new(self, *, is_end: bool, seconds: float = READ_SECONDS, since: float = 0.0) -> tuple[dict[str, object], ...]:
        """Events with words of the main agent that were not returned before; () if the file is not its transcript.

        Words from before `since`, in seconds since 1970, are left out: they may belong to a pause.
        """
        size = _own_size(self.path)
        if size is None or size == self._size or (size > MAX_BYTES_AT_PAUSE and not is_end):
            return ()
        deadline, found = time.monotonic() + seconds, list[dict[str, object]]()
        refusable = set[object]()  # calls that bring nothing from outside, by id
        for event in self._events(deadline):
            if time.monotonic() > deadline or len(self._known) >= _MAX_KNOWN:
                return tuple(found)
            if self._is_inside(event):
                refusable.add(event.get("call_id"))
            is_missing = bool(name := _name(event)) and name not in self._reported
            if is_missing and not (event.get("is_error") and event.get("call_id") in refusable):
                break
            id = str(event.get("id"))
            is_new = event.get("kind") == EventKind.REASONING and id not in self._known
            if is_new and (seconds_of(event.get("at")) or 0.0) >= since:
                self._known.add(id)
                found.append(event)
        if time.monotonic() <= deadline:
            self._size = size
        return tuple(found)

    def _is_inside(self, event: Mapping[str, object]) -> bool:
        """Whether this is a tool call whose result cannot contain content from outside."""
        arguments = event.get("arguments", {})
        if event.get("kind") != EventKind.TOOL_CALL or not isinstance(arguments, dict):
            return False
        return not tool_use(str(event.get("tool", "")), arguments, self.root).outside

    def _events(self, deadline: float) -> Iterator[dict[str, object]]:
        from treering.observe.readers import ReadReport, find_transcripts, read_events

        for transcript in find_transcripts((Path(self.path),)):
            if transcript.session == self.session and transcript.subagent is None:
                report = ReadReport(deadline=deadline)
                yield from (each for each in read_events(transcript, report) if each.get("agent") is None)


def _name(event: Mapping[str, object]) -> str:
    """What identifies a prompt or the result of a call; empty for other events."""
    kind, text = event.get("kind"), event.get("text")
    if kind == EventKind.PROMPT:
        return f"prompt {hash_of(str(text).strip())}"
    return f"call {event.get('call_id')}" if kind == EventKind.TOOL_RESULT else ""


def _own_size(path: str) -> int | None:
    """Size of a regular file of this user; None for anything else."""
    if not path.startswith("/") or "\0" in path:
        return None
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) and found.st_uid == os.getuid() else None
