"""Follow-up jobs of stored records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treering.core.jobs import follow_up_jobs

if TYPE_CHECKING:
    from treering.ports.clock import NewId
    from treering.ports.store import Transaction


def queue_follow_up_jobs(tx: Transaction, new_id: NewId) -> None:
    """Queue jobs that link and embed the records just stored. The cost does not depend on their number."""
    for alternatives in follow_up_jobs(tx.scope.principal, tx.now, new_id):
        tx.jobs.enqueue_later(alternatives)
