"""Commands that a user types in a prompt: /remember TEXT, and /memory off, on or status."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import NAMESPACE_URL, uuid5

from treering.core.citations import citation
from treering.core.confidence import TAUGHT_CONFIDENCE
from treering.core.delimiters import escaped
from treering.core.errors import NotFound, StoreError, TreeringError
from treering.core.records import Source
from treering.location.hook_files import PAUSE, is_paused, read_json, write_json

if TYPE_CHECKING:
    from treering.interfaces.hooks.payloads.reading import HookReading
    from treering.memory import Memory

REMEMBER, MEMORY = "remember", "memory"
_PREFIX = r"(?:treering[:-]|mcp__treering__|prompts:(?:treering-)?)?"
_COMMAND = re.compile(
    rf"\A<command-name>/{_PREFIX}({REMEMBER}|{MEMORY})</command-name>\n<command-args>(.*?)(?:</command-args>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
# What a session is without, by the word after `/memory off`.
_OFF = {"": "observe", "all": "observe", "injection": "inject", "injections": "inject"}
_TYPE = "preference"  # what a user asks to remember is part of every later session, as rules are
_MAX_SESSIONS = 200  # in pause.json; the oldest are dropped
_PAUSED = {
    "observe": "Memory is off for this session: nothing is recorded and nothing is given. `/memory on` resumes it.",
    "inject": "Memory gives nothing in this session, which is still recorded. `/memory on` resumes it.",
}
_REPOSITORY_PAUSED = {
    "observe": "Memory is off in this repository: nothing is recorded or given. `treering resume` resumes it.",
    "inject": "Memory gives nothing in this repository; sessions are still recorded. `treering resume` resumes it.",
}


@dataclass(frozen=True, slots=True)
class UserCommand:
    """A command and the words after it."""

    name: str
    text: str


def user_command(typed: str) -> UserCommand | None:
    """The command in a prompt that is only that command; `typed` is in the form of `payloads.conversions`."""
    found = _COMMAND.match(typed.strip())
    return UserCommand(found[1].lower(), found[2].strip()) if found else None


def remember_taught(memory: Memory, text: str, reading: HookReading) -> str:
    """Store the user's words as taught by the user, once for each prompt; return what to say about it."""
    if not text:
        return "Nothing was stored: type `/remember` and the text to remember."
    id = str(uuid5(NAMESPACE_URL, f"treering:{reading.typed_id}\n{text}"))
    try:
        stored = memory.get(id).id
    except NotFound:
        try:
            session, source = reading.session, Source.USER_TAUGHT
            record = memory.remember(
                text, type=_TYPE, id=id, source=source, confidence=TAUGHT_CONFIDENCE, session=session
            )
            stored = record.id
        except StoreError:
            raise
        except TreeringError as exc:
            return f"Not stored in memory: {escaped(str(exc))}"
    return (
        f"The user's /remember is stored in memory as {escaped(citation(stored, text))}. "
        "It needs no tool call; confirm it to the user in one sentence."
    )


def set_memory(folder: str, argument: str, session: str, given: tuple[int, int]) -> str:
    """Carry out /memory for one session; `given` are the items and tokens that it was given."""
    verb, _, what = argument.lower().partition(" ")
    if verb == "off" and (paused := _OFF.get(what.strip())):
        _pause(folder, session, paused)
        return _PAUSED[paused]
    if verb == "on":
        _pause(folder, session, None)
    elif verb not in ("", "status"):
        return "`/memory` takes off, off injection, on or status; other words are a topic to search memory for."
    pause = read_json(folder, PAUSE)
    now = time.time()
    for what in ("observe", "inject"):
        if is_paused(pause, what, now):
            return _REPOSITORY_PAUSED[what]
        if is_paused(pause, what, now, session):
            return _PAUSED[what]
    if verb == "on":
        return "Memory is on for this session."
    items, tokens = given
    return (
        f"Memory is on for this session: {items} items ({tokens} tokens) were given so far; "
        f"`treering session {session} --injected` shows them. `/memory off` pauses it."
    )


def _pause(folder: str, session: str, what: str | None) -> None:
    pause = read_json(folder, PAUSE)
    known = pause.get("sessions")
    sessions = {id: each for id, each in (known.items() if isinstance(known, dict) else ()) if id != session}
    if what is not None:
        sessions[session] = what
    newest = dict(list(sessions.items())[-_MAX_SESSIONS:])
    write_json(folder, PAUSE, {"observe": None, "inject": None, "points": [], **pause, "sessions": newest})
