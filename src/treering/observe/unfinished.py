"""Sessions that were never finished: they end as abandoned, and `doctor` shows them and errors of observation."""

from __future__ import annotations

import json
import logging
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from treering.core.errors import TreeringError
from treering.core.events import SessionType
from treering.core.observations import UNREADABLE_CHECKPOINTS, session_claim
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
_MAX_READ = 50  # scratchpads of unfinished sessions that a check reads
_FINISH_ERROR = "finish_error"  # in a saved state: why maintenance could not finish the session
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
        ids = _unfinished(tx, now)
        unfinished, failed = len(ids), _failures(tx, ids)
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
    if failed:
        id, error = next(iter(failed.items()))
        parts.append(f"{len(failed)} could not be finished ({id}: {error})")
        advice.append("the log of the maintenance has details; please report it")
    if unfinished:
        parts.append(f"{unfinished} unfinished for more than a day")
        advice.append("`treering maintain consolidate` finishes them")
    return (Check("observed sessions", not wrong and not failed, ", ".join(parts), "; ".join(advice)),)


def _unfinished(tx: Transaction, now: datetime) -> list[str]:
    """Ids of sessions with a checkpoint that is older than a day and no end. Reads no scratchpad."""
    old = SavedScratchpadFilter(saved=TimeRange(before=now - ABANDONED_AFTER))
    saved = {id for id, (count,) in tx.scratchpads.count_by("id", [old]).items() if count}
    if not saved:
        return []
    finished = tx.observed_sessions.count_by("id", [ObservedSessionFilter(finished=True)])
    return sorted(id for id in saved if not sum(finished.get(id, ())))


def _failures(tx: Transaction, ids: list[str]) -> dict[str, str]:
    """Sessions that maintenance could not finish, with the type of the error."""
    saved = tx.scratchpads.get_many(ids[:_MAX_READ])
    return {id: error for id in saved if (error := _state(saved[id]).get(_FINISH_ERROR))}


def _finish(run: StageRun, id: str) -> bool:
    try:
        return _abandon(run, id)
    except Exception as exc:  # noqa: BLE001 - one broken session must not stop the others; doctor names it
        _LOG.warning("session %s was not finished: %s", id, exc, exc_info=not isinstance(exc, TreeringError))
        with suppress(TreeringError):
            _note_failure(run, id, type(exc).__name__)
        return False


def _note_failure(run: StageRun, id: str, error: str) -> None:
    def note(tx: Transaction) -> None:
        saved = tx.scratchpads.get(id)
        if saved is not None and (state := _state(saved)):
            written = json.dumps({**state, _FINISH_ERROR: error}, ensure_ascii=False, separators=(",", ":"))
            tx.scratchpads.put_many([saved.replace(state=written)])

    run.store.write(run.scope, run.now, note, claims=(session_claim(id),))


def _abandon(run: StageRun, id: str) -> bool:
    with run.store.reading(run.scope, run.now) as tx:
        saved = tx.scratchpads.get(id)
    if saved is None:
        return False
    scope = run.scope.replace(principal=saved.owner)
    finisher = SessionFinisher(scope, run.store, lambda: run.now, run.new_id, run.models)
    Observer(finisher).observe(id, **_identity(saved)).abandon()
    return True


def _identity(saved: SavedScratchpad) -> dict[str, Any]:
    try:
        type, agent, root = _state(saved)["identity"]
        return {"type": SessionType(type), "agent": agent, "root": root}
    except (ValueError, KeyError, TypeError):
        return {}


def _state(saved: SavedScratchpad) -> dict[str, Any]:
    """The saved state; empty if it cannot be read."""
    try:
        state = json.loads(saved.state)
    except ValueError:
        return {}
    return state if isinstance(state, dict) else {}
