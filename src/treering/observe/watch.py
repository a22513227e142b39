"""A watch: takes the events of one session in, saves its scratchpads, and finishes it."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from treering.core.errors import InvalidInput, TreeringError
from treering.core.events import Event, EventKind, SessionOutcome, SessionType
from treering.core.observations import UNREADABLE_CHECKPOINTS, SavedScratchpad
from treering.observe.continuations import call_digest
from treering.observe.conversation import ObservedConversation
from treering.observe.scratchpad import Alert, Scratchpad, merged
from treering.observe.scratchpad.intake import time_of
from treering.observe.scratchpad.kept_text import kept_text
from treering.observe.similarity import TextSimilarity

if TYPE_CHECKING:
    from treering.observe.finished import SessionFinisher
    from treering.observe.reports import SessionReport

CHECKPOINT_SECONDS = 30.0  # of events between two checkpoints
CHECKPOINT_PAUSE = (
    20  # times the duration of the last one; a replay, whose events come faster than time, is not held up
)
MAX_AGENT_NAME = 120
MAX_AGENTS = 50  # subagents with a scratchpad of their own; the events of further ones go to the main agent's
SUBTASKS_TO_PROMOTE_EACH = 5  # builds of more subtasks promote after each validated one
_MAIN = ""
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SessionIdentity:
    """Id, type, agent and root of a session, as given when its watch began."""

    session: str
    type: SessionType
    agent: str | None
    root: str


class Watch:
    """Observes one session. `event` never raises and never waits; not safe to share between threads.

    As a context manager it finishes the session: as a success, or as a failure if the block raised.
    """

    def __init__(self, identity: SessionIdentity, finisher: SessionFinisher) -> None:
        self.session = identity.session
        self._identity = identity
        self._finisher = finisher
        self._pads = {_MAIN: self._new_pad(identity.agent)}
        self._conversation = ObservedConversation()
        self._saved_at = 0.0
        self._next_save = 0.0
        self._first_call = ""
        self._started_at: datetime | None = None
        self._last_at: datetime | None = None
        self._unreadable = 0
        self._removals: int | None = None  # of the stored scratchpads; None if there are none
        self._report: SessionReport | None = None

    def __repr__(self) -> str:
        return f"Watch(session={self.session!r}, events={self.events})"

    @property
    def events(self) -> int:
        """Events taken in so far, duplicates included."""
        return sum(pad.events for pad in self._pads.values())

    @property
    def new_events(self) -> int:
        """Events taken in so far that were neither duplicates nor of an unknown kind."""
        return sum(pad.events - pad.duplicates - pad.unknown for pad in self._pads.values())

    def event(self, event: Event | Mapping[str, object]) -> None:
        """Take one event in. Events may come late, twice, or with unknown fields."""
        try:
            self._take(event)
        except Exception as exc:  # noqa: BLE001 - observation must never break the agent; doctor shows the count
            main = self._pads[_MAIN]
            main.errors += 1
            if main.errors == 1:
                _LOG.warning("session %s: an event was not observed: %s", self.session, type(exc).__name__)

    def _take(self, event: Event | Mapping[str, object]) -> None:
        fields: Mapping[str, Any] = event.__dict__ if isinstance(event, Event) else _mapping(event)
        agent, kind, main = fields.get("agent"), fields.get("kind"), self._pads[_MAIN]
        pad = self._pad_of(kept_text(agent, MAX_AGENT_NAME) if isinstance(agent, str) else None)
        if main.taint is not None and (kind == EventKind.PROMPT or not pad.events):
            pad.mark_tainted(main.taint)  # the main agent tells a subagent what to do
        duplicates, unknown = pad.duplicates, pad.unknown
        pad.add(event)
        if pad.duplicates > duplicates or pad.unknown > unknown:
            return
        if not self._first_call and kind == EventKind.TOOL_CALL:
            self._first_call = call_digest(fields.get("call_id"))
        self._note_time(fields.get("at"))
        if pad is main:
            self._conversation.add(fields, pad.taint)
        elif pad.taint is not None:
            main.mark_tainted(pad.taint)
        self._report = None
        is_subtask = kind == EventKind.SUBTASK
        elapsed = sum(each.elapsed for each in self._pads.values())
        is_due = elapsed - self._saved_at >= CHECKPOINT_SECONDS
        if is_subtask or (is_due and monotonic() >= self._next_save):
            begun = monotonic()
            self._saved_at = elapsed
            self._after_step(is_subtask=is_subtask, fields=fields)
            ended = monotonic()
            self._next_save = ended + CHECKPOINT_PAUSE * (ended - begun)

    def alerts(self) -> tuple[Alert, ...]:
        """Early notices for this session, most urgent first, each signal once."""
        found = {alert.signal: alert for pad in self._pads.values() for alert in pad.alerts()}
        return tuple(sorted(found.values(), key=lambda alert: -alert.priority))

    def checkpoint(self) -> None:
        """Save the scratchpads, so that another process can continue or finish the session."""
        self._forget_removed()
        self._finisher.save(self._saved())
        self._removals = self._removals or 0

    def finish(
        self, outcome: SessionOutcome | str = SessionOutcome.SUCCESS, *, validated: bool | None = None
    ) -> SessionReport:
        """Promote what the evidence supports, and return what was seen and decided.

        `validated` says whether tests or a review accepted the result; None if it was not checked. A second call
        without new events returns the same report.
        """
        try:
            ended = SessionOutcome(outcome)
        except ValueError:
            known = ", ".join(each.value for each in SessionOutcome)
            raise InvalidInput(f"outcome is {outcome!r}; use one of {known}") from None
        if self._report is None or self._report.session.outcome is not ended:
            self._forget_removed()
            self._report = self._finisher.finish(self.merged(), self._saved(), outcome=ended, validated=validated)
            self._removals = self._removals or 0
        return self._report

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, type: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self.finish(SessionOutcome.SUCCESS if type is None else SessionOutcome.FAILURE)
        except Exception as exc:  # noqa: BLE001 - it must not replace the exception of the block
            _LOG.warning("session %s was not finished, its checkpoint remains: %r", self.session, exc)

    def merged(self) -> Scratchpad:
        """The scratchpads of all agents as one."""
        pads = list(self._pads.values())
        return pads[0] if len(pads) == 1 else merged(pads, TextSimilarity(self._finisher.models))

    def restore(self, saved: SavedScratchpad) -> None:
        """Continue from a checkpoint of another process; an unreadable one is logged and ignored."""
        self._removals = saved.removals
        try:
            state = json.loads(saved.state)
            pads = {name: Scratchpad.from_state(pad) for name, pad in state["pads"].items()}
            conversation = ObservedConversation.from_state(state["conversation"])
            self._started_at, self._last_at = (time_of(state[name]) for name in ("started_at", "last_at"))
            self._first_call = str(state.get("first_call") or "")
            self._unreadable += state.get(UNREADABLE_CHECKPOINTS, 0)
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as exc:
            _LOG.warning("session %s: its checkpoint cannot be read and is ignored: %r", self.session, exc)
            self._unreadable += 1
            return
        self._pads, self._conversation = {_MAIN: self._pads[_MAIN], **pads}, conversation

    def _saved(self) -> SavedScratchpad:
        times = {"started_at": self._started_at, "last_at": self._last_at}
        state = {
            "identity": [self._identity.type.value, self._identity.agent, self._identity.root],
            "pads": {name: pad.state() for name, pad in self._pads.items()},
            "conversation": self._conversation.state(),
            "first_call": self._first_call,
            UNREADABLE_CHECKPOINTS: self._unreadable,
            **{name: None if at is None else at.isoformat() for name, at in times.items()},
        }
        written = json.dumps(state, ensure_ascii=False, separators=(",", ":"))
        return self._finisher.saved(self.session, written, self._removals or 0)

    def _forget_removed(self) -> None:
        """Go on from the stored scratchpads if a hard forget removed words from them, which are still in memory here.

        Events since the last checkpoint are lost. A session that was forgotten begins again.
        """
        stored = self._finisher.stored(self.session)
        removals = None if stored is None else stored.removals
        if removals != self._removals and self._removals is not None:
            self._pads, self._conversation = {_MAIN: self._new_pad(self._identity.agent)}, ObservedConversation()
            self._saved_at, self._first_call = 0.0, ""
            if stored is not None:
                self.restore(stored)
        self._removals = removals

    def _after_step(self, *, is_subtask: bool, fields: Mapping[str, Any]) -> None:
        """Checkpoint without waiting; many-part builds promote what a validated subtask showed."""
        try:
            self._forget_removed()
            if self._finisher.save_if_free(self._saved()):
                self._removals = self._removals or 0
            main = self._pads[_MAIN]
            done = is_subtask and len(main.activity.subtasks) > SUBTASKS_TO_PROMOTE_EACH
            metadata = fields.get("metadata")
            validated = isinstance(metadata, Mapping) and bool(metadata.get("validated"))
            if done and validated and self._identity.type is SessionType.BUILD:
                self._finisher.promote_if_free(self.merged(), self._saved())
        except TreeringError as exc:
            _LOG.warning("session %s: no checkpoint: %s", self.session, exc)

    def _pad_of(self, agent: str | None) -> Scratchpad:
        if not agent or agent == self._identity.agent:
            return self._pads[_MAIN]
        if agent not in self._pads:
            if len(self._pads) > MAX_AGENTS:
                return self._pads[_MAIN]
            self._pads[agent] = self._new_pad(agent)
        return self._pads[agent]

    def _new_pad(self, agent: str | None) -> Scratchpad:
        identity = self._identity
        return Scratchpad(identity.session, type=identity.type, root=identity.root, agent=agent)

    def _note_time(self, at: object) -> None:
        moment = time_of(at)
        if moment is not None:
            self._started_at = min(self._started_at or moment, moment)
            self._last_at = max(self._last_at or moment, moment)


def _mapping(event: object) -> Mapping[str, Any]:
    return event if isinstance(event, Mapping) else {}
