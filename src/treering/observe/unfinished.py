"""Sessions that were never finished: they end as abandoned, and `doctor` shows them and errors of observation."""

from __future__ import annotations

import json
import logging
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from treering.core.errors import TreeringError
from treering.core.events import SessionOutcome, SessionType
from treering.core.observations import UNREADABLE_CHECKPOINTS
from treering.core.queries import ObservedSessionFilter, Order, SavedScratchpadFilter, TimeRange
from treering.observe.api import Observer
from treering.observe.finished import SessionFinisher
from treering.ports.store import Check

if TYPE_CHECKING:
    from treering.core.observations import SavedScratchpad
    from treering.core.scope import Scope
    from treering.jobs.stage import StageRun
    from treering.ports.store import Store, Transaction

ABANDONED_AFTER = timedelta(hours=24)  # since the last checkpoint
_CHECKED = timedelta(days=7)
_MAX_CHECKED = 200
_LOG = logging.getLogger(__name__)


def finish_abandoned(run: StageRun) -> int:
    """Finish sessions whose process ended without finishing them, and return their number.

    A session that goes on later is finished again with all of its events.
    """
    with run.store.reading(run.scope, run.now) as tx:
        ids = _unfinished(tx, run.now)
    if run.dry_run:
        return len(ids)
    return sum(_finish(run, id) for id in ids)


def observation_check(scope: Scope, store: Store, now: datetime) -> tuple[Check, ...]:
    """The doctor's check of the last days; none if no session was observed."""
    started = TimeRange(since=now - _CHECKED)
    with store.reading(scope, now) as tx:
        unfinished = len(_unfinished(tx, now))
        where = ObservedSessionFilter(started=started)
        sessions = tx.observed_sessions.find(where, order=Order(by="started_at"), limit=_MAX_CHECKED).items
        total = tx.observed_sessions.count()
    if not total and not unfinished:
        return ()
    wrong = [each.id for each in sessions if each.ignored.get("errors") or each.ignored.get(UNREADABLE_CHECKPOINTS)]
    parts = [f"{total:,} observed"]
    advice = []
    if wrong:
        parts.append(f"{len(wrong)} of the last days with events or checkpoints that could not be read")
        advice.append(f"`treering session {wrong[0]}` shows what is missing; please report it")
    if unfinished:
        parts.append(f"{unfinished} unfinished for more than a day")
        advice.append("`treering maintain consolidate` finishes them")
    return (Check("observed sessions", not wrong, ", ".join(parts), "; ".join(advice)),)


def _unfinished(tx: Transaction, now: datetime) -> list[str]:
    """Ids of sessions with a checkpoint that is older than a day and no end. Reads no scratchpad."""
    old = SavedScratchpadFilter(saved=TimeRange(before=now - ABANDONED_AFTER))
    saved = {id for id, (count,) in tx.scratchpads.count_by("id", [old]).items() if count}
    if not saved:
        return []
    finished = tx.observed_sessions.count_by("id", [ObservedSessionFilter(finished=True)])
    return sorted(id for id in saved if not sum(finished.get(id, ())))


def _finish(run: StageRun, id: str) -> bool:
    with run.store.reading(run.scope, run.now) as tx:
        saved = tx.scratchpads.get(id)
    if saved is None:
        return False
    scope = run.scope.replace(principal=saved.owner)
    finisher = SessionFinisher(scope, run.store, lambda: run.now, run.new_id, run.models)
    try:
        Observer(finisher).observe(id, **_identity(saved)).finish(SessionOutcome.ABANDONED)
    except TreeringError as exc:
        _LOG.warning("session %s was not finished: %s", id, exc)
        return False
    return True


def _identity(saved: SavedScratchpad) -> dict[str, Any]:
    try:
        type, agent, root = json.loads(saved.state)["identity"]
        return {"type": SessionType(type), "agent": agent, "root": root}
    except (ValueError, KeyError, TypeError):
        return {}
