"""Ends earlier sessions when a new one begins, so that they can be learned from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treering.core.jobs import follow_up_jobs, learning_job

if TYPE_CHECKING:
    from treering.core.turns import Turn
    from treering.ports.clock import NewId
    from treering.ports.store import Transaction

MAX_SESSIONS_ENDED_AT_ONCE = 20  # nightly consolidation ends the rest


def after_turn_stored(tx: Transaction, turn: Turn, new_id: NewId) -> Turn:
    """Queue the jobs that follow a stored turn and, if it begins a session, end the earlier ones. Returns the turn."""
    for alternatives in follow_up_jobs(tx.scope.principal, tx.now, new_id):
        tx.jobs.enqueue_later(alternatives)
    if turn.seq == 0:
        end_other_sessions(tx, turn.session, turn.owner, new_id)
    return turn


def end_other_sessions(tx: Transaction, current: str, owner: str, new_id: NewId) -> None:
    """End the owner's open sessions except `current`. A session continues when it gets another turn.

    A session whose next turn is being stored at the same moment stays open.
    """
    for session in tx.sessions.end_others(current, owner, limit=MAX_SESSIONS_ENDED_AT_ONCE):
        if session.turns > session.learned:
            tx.jobs.enqueue_later((learning_job(session, tx.now, new_id()),))
