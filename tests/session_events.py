"""Events of made-up sessions, as agents send them."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from treering.core.events import SessionType
from treering.observe.scratchpad import Scratchpad, Signal
from treering.observe.signals import Note, notes_of

ROOT = "/home/dev/harbour"
START = datetime(2026, 3, 2, 9, tzinfo=UTC)
GO_FAILURE = "--- FAIL: TestTide (0.00s)\n    tides/tide_test.go:14: got 3, want 7\nFAIL\nFAIL\tharbour/tides\t0.012s\n"


class Session:
    """Collects events; each call and its result take two seconds."""

    def __init__(self) -> None:
        self.events: list[dict[str, object]] = []

    def event(self, kind: str, **fields: object) -> "Session":
        number = len(self.events) + 1
        at = (START + timedelta(seconds=number)).isoformat()
        self.events.append({"kind": kind, "id": f"e{number}", "at": at, **fields})
        return self

    def call(self, tool: str, result: str | None = "", *, is_error: bool = False, **arguments: object) -> "Session":
        call_id = f"call-{len(self.events)}"
        self.event("tool_call", tool=tool, call_id=call_id, arguments=arguments)
        if result is not None:
            self.event("tool_result", tool=tool, call_id=call_id, text=result, is_error=is_error)
        return self

    def read(self, path: str, text: str = "package tides") -> "Session":
        return self.call("Read", text, file_path=f"{ROOT}/{path}")

    def edit(self, path: str, old: str = "", new: str = "") -> "Session":
        return self.call("Edit", "updated", file_path=f"{ROOT}/{path}", old_string=old, new_string=new)

    def grep(self, pattern: str, result: str = "tides/tide.go:3") -> "Session":
        return self.call("Grep", result, pattern=pattern)

    def run(self, command: str, result: str = "ok", *, fails: bool = False) -> "Session":
        return self.call("Bash", result, is_error=fails, command=command)

    def think(self, text: str) -> "Session":
        return self.event("reasoning", text=text)

    def prompt(self, text: str) -> "Session":
        return self.event("prompt", text=text)

    def fetch(self, url: str = "https://docs.example.com/tides", result: str = "a page") -> "Session":
        return self.call("WebFetch", result, url=url, prompt="read it")

    def pad(self) -> Scratchpad:
        return pad_of(self.events)

    def notes(self, signal: Signal) -> list[Note]:
        return [note for note in notes_of(self.pad()) if note.signal is signal]


def new_pad(agent: str | None = None) -> Scratchpad:
    return Scratchpad("s1", type=SessionType.BUILD, root=ROOT, agent=agent)


def pad_of(events: Iterable[Any], agent: str | None = None) -> Scratchpad:
    pad = new_pad(agent)
    for event in events:
        pad.add(event)
    return pad
