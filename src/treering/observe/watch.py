"""A watch: takes the events of one session in, saves its scratchpads, and finishes it."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from treering.core.errors import InvalidInput, TreeringError
from treering.core.events import Event, EventKind, SessionOutcome, SessionType
from treering.core.observations import UNREADABLE_CHECKPOINTS, SavedScratchpad
from treering.observe.continuations import call_digest
from treering.observe.conversation import ObservedConversation
from treering.observe.event_ids import EventIds, RecentMessages
from treering.observe.given_text import CitedRecords, without_given_text
from treering.observe.journal import EventJournal
from treering.observe.scratchpad import Alert, Scratchpad, merged
from treering.observe.scratchpad.intake import moment_of, seconds_of
from treering.observe.scratchpad.kept_text import kept_text
from treering.observe.signals import Note, notes_of
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
        self._ids = EventIds()
        self._journal = EventJournal()
        self._stored: str | None = None  # digest of the checkpoint that this watch last read or wrote
        self._removals = 0  # of that checkpoint
        self._saved_at = 0.0
        self._next_save = 0.0
        self._unreadable = 0
        self._report: SessionReport | None = None
        self._begin()

    def _begin(self) -> None:
        self._pads = {_MAIN: self._new_pad(self._identity.agent)}
        self._conversation = ObservedConversation()
        self._messages = RecentMessages()
        self._cited = CitedRecords()
        self._first_call = ""
        self._started_at: float | None = None  # seconds since 1970
        self._last_at: float | None = None
        self._finished: int | None = None  # events when the session was last finished
        self._notes: tuple[Note, ...] | None = None
        self._merged: Scratchpad | None = None
        self._written: tuple[bool, SavedScratchpad] | None = None

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

    @property
    def taint(self) -> str | None:
        """Source of the outside content that the main agent has read; None if it has read none."""
        return self._pads[_MAIN].taint

    @property
    def news(self) -> int:
        """Events since the session was last finished, or since it began; duplicates are not counted."""
        return self._taken - (self._finished or 0)

    @property
    def goes_on(self) -> bool:
        """Whether the session was finished and has new events."""
        return self._finished is not None and self.news > 0

    @property
    def validated(self) -> bool | None:
        """Whether the last test run of the session passed; None if it ran no tests."""
        runs = [pad.activity.tests for pad in self._pads.values() if pad.activity.tests.command]
        return None if not runs else not max(runs, key=lambda each: each.last_step).last_failed

    @property
    def step(self) -> int:
        """Tool calls of the main agent so far, or the last step that its events named."""
        return self._pads[_MAIN].activity.step

    @property
    def _taken(self) -> int:
        return sum(pad.events - pad.duplicates for pad in self._pads.values())

    def event(self, event: Event | Mapping[str, object]) -> None:
        """Take one event in. Events may come late, twice, or with unknown fields."""
        try:
            self._take(event.__dict__ if isinstance(event, Event) else _mapping(event))
        except Exception as exc:  # noqa: BLE001 - observation must never break the agent; doctor shows the count
            self._count_error(exc)

    def _count_error(self, exc: Exception) -> None:
        main = self._pads[_MAIN]
        main.errors += 1
        if main.errors == 1:
            _LOG.warning("session %s: an event was not observed: %s", self.session, type(exc).__name__)

    def _take(self, given: Mapping[str, Any]) -> None:
        fields = self._ids.identified(without_given_text(given))
        if not self._add(fields):
            return
        self._journal.add(fields)
        self._report = None
        is_subtask = fields.get("kind") == EventKind.SUBTASK
        elapsed = sum(each.elapsed for each in self._pads.values())
        is_due = elapsed - self._saved_at >= CHECKPOINT_SECONDS or self._journal.is_full
        if is_subtask or (is_due and monotonic() >= self._next_save):
            begun = monotonic()
            self._saved_at = elapsed
            self._after_step(is_subtask=is_subtask, fields=fields)
            ended = monotonic()
            self._next_save = ended + CHECKPOINT_PAUSE * (ended - begun)

    def _add(self, fields: Mapping[str, Any]) -> bool:
        """Note one event; False if it was seen before or is of an unknown kind."""
        self._notes = self._merged = self._written = None
        agent, kind, main = fields.get("agent"), fields.get("kind"), self._pads[_MAIN]
        pad = self._pad_of(kept_text(agent, MAX_AGENT_NAME) if isinstance(agent, str) else None)
        if self._messages.is_repeated(fields, "" if pad is main else str(agent)):
            pad.events += 1
            pad.duplicates += 1
            return False
        if main.taint is not None and (kind == EventKind.PROMPT or not pad.events):
            pad.mark_tainted(main.taint)  # the main agent tells a subagent what to do
        duplicates, unknown = pad.duplicates, pad.unknown
        pad.add(fields)
        if pad.duplicates > duplicates or pad.unknown > unknown:
            return False
        if not self._first_call and kind == EventKind.TOOL_CALL:
            self._first_call = call_digest(fields.get("call_id"))
        self._note_time(fields.get("at"))
        self._cited.add(fields)
        if pad is main:
            self._conversation.add(fields, pad.taint)
        elif pad.taint is not None:
            main.mark_tainted(pad.taint)
        return True

    def alerts(self) -> tuple[Alert, ...]:
        """Early notices for this session, most urgent first, each signal once."""
        found = {alert.signal: alert for pad in self._pads.values() for alert in pad.alerts()}
        return tuple(sorted(found.values(), key=lambda alert: -alert.priority))

    def checkpoint(self) -> None:
        """Save the scratchpads, so that another process can continue or finish the session.

        Other watches of the session may save at the same time: what is stored has the events of all.
        """
        self._write(finished=False)
        self._finisher.save(self)
        self._note_saved()

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
            self._report = self._finish(ended, validated)
        return self._report

    def abandon(self) -> SessionReport:
        """Finish as abandoned, unless another process has finished the session with all of its events."""
        return self._finish(SessionOutcome.ABANDONED, None, keep_outcome=True)

    def _finish(self, outcome: SessionOutcome, validated: bool | None, *, keep_outcome: bool = False) -> SessionReport:
        # Notes take long if other agents' words are compared, so that as little as possible is left to the transaction.
        self._join(self._finisher.stored(self.session))
        self.notes()
        self._write(finished=True)
        report = self._finisher.finish(self, outcome=outcome, validated=validated, keep_outcome=keep_outcome)
        self._finished = self._taken
        self._note_saved()
        return report

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
        if len(pads) == 1:
            return pads[0]
        if self._merged is None:
            self._merged = merged(pads, TextSimilarity(self._finisher.models))
        return self._merged

    def notes(self) -> tuple[Note, ...]:
        """What the session shows so far."""
        if self._notes is None:
            self._notes = notes_of(self.merged())
        return self._notes

    def restore(self, saved: SavedScratchpad) -> None:
        """Continue from a checkpoint of another process; an unreadable one is logged and ignored."""
        self._stored, self._removals = _digest(saved), saved.removals
        try:
            state = json.loads(saved.state)
            pads = {name: Scratchpad.from_state(pad) for name, pad in state["pads"].items()}
            conversation = ObservedConversation.from_state(state["conversation"])
            messages = RecentMessages((key, at) for key, at in state.get("messages", ()))
            started_at, last_at = (seconds_of(state[name]) for name in ("started_at", "last_at"))
            cited = CitedRecords(state.get("cited", ()))
            unreadable, finished = state.get(UNREADABLE_CHECKPOINTS, 0), state.get("finished")
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as exc:
            _LOG.warning("session %s: its checkpoint cannot be read and is ignored: %r", self.session, exc)
            self._unreadable += 1
            return
        self._begin()
        self._pads, self._conversation, self._messages = {**self._pads, **pads}, conversation, messages
        self._cited = cited
        self._started_at, self._last_at, self._finished = started_at, last_at, finished
        self._first_call, self._unreadable = str(state.get("first_call") or ""), unreadable
        self._saved_at = sum(pad.elapsed for pad in self._pads.values())

    def joined(self, stored: SavedScratchpad | None, *, finished: bool = False) -> SavedScratchpad:
        """The scratchpads to save: the stored ones with all events of this watch."""
        self._join(stored)
        return self._write(finished=finished)

    def _write(self, *, finished: bool) -> SavedScratchpad:
        """The scratchpads as they are now; written before the transaction, which then only compares and stores them."""
        if self._written is None or self._written[0] is not finished:
            self._written = (finished, self._saved(finished=finished))
        return self._written[1]

    def _saved(self, *, finished: bool) -> SavedScratchpad:
        times = {"started_at": moment_of(self._started_at), "last_at": moment_of(self._last_at)}
        state = {
            "identity": [self._identity.type.value, self._identity.agent, self._identity.root],
            "pads": {name: pad.state() for name, pad in self._pads.items()},
            "conversation": self._conversation.state(),
            "messages": self._messages.state(),
            "first_call": self._first_call,
            "cited": self._cited.state(),
            "finished": self._taken if finished else self._finished,
            UNREADABLE_CHECKPOINTS: self._unreadable,
            **{name: None if at is None else at.isoformat() for name, at in times.items()},
        }
        written = json.dumps(state, ensure_ascii=False, separators=(",", ":"))
        return self._finisher.saved(self.session, written, self._removals)

    def _note_saved(self) -> None:
        """The checkpoint that was written last is stored."""
        if self._written is not None:
            self._stored = _digest(self._written[1])
        self._journal.clear()
        self._written = None

    def _join(self, stored: SavedScratchpad | None) -> None:
        """Go on from the stored scratchpads if they changed since this watch last read or wrote them.

        Events since then are added to those of another process, except after a hard forget, which may have removed
        words that they repeat. A session that was forgotten begins again.
        """
        digest = None if stored is None else _digest(stored)
        if digest == self._stored:
            return
        self._report = None
        if stored is None or stored.removals != self._removals:
            self._begin()
            self._journal.clear()
            self._saved_at = 0.0
        if stored is None:
            self._stored, self._removals = None, 0
            return
        own = self._pads
        self.restore(stored)
        if self._pads is not own:
            self._add_again(own)

    def _add_again(self, own: Mapping[str, Scratchpad]) -> None:
        """Add the events since the last checkpoint to restored scratchpads; `own` are those that had them."""
        if dropped := self._journal.dropped:
            _LOG.warning("session %s: %d events were lost between two checkpoints", self.session, dropped)
            self._pads[_MAIN].errors += dropped
            for pad in own.values():
                if pad.taint is not None:
                    self._pad_of(pad.agent).mark_tainted(pad.taint)
                    self._pads[_MAIN].mark_tainted(pad.taint)
        for fields in self._journal:
            try:
                self._add(fields)
            except Exception as exc:  # noqa: BLE001 - as in `event`
                self._count_error(exc)

    def _after_step(self, *, is_subtask: bool, fields: Mapping[str, Any]) -> None:
        """Checkpoint without waiting; many-part builds promote what a validated subtask showed."""
        try:
            self._write(finished=False)
            if self._finisher.save_if_free(self):
                self._note_saved()
            main = self._pads[_MAIN]
            done = is_subtask and len(main.activity.subtasks) > SUBTASKS_TO_PROMOTE_EACH
            metadata = fields.get("metadata")
            validated = isinstance(metadata, Mapping) and bool(metadata.get("validated"))
            if done and validated and self._identity.type is SessionType.BUILD:
                self.notes()
                self._write(finished=False)
                if self._finisher.promote_if_free(self):
                    self._note_saved()
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
        moment = seconds_of(at)
        if moment is None:
            return
        if self._started_at is None or moment < self._started_at:
            self._started_at = moment
        if self._last_at is None or moment > self._last_at:
            self._last_at = moment


def _digest(saved: SavedScratchpad) -> str:
    return blake2b(saved.state.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _mapping(event: object) -> Mapping[str, Any]:
    return event if isinstance(event, Mapping) else {}
