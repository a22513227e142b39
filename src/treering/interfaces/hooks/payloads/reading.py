"""A call of a hook, and what its payload says: events of the session, and what just happened in the agent's loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from treering.core.events import SessionOutcome
from treering.core.injections import InjectionPoint, Occasion
from treering.observe.readers.event_fields import event_id, event_mapping, key, label, moment, word

Fields = Mapping[str, Any]
_MAX_DRAFTS = 200  # events of one call: a batch of tool calls
_SESSION_NAMES = ("session_id", "sessionId", "conversation_id")


@dataclass(frozen=True, slots=True)
class HookCall:
    """One line of the spool: an agent called a hook. `agent` and `hook` are the agent's name in the hook command, and
    its own name of the event."""

    id: str
    at: datetime
    agent: str
    hook: str
    payload: Fields

    @classmethod
    def from_line(cls, line: Fields, now: datetime) -> HookCall | None:
        """The call in a line of the spool; None if it is not one. A call without a valid time happened `now`."""
        id, payload = key(line.get("id")), line.get("payload")
        if id is None or not isinstance(payload, Mapping):
            return None
        at = moment(line.get("at")) or now
        return cls(id, min(at, now), word(line, "agent"), word(line, "hook"), payload)

    @property
    def session(self) -> str | None:
        return next((found for name in _SESSION_NAMES if (found := key(self.payload.get(name)))), None)

    @property
    def subagent(self) -> str | None:
        """The id of the subagent that called the hook; None for the main agent."""
        return label(self.payload.get("agent_id"))


@dataclass(frozen=True, slots=True)
class HookDraft:
    """What the payload of one hook says, in fields that are not checked yet.

    `point` is the injection point that the hook is at, with the fields of its `Occasion`. `typed` is the prompt as
    typed, commands included. `end` is set if the session ended, `failed` if the agent could not go on, `stops` if it
    waits for its user.
    """

    events: tuple[Fields, ...] = ()
    point: InjectionPoint | None = None
    occasion: Fields | None = None
    typed: str = ""
    end: SessionOutcome | None = None
    failed: bool = False
    compacts: bool = False
    stops: bool = False


NOTHING = HookDraft()


@dataclass(frozen=True, slots=True)
class HookReading:
    """What a call of a hook says about its session. `occasion` still lacks step and alerts, which the session knows.

    `typed_id` is the same for all hooks that report one prompt.
    """

    session: str
    agent: str
    events: tuple[dict[str, object], ...]
    occasion: Occasion | None = None
    typed: str = ""
    typed_id: str = ""
    end: SessionOutcome | None = None
    failed: bool = False
    compacts: bool = False
    transcript: str = ""
    """Path of the session's transcript, if the agent stops or ends here."""


Convert = Callable[[HookCall, str], HookDraft]


@dataclass(frozen=True, slots=True)
class HookReader:
    """The hooks of one agent. `name` is the agent's name in observed sessions, as transcripts give it.

    An agent that `ends_sessions` calls a hook when a session ends; sessions of others end by being idle.
    """

    name: str
    hooks: Mapping[str, Convert]
    ends_sessions: bool = True

    def read(self, call: HookCall, root: str) -> HookReading | None:
        """What the call says; None if its hook says nothing, or its session cannot be named."""
        convert, session = self.hooks.get(call.hook), call.session
        if convert is None or session is None:
            return None
        draft = convert(call, root)
        occasion = None
        if draft.point is not None:
            occasion = Occasion(session=session, point=draft.point, agent=self.name, **(draft.occasion or {}))
        typed_id = event_id(session, key(call.payload.get("prompt_id")) or call.id)
        events = tuple(_event(call, index, each) for index, each in enumerate(draft.events[:_MAX_DRAFTS]))
        return HookReading(
            session,
            self.name,
            events,
            occasion,
            draft.typed,
            typed_id,
            draft.end,
            draft.failed,
            draft.compacts,
            word(call.payload, "transcript_path") if draft.stops or draft.end is not None else "",
        )


def _event(call: HookCall, index: int, draft: Fields) -> dict[str, object]:
    """An event with an id that is the same whenever the line is read."""
    named = {"id": event_id(call.id, index), "agent": call.subagent, **draft}
    return event_mapping(named, at=call.at)
