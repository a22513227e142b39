"""Timeline of an observed session, as far as its scratchpad keeps it: messages and the latest actions of its agents."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from treering.observe.conversation import ObservedConversation
from treering.observe.scratchpad.recent import Did
from treering.observe.scratchpad.scratchpad import Scratchpad

if TYPE_CHECKING:
    from collections.abc import Iterator

    from treering.core.observations import SavedScratchpad

_MESSAGES = {"user": "prompt", "assistant": "answer"}


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """A message (prompt, answer) or an action (read, searched, edited, succeeded, failed, corrected).

    `text` is the message, or the path, pattern or command; `error` is the message of a failure. `agent` names a
    subagent. `at` is None if the time was not kept.
    """

    kind: str
    at: datetime | None
    text: str
    step: int | None = None
    error: str = ""
    agent: str = ""
    taint: str | None = None


@dataclass(frozen=True, slots=True)
class SessionTimeline:
    """Entries in order; `dropped` counts earlier actions that were not kept."""

    entries: tuple[TimelineEntry, ...] = ()
    dropped: int = 0


def timeline_of(saved: SavedScratchpad | None) -> SessionTimeline:
    """The timeline that a scratchpad keeps; empty without one, or if it cannot be read."""
    if saved is None:
        return SessionTimeline()
    try:
        state = json.loads(saved.state)
        pads = {name: Scratchpad.from_state(pad) for name, pad in state["pads"].items()}
        conversation = ObservedConversation.from_state(state["conversation"])
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        return SessionTimeline()
    agents = [(name, part) for name, pad in pads.items() for part in (pad.parts or (pad,))]
    found = [*_messages(conversation), *(entry for name, pad in agents for entry in _actions(name, pad))]
    dropped = sum(pad.journal()[0].number - 1 for _, pad in agents if pad.journal())
    return SessionTimeline(_in_order(found), dropped)


def _messages(conversation: ObservedConversation) -> Iterator[TimelineEntry]:
    for each in conversation.messages():
        at = datetime.fromisoformat(each.at) if each.at else None
        yield TimelineEntry(_MESSAGES.get(each.role, each.role), at, each.text, taint=each.taint)


def _actions(agent: str, pad: Scratchpad) -> Iterator[TimelineEntry]:
    for each in pad.journal():
        error = pad.activity.errors.get(each.value) if each.did == Did.FAILED else None
        yield TimelineEntry(
            kind=each.did,
            at=datetime.fromtimestamp(each.at, UTC) if each.at else None,
            text=each.value if error is None else error.command or error.tool,
            step=each.step,
            error="" if error is None else error.summary,
            agent=agent,
        )


def _in_order(entries: list[TimelineEntry]) -> tuple[TimelineEntry, ...]:
    """By time; an entry without one stays behind the entry that it followed."""
    last, placed = datetime.min.replace(tzinfo=UTC), []
    for entry in entries:
        last = entry.at or last
        placed.append((last, entry))
    return tuple(entry for _, entry in sorted(placed, key=lambda pair: pair[0]))
