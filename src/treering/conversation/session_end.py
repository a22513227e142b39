"""A new session ends those before it: what was said in them can be learned from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treering.core.jobs import follow_up_jobs, learning_job
from treering.core.queries import SessionFilter

if TYPE_CHECKING:
    from treering.core.turns import Turn
    from treering.ports.clock import NewId
    from treering.ports.store import Transaction

_MOST = 20
"""Sessions that are ended at once; more are left to the nightly consolidation."""


def kept_turn(tx: Transaction, turn: Turn, new_id: NewId) -> Turn:
    """The turn, with the work on it queued; where it begins a session, those before it end."""
    for alternatives in follow_up_jobs(tx.scope.principal, tx.now, new_id):
        tx.jobs.enqueue_first(alternatives)
    if turn.seq == 0:
        end_others(tx, turn.session, turn.owner, new_id)
    return turn


def end_others(tx: Transaction, begun: str, owner: str, new_id: NewId) -> None:
    """End the owner's open sessions but the one that has just `begun`. A session that is spoken in again goes on.

    A session whose next turn is being stored at this moment stays open.
    """
    still_open = tx.sessions.find(SessionFilter(ended=False, owners=(owner,)), limit=_MOST).items
    for session in still_open:
        if session.id != begun and tx.sessions.end(session.id) and session.turns > session.learned:
            tx.jobs.enqueue(learning_job(session, tx.now, new_id()))
