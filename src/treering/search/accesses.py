"""Last access of the records that searches return; accessed records do not lose confidence with age."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING

from treering.core.errors import StoreError
from treering.core.records import Knowledge

if TYPE_CHECKING:
    from treering.core.scope import Scope
    from treering.ports.store import Store
    from treering.search.answer import Hit

_MIN_INTERVAL = timedelta(days=1)
"""Confidence halves over days, so storing accesses more often would cost writes and change nothing."""
_STORE_INTERVAL = timedelta(seconds=1)
"""Searches in a row share one write: each would otherwise begin, write and sync a transaction of its own."""


class ReturnedRecords:
    """Queue of accesses that are not stored yet. Safe to share between threads."""

    def __init__(self, scope: Scope, store: Store) -> None:
        self._scope = scope
        self._store = store
        self._pending: dict[str, datetime] = {}
        self._tried_at: datetime | None = None
        self._lock = Lock()

    def note(self, hits: Iterable[Hit], now: datetime) -> None:
        """Store the accesses, unless a search did so within a second or another writer holds the lock.

        Otherwise a later search stores them, or the end of the process.
        """
        records = [hit.record for hit in hits if isinstance(hit.record, Knowledge)]
        with self._lock:
            self._pending |= {each.id: now for each in records if now - each.last_accessed_at >= _MIN_INTERVAL}
            is_due = self._tried_at is None or abs(now - self._tried_at) >= _STORE_INTERVAL
            if is_due and self._pending:
                self._tried_at = now
        if is_due:
            self.store(now)

    def store(self, now: datetime, seconds: float = 0.0) -> None:
        """Store the pending accesses, waiting at most `seconds` for other writers."""
        with self._lock:
            pending, self._pending = self._pending, {}
        if not pending:
            return
        stored = False
        # A failure here must not fail the search; the next write of any record reports it.
        with suppress(StoreError):
            stored = self._store.write_if_free(
                self._scope, now, lambda tx: tx.knowledge.mark_returned(pending), seconds=seconds
            )
        if not stored:
            with self._lock:
                self._pending = {**pending, **self._pending}
