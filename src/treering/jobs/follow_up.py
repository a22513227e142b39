"""What is to be done about a record once it is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treering.core.jobs import follow_up_jobs

if TYPE_CHECKING:
    from treering.ports.clock import NewId
    from treering.ports.store import Transaction


def queue_following(tx: Transaction, new_id: NewId) -> None:
    """Have what was just stored linked to what it names, and found by its meaning. Costs the same for any amount."""
    for alternatives in follow_up_jobs(tx.scope.principal, tx.now, new_id):
        tx.jobs.enqueue_first(alternatives)
