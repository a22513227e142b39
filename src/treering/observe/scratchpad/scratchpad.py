"""The scratchpad of one agent in one session."""

import logging
from collections.abc import Callable, Mapping
from typing import Any

from treering.core.events import Event, EventKind, SessionType
from treering.observe.commands import Purpose
from treering.observe.errors import failure_of
from treering.observe.scratchpad.activity import Activity
from treering.observe.scratchpad.alerts import PRIORITIES, Alert, config_alert, error_alert, search_alert
from treering.observe.scratchpad.calls import MAX_PENDING, MAX_TOOL, PendingCall, pending_call
from treering.observe.scratchpad.checks import record_screen, screen_tool
from treering.observe.scratchpad.clock import SessionClock
from treering.observe.scratchpad.commands_run import (
    record_conflicts,
    record_failure,
    record_run,
    record_success,
    record_tool_success,
    tool_source,
)
from treering.observe.scratchpad.corrections import record_cues, record_edit_after_cue
from treering.observe.scratchpad.edits import forget_edit, record_edit
from treering.observe.scratchpad.files import (
    record_access,
    record_chase,
    record_dwell,
    record_imports,
    record_search_after_read,
    undo_access,
)
from treering.observe.scratchpad.hashes import RecentHashes, hash_of
from treering.observe.scratchpad.intake import IncomingEvent, read_event
from treering.observe.scratchpad.kept_text import MAX_READ, kept_source, kept_text
from treering.observe.scratchpad.outside import (
    SUBAGENT,
    UNSEEN_CALL,
    cites_outside,
    record_edit_after_source,
    record_source,
)
from treering.observe.scratchpad.path_kinds import is_test
from treering.observe.scratchpad.plans import record_plan, record_qa_report, record_subagent, record_subtask
from treering.observe.scratchpad.recent import Did, JournalEntry, RecentHistory
from treering.observe.scratchpad.searches import (
    close_listings,
    record_listing_result,
    record_listing_use,
    record_search,
    record_search_result,
)
from treering.observe.scratchpad.signal_names import Signal
from treering.observe.scratchpad.token_costs import record_tokens
from treering.observe.tools import ToolAction

logger = logging.getLogger(__name__)

VERSION = 1
_MAX_RESULT = 60_000  # characters of a result that are searched for a failure: its beginning and its end
_MAX_PROMPTS = 8
_MAX_PROMPT = 1_000
_COUNTERS = ("events", "unknown", "duplicates", "errors", "unmatched")
_QUIET_PURPOSES = frozenset({Purpose.READ, Purpose.SEARCH, Purpose.LIST, Purpose.VCS, Purpose.EDIT})
"""Commands whose output may contain the word error without a failure."""


class Scratchpad:
    """Notes of one agent in one session, in bounded memory.

    `add` never raises: an event that it cannot take is counted. After the first outside content, `activity` goes on
    and is tainted by `taint`; `clean` stays as it was just before, so that nothing later can enter it.
    """

    def __init__(self, session: str, *, type: SessionType, root: str, agent: str | None = None) -> None:
        self.session = session
        self.type = SessionType(type)
        self.root = root
        self.agent = agent
        self.activity = Activity()
        self.clean: Activity | None = None
        self.taint: str | None = None
        self.tainted_step = 0
        self._prompts: tuple[str, ...] = ()
        self.parts: tuple[Scratchpad, ...] = ()
        self.same: dict[str, str] = {}
        self.events = self.unknown = self.duplicates = self.errors = self.unmatched = 0
        self._recent = RecentHistory()
        self._clock = SessionClock()
        self._seen = RecentHashes()
        self._pending: dict[int, PendingCall] = {}
        self._alerts: dict[Signal, Alert] = {}
        self._explicit_steps = False

    def add(self, event: Event | Mapping[str, object]) -> None:
        """Take one event in; a merged scratchpad passes it to its first agent."""
        if self.parts:
            self.parts[0].add(event)
            return
        try:
            self._add(event)
        except Exception as exc:  # noqa: BLE001 - observation must never break the agent; doctor shows the count
            self.errors += 1
            if self.errors == 1:
                logger.warning("session %s: an event was not observed: %s", self.session, type(exc).__name__)

    def alerts(self) -> tuple[Alert, ...]:
        """Early notices so far, at most one of each signal, most urgent first."""
        found = dict(self._alerts)
        for part in self.parts:
            for alert in part.alerts():
                found.setdefault(alert.signal, alert)
        return tuple(sorted(found.values(), key=lambda alert: -alert.priority))

    @property
    def prompts(self) -> tuple[str, ...]:
        """The first prompts, safe to keep; secrets are removed only here, as searching for them takes long."""
        return tuple(prompt for each in self._prompts if (prompt := kept_text(each, _MAX_PROMPT)))

    @property
    def elapsed(self) -> float:
        """Seconds of events so far."""
        return self._clock.elapsed

    def journal(self) -> tuple[JournalEntry, ...]:
        """The latest actions, oldest first."""
        return tuple(self._recent.journal)

    def activities(self) -> tuple[Activity, ...]:
        """What each agent did."""
        return tuple(part.activity for part in self.parts) or (self.activity,)

    def mark_tainted(self, source: str) -> None:
        """Taint whatever is noted from now on, as if the next event brought content of this source.

        Call it when the result of a subagent whose own scratchpad is tainted comes back. The first source stays.
        """
        if self.taint is None:
            self.clean = self.activity.copy()
            self.taint = kept_source(source)
            self.tainted_step = self.activity.step

    def _add(self, event: Event | Mapping[str, object]) -> None:
        self.events += 1
        incoming = read_event(event)
        if incoming is None:
            self.unknown += 1
            return
        if self._is_duplicate(incoming):
            self.duplicates += 1
            return
        at = self._clock.advance(incoming.at)
        self._recent.now = incoming.at or 0.0
        if incoming.taint is not None:
            self.mark_tainted(incoming.taint)
        self._advance_step(incoming)
        handler = _HANDLERS.get(incoming.kind)
        if handler is not None:
            handler(self, incoming, at)

    def _is_duplicate(self, event: IncomingEvent) -> bool:
        """Whether an event with this id, or a call or result with this call id, was seen before."""
        if event.call_id and event.kind in _CALLS:
            return not self._seen.is_new(hash_of(f"{event.kind} {event.call_id}"))
        return bool(event.id) and not self._seen.is_new(hash_of(f"{event.kind} {event.id}"))

    def _advance_step(self, event: IncomingEvent) -> None:
        """Take over an explicit step, else count tool calls. Steps never go back."""
        activity = self.activity
        if event.step:
            self._explicit_steps = True
            activity.step = max(activity.step, event.step)
        elif event.kind is EventKind.TOOL_CALL and not self._explicit_steps:
            activity.step += 1

    def _on_prompt(self, event: IncomingEvent, at: float) -> None:
        if len(self._prompts) < _MAX_PROMPTS and event.text.strip():
            self._prompts = (*self._prompts, event.text[:MAX_READ])
        self._record_cues(event.text, by_user=True)

    def _on_reasoning(self, event: IncomingEvent, at: float) -> None:
        self._record_cues(event.text, by_user=False)

    def _record_cues(self, text: str, *, by_user: bool) -> None:
        for cue in record_cues(self.activity, self._recent, text, by_user=by_user):
            self._raise_alert(Signal.SELF_CORRECTION, (cue.sentence, cue.files))

    def _on_call(self, event: IncomingEvent, at: float) -> PendingCall:
        call = pending_call(event.tool, event.arguments, self.root)
        if call.use.outside:
            self.mark_tainted(call.use.outside)
        activity, recent = self.activity, self._recent
        activity.tool_calls += 1
        recent.calls.append(call.tool)
        record_dwell(activity, recent, at)
        close_listings(activity, recent)
        if call.use.outside:
            record_source(activity, recent, call.use.outside)
        self._record_call(call, event, at)
        if len(self._pending) >= MAX_PENDING:
            del self._pending[next(iter(self._pending))]
        self._pending[hash_of(event.call_id) if event.call_id else -activity.tool_calls] = call
        return call

    def _record_call(self, call: PendingCall, event: IncomingEvent, at: float) -> None:
        activity, recent, use = self.activity, self._recent, call.use
        action = use.action
        if action is ToolAction.READ or action is ToolAction.EDIT:
            edited = action is ToolAction.EDIT
            for path in use.paths:
                self._record_access(path, event.arguments, at, edited=edited)
            return
        if action is ToolAction.SEARCH:
            pattern = use.pattern or call.normal
            if pattern:
                record_search_after_read(activity, recent, pattern)
                record_search(activity, recent, pattern)
                if Signal.REPEATED_GREP not in self._alerts:
                    self._raise_alert(Signal.REPEATED_GREP, search_alert(activity, pattern))
        elif action is ToolAction.RUN and call.normal and call.purpose is not None:
            record_run(activity, call.normal, call.purpose)
        elif action is ToolAction.LIST:
            recent.note(activity.step, Did.SEARCHED, use.pattern or call.normal)
        elif action is ToolAction.PLAN:
            record_plan(activity, event.arguments)
        recent.last_read = ""
        recent.chain = recent.imports = ()

    def _record_access(self, path: str, arguments: Mapping[str, object], at: float, *, edited: bool) -> None:
        activity, recent = self.activity, self._recent
        if edited and not activity.edits:
            activity.tests.test_edited_first = is_test(path)
        record_access(activity, recent, path, at, edited=edited)
        record_listing_use(activity, recent, path)
        if not edited:
            record_chase(activity, recent, path)
            return
        record_edit(activity, recent, path, arguments)
        record_edit_after_cue(activity, recent, path)
        record_edit_after_source(activity, recent, path)
        if not is_test(path):
            tests = activity.tests
            tests.untested_edits += 1
            tests.most_untested_edits = max(tests.most_untested_edits, tests.untested_edits)
        if activity.configs and Signal.CONFIG_TOUCH not in self._alerts:
            self._raise_alert(Signal.CONFIG_TOUCH, config_alert(activity))

    def _on_result(self, event: IncomingEvent, at: float) -> None:
        call = self._call_of(event)
        if call is None and event.arguments:
            # Some senders report a call only with its result.
            call = self._on_call(event, at)
            self._pending.popitem()
        if call is None:
            self.unmatched += 1
            if event.text:
                # It may be the result of a download.
                self.mark_tainted(UNSEEN_CALL)
            return
        if call.use.action is ToolAction.DELEGATE and cites_outside(event.text):
            self.mark_tainted(SUBAGENT)
        activity, use = self.activity, call.use
        subject = next(iter(use.paths), "") or call.normal or use.pattern
        record_tokens(activity, subject, use.paths, event.text, event.tokens)
        if tool := screen_tool(call.tool):
            record_screen(activity, tool, event.text)
        if use.outside:
            return
        text = event.text if len(event.text) <= _MAX_RESULT else _ends_of(event.text)
        if event.is_error or (use.action is ToolAction.RUN and call.purpose not in _QUIET_PURPOSES):
            self._record_outcome(call, text, event)
        elif use.action is ToolAction.RUN:
            self._record_success(call, text, event)
        if not event.is_error:
            if self._recent.open_errors and use.action is not ToolAction.RUN:
                record_tool_success(activity, self._recent, call.tool, next(iter(use.paths), ""))
            self._record_result(call, text)

    def _call_of(self, event: IncomingEvent) -> PendingCall | None:
        """The call of a result: by its id, else the last one of the same tool."""
        if event.call_id:
            return self._pending.pop(hash_of(event.call_id), None)
        tool = kept_text(event.tool, MAX_TOOL)
        same_tool = (key for key, call in reversed(self._pending.items()) if tool in ("", call.tool))
        key = next(same_tool, None)
        return None if key is None else self._pending.pop(key)

    def _record_outcome(self, call: PendingCall, text: str, event: IncomingEvent) -> None:
        """Recognise a failure, or a success of a command."""
        activity, recent, use = self.activity, self._recent, call.use
        if event.is_error and use.action in (ToolAction.READ, ToolAction.EDIT):
            for path in use.paths:
                undo_access(activity, recent, path, edited=use.action is ToolAction.EDIT)
                forget_edit(recent, path)
        failure = failure_of(call.tool, use, text, is_error=event.is_error, root=self.root)
        if failure is not None:
            source = call.normal or tool_source(call.tool, next(iter(use.paths), ""))
            record_failure(activity, recent, source, call, failure)
            if Signal.ERROR_RETRY not in self._alerts:
                self._raise_alert(Signal.ERROR_RETRY, error_alert(activity))
        elif not event.is_error and use.action is ToolAction.RUN:
            self._record_success(call, text, event)
        if call.purpose is Purpose.VCS:
            record_conflicts(activity, text)

    def _record_success(self, call: PendingCall, text: str, event: IncomingEvent) -> None:
        if call.normal and call.purpose is not None:
            record_success(self.activity, self._recent, call.normal, call.purpose, event.duration_ms)
        if call.purpose is Purpose.VCS:
            record_conflicts(self.activity, text)

    def _record_result(self, call: PendingCall, text: str) -> None:
        activity, recent, use = self.activity, self._recent, call.use
        if use.action is ToolAction.READ and recent.chain and recent.chain[-1] in use.paths:
            record_imports(recent, text)
        elif use.action is ToolAction.SEARCH:
            record_search_result(activity, use.pattern or call.normal, text)
        elif use.action is ToolAction.LIST and (key := use.pattern or call.normal):
            record_listing_result(activity, recent, key, text)

    def _on_plan(self, event: IncomingEvent, at: float) -> None:
        record_plan(self.activity, {**event.metadata, **event.arguments}, event.text)

    def _on_subtask(self, event: IncomingEvent, at: float) -> None:
        record_subtask(self.activity, self._recent, event)

    def _on_qa_report(self, event: IncomingEvent, at: float) -> None:
        record_qa_report(self.activity, self._recent, event, self.root)

    def _on_subagent(self, event: IncomingEvent, at: float) -> None:
        if cites_outside(event.text):
            self.mark_tainted(SUBAGENT)
        record_subagent(self.activity, event)

    def _raise_alert(self, signal: Signal, found: tuple[str, tuple[str, ...]] | None) -> None:
        if found is not None and signal not in self._alerts:
            text, files = found
            self._alerts[signal] = Alert(signal, PRIORITIES[signal], text, files, self.activity.step, self.taint)

    def state(self) -> dict[str, Any]:
        """The scratchpad as JSON data, for `from_state`."""
        return {
            "version": VERSION,
            "session": self.session,
            "type": self.type.value,
            "root": self.root,
            "agent": self.agent,
            "activity": self.activity.state(),
            "clean": None if self.clean is None else self.clean.state(),
            "taint": self.taint,
            "tainted_step": self.tainted_step,
            "prompts": list(self.prompts),
            "parts": [part.state() for part in self.parts],
            "same": dict(self.same),
            "counters": [getattr(self, name) for name in _COUNTERS],
            "recent": self._recent.state(),
            "clock": [self._clock.elapsed, self._clock.last],
            "seen": self._seen.state(),
            "pending": [[call_id, *call.state()] for call_id, call in self._pending.items()],
            "alerts": [
                [alert.signal.value, alert.text, list(alert.files), alert.step, alert.taint]
                for alert in self._alerts.values()
            ],
            "explicit_steps": self._explicit_steps,
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "Scratchpad":
        """The scratchpad whose `state()` this is; notes that were removed from it since are empty."""
        pad = cls(state["session"], type=SessionType(state["type"]), root=state["root"], agent=state["agent"])
        pad.activity = Activity.from_state(state["activity"])
        pad.clean = None if state["clean"] is None else Activity.from_state(state["clean"])
        pad.taint, pad.tainted_step = state["taint"], state["tainted_step"]
        pad._prompts = tuple(state["prompts"])
        pad.parts = tuple(cls.from_state(part) for part in state["parts"])
        pad.same = dict(state["same"])
        for name, count in zip(_COUNTERS, state["counters"], strict=True):
            setattr(pad, name, count)
        pad._recent = RecentHistory.from_state(state["recent"])
        pad._clock = SessionClock(*state["clock"])
        pad._seen = RecentHashes.from_state(state["seen"])
        pad._pending = {call_id: PendingCall.from_state(call) for call_id, *call in state["pending"]}
        for name, text, files, step, taint in state["alerts"]:
            signal = Signal(name)
            pad._alerts[signal] = Alert(signal, PRIORITIES[signal], text, tuple(files), step, taint)
        pad._explicit_steps = state["explicit_steps"]
        return pad


_CALLS = frozenset({EventKind.TOOL_CALL, EventKind.TOOL_RESULT})
_HANDLERS: Mapping[EventKind, Callable[[Scratchpad, IncomingEvent, float], object]] = {
    EventKind.PROMPT: Scratchpad._on_prompt,
    EventKind.REASONING: Scratchpad._on_reasoning,
    EventKind.TOOL_CALL: Scratchpad._on_call,
    EventKind.TOOL_RESULT: Scratchpad._on_result,
    EventKind.PLAN: Scratchpad._on_plan,
    EventKind.SUBTASK: Scratchpad._on_subtask,
    EventKind.QA_REPORT: Scratchpad._on_qa_report,
    EventKind.SUBAGENT: Scratchpad._on_subagent,
}


def _ends_of(text: str) -> str:
    return f"{text[: _MAX_RESULT // 3]}\n{text[-2 * _MAX_RESULT // 3 :]}"
