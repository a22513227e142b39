"""A new session ends those before it: what was said in them can be learned from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treering.core.jobs import following_jobs, learning_job
from treering.core.queries import SessionFilter

if TYPE_CHECKING:
    from treering.core.turns import Turn
    from treering.ports.clock import NewId
    from treering.ports.store import Transaction

MAX_SESSIONS_ENDED_AT_ONCE = 20
"""Sessions that are ended at once; more are left to the nightly consolidation."""


def after_turn_stored(tx: Transaction, turn: Turn, new_id: NewId) -> Turn:
    """The turn, with the work on it queued; where it begins a session, those before it end."""
    for alternatives in following_jobs(tx.scope.principal, tx.now, new_id):
        tx.jobs.enqueue_first(alternatives)
    if turn.seq == 0:
        end_other_sessions(tx, turn.session, turn.owner, new_id)
    return turn


def end_other_sessions(tx: Transaction, current: str, owner: str, new_id: NewId) -> None:
    """End the owner's open sessions but the one that has just `current`. A session that is spoken in again goes on.

    A session whose next turn is being stored at this moment stays open.
    """
    open_sessions = tx.sessions.find(
        SessionFilter(ended=False, owners=(owner,)), limit=MAX_SESSIONS_ENDED_AT_ONCE
    ).items
    for session in open_sessions:
        if session.id != current and tx.sessions.end(session.id) and session.turns > session.learned:
            tx.jobs.enqueue(learning_job(session, tx.now, new_id()))
