"""What a finished session did with the items that it was given: used, ignored, contradicted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from treering.core.citations import is_citation_of
from treering.core.injection_rates import InjectionRates
from treering.core.injections import InjectedItem, InjectionPoint, ItemKind, ItemOutcome
from treering.core.payloads import ErrorPattern, WorkflowRecipe
from treering.core.project_settings import INJECTION_RATES, ProjectSetting
from treering.core.queries import ApplicationFilter, InjectedItemFilter, Order, TimeRange
from treering.knowledge.usage import count_uses_in
from treering.observe.commands import parse_command
from treering.observe.scratchpad import Activity

if TYPE_CHECKING:
    from treering.core.records import Knowledge
    from treering.observe.scratchpad.entries import ObservedFileUse
    from treering.ports.store import Transaction

_MAX_ITEMS = 2_000
_LATE, _MAX_LATE = timedelta(days=7), 100
_RATES_CLAIM = "injection rates of the project"
_ABOUT_TOUCHED = frozenset({InjectionPoint.TOOL, InjectionPoint.STEP})
"""Points at which the files of an item were just touched: touching them once more proves nothing."""
_CODE = re.compile(r"`([^`\n]{1,300})`")


def assess_outcomes(tx: Transaction, session: str, state: Mapping[str, Any]) -> tuple[InjectedItem, ...]:
    """Store the outcome of each item of a session, count uses and update the learned rates; return what changed.

    A repetition changes nothing. If the session went on, an ignored item may turn out to be used or contradicted.
    """
    items = tx.injected_items.find(InjectedItemFilter(sessions=(session,)), limit=_MAX_ITEMS).items
    if not items:
        return ()
    records = tx.knowledge.get_many({each.item for each in items if each.kind is ItemKind.KNOWLEDGE})
    applied = {each.pattern for each in tx.applications.stream(ApplicationFilter(sessions=(session,)))}
    trace = SessionTrace.of(state, applied)
    changed = [
        each.replace(outcome=outcome)
        for each in items
        if (outcome := outcome_of(each, records.get(each.item), trace)) is not each.outcome
        and each.outcome in (None, ItemOutcome.IGNORED)
    ]
    if not changed:
        return ()
    tx.claim(_RATES_CLAIM)
    tx.injected_items.put_many(changed)
    _learn(tx, changed)
    used = {each.item for each in items if each.outcome is ItemOutcome.USED}  # counted before
    now_used = (each.item for each in changed if each.outcome is ItemOutcome.USED and each.item in records)
    count_uses_in(tx, sorted(set(now_used) - used))
    return tuple(changed)


def late_sessions(tx: Transaction, session: str) -> tuple[str, ...]:
    """Other finished sessions with items that were stored after their end."""
    where = InjectedItemFilter(judged=False, injected=TimeRange.make(since=tx.now - _LATE))
    waiting = tx.injected_items.find(where, order=Order(by="injected_at"), limit=_MAX_LATE).items
    others = tx.observed_sessions.get_many({each.session for each in waiting} - {session})
    return tuple(id for id, each in sorted(others.items()) if each.finished_at is not None)


def _learn(tx: Transaction, judged: Sequence[InjectedItem]) -> None:
    stored = tx.project_settings.get(INJECTION_RATES)
    before = InjectionRates.from_values({} if stored is None else stored.values)
    after = before.after((each, each.outcome) for each in judged if each.outcome is not None)
    tx.project_settings.put_many([ProjectSetting.make(id=INJECTION_RATES, changed_at=tx.now, values=after.to_values())])


@dataclass(frozen=True, slots=True)
class SessionTrace:
    """What a session did, as far as it shows which items it used."""

    files: Mapping[str, tuple[ObservedFileUse, ...]]
    commands: Mapping[str, int]
    """The last step of each command."""
    cited: tuple[str, ...]
    applied: frozenset[str] = frozenset()
    """Ids of the patterns that were applied in it."""

    @classmethod
    def of(cls, state: Mapping[str, Any], applied: Iterable[str] = ()) -> SessionTrace:
        """The trace in the saved state of a watch."""
        activities = [Activity.from_state(pad["activity"]) for pad in state["pads"].values()]
        paths = {path for each in activities for path in each.files}
        files = {path: tuple(each.files[path] for each in activities if path in each.files) for path in paths}
        commands = {
            normal: max(each.commands[normal].last_step for each in activities if normal in each.commands)
            for normal in {normal for each in activities for normal in each.commands}
        }
        return cls(files, commands, tuple(state.get("cited", ())), frozenset(applied))

    def touched(self, path: str, item: InjectedItem) -> bool:
        """Whether the file was touched after the item was given; if it had just been touched, whether it was edited."""
        return any(_touched(use, item) for use in self.files.get(path, ()))

    def ran(self, command: str, item: InjectedItem) -> bool:
        return self.commands.get(parse_command(command).normal, 0) > item.step


def _touched(use: ObservedFileUse, item: InjectedItem) -> bool:
    if item.point in _ABOUT_TOUCHED and use.first_step <= item.step:
        return use.last_edit > item.step
    return use.last_step > item.step


def outcome_of(item: InjectedItem, record: Knowledge | None, trace: SessionTrace) -> ItemOutcome:
    """What the session did with the item; `record` is the record as it is now, None for files and patterns."""
    if item.kind is ItemKind.KNOWLEDGE and _is_contradicted(record, item.injected_at):
        return ItemOutcome.CONTRADICTED
    used = any(is_citation_of(each, item.item) for each in trace.cited) or item.item in trace.applied
    if item.kind is ItemKind.FILE:
        used = used or trace.touched(item.item, item)
    elif record is not None:
        used = used or any(trace.touched(path, item) for path in record.files) or _followed(record, item, trace)
    return ItemOutcome.USED if used else ItemOutcome.IGNORED


def _is_contradicted(record: Knowledge | None, given_at: datetime) -> bool:
    """Whether the record was flagged, corrected, superseded or forgotten since it was given."""
    if record is None:
        return True
    ended = any(each is not None and each >= given_at for each in (record.deleted_at, record.deprecated_at))
    return ended or (record.flagged and record.updated_at >= given_at)


def _followed(record: Knowledge, item: InjectedItem, trace: SessionTrace) -> bool:
    """Whether the session ran a command, or edited a file, that the record recommends."""
    payload = record.payload
    if isinstance(payload, WorkflowRecipe):
        return any(trace.ran(step.description, item) for step in payload.steps)
    if not isinstance(payload, ErrorPattern):
        return False
    named = _CODE.findall(payload.resolution or "")
    return any(trace.ran(each, item) or trace.touched(each, item) for each in named)
