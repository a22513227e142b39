"""The audit log, and the history of a record."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from treering.core.errors import Conflict, NotFound, StoreError
from treering.core.history import Action, AuditEntry, HistoryEntry, Revision
from treering.core.queries import AuditFilter, Order, RevisionFilter
from treering.core.records import Knowledge
from treering.core.scope import Visibility

if TYPE_CHECKING:
    from treering.core.scope import Scope
    from treering.ports.clock import NewId
    from treering.ports.store import Store, Transaction

_MOST = 1_000
_NAMED = 50
"""Records that an entry lists; further ones are only counted."""


def project_entry(scope: Scope, now: datetime, id: str, action: Action, **detail: object) -> AuditEntry:
    """An audit entry about the whole project."""
    return AuditEntry.make(
        id=id,
        at=now,
        actor=scope.principal,
        owner=scope.principal,
        action=action,
        kind="project",
        subject=scope.project,
        detail=detail,
    )


def note(scope: Scope, store: Store, now: datetime, id: str, action: Action, **detail: object) -> None:
    """Write an audit entry about the whole project."""
    entry = project_entry(scope, now, id, action, **detail)
    store.write(scope, now, lambda tx: tx.audit.create(entry))


def audit(
    scope: Scope, store: Store, now: datetime, *, actions: Iterable[Action | str], subject: str | None, limit: int
) -> tuple[AuditEntry, ...]:
    """The audit log, newest first."""
    named = tuple(Action.named(action) for action in actions)
    where = AuditFilter.make(actions=named, subjects=() if subject is None else (subject,))
    with store.reading(scope, now) as tx:
        return tuple(tx.audit.find(where, order=Order(by="at"), limit=limit).items)


class InjectionLog:
    """Audit entries for records given to a model. Adding one never waits for a writer."""

    def __init__(self, scope: Scope, store: Store, new_id: NewId) -> None:
        self._scope = scope
        self._store = store
        self._new_id = new_id
        self._unwritten: list[AuditEntry] = []
        self._lock = threading.Lock()

    def add(self, now: datetime, ids: Sequence[str], *, via: str, tokens: int) -> None:
        """Write the entry at once if no other writer is active, else with the next one or when the memory is closed."""
        if not ids or self._store.read_only:
            return
        detail = {"via": via, "records": tuple(ids[:_NAMED]), "count": len(ids), "tokens": tokens}
        with self._lock:
            entry = project_entry(self._scope, now, self._new_id(), Action.INJECT, **detail)
            # It lists records that only this principal may see.
            self._unwritten.append(entry.replace(visibility=Visibility.PERSONAL))
        with suppress(StoreError):  # A failed entry must not fail the search.
            self.write(now)

    def write(self, now: datetime, seconds: float = 0.0) -> None:
        with self._lock:
            entries, self._unwritten = self._unwritten, []
            if not entries:
                return
            written = False
            try:
                create = partial(_create_once, entries=entries)
                written = self._store.write_if_free(self._scope, now, create, seconds=seconds)
            finally:
                if not written:
                    self._unwritten = entries[-_MOST:]


def _create_once(tx: Transaction, entries: Sequence[AuditEntry]) -> None:
    """Skip entries that are stored already, by a commit whose acknowledgement was lost."""
    for entry in entries:
        with suppress(Conflict):
            tx.audit.create(entry)


def history(scope: Scope, store: Store, now: datetime, id: str) -> tuple[HistoryEntry, ...]:
    """Actions on the record, newest first, with the previous text if it was kept. Includes purged records."""
    with store.reading(scope, now) as tx:
        log = tx.audit.find(AuditFilter.make(subjects=(id,)), order=Order(by="at"), limit=_MOST).items
        revisions = tx.revisions.find(RevisionFilter.make(subjects=(id,)), order=Order(by="at"), limit=_MOST).items
    if not log:
        raise NotFound(f"no record ever had the id {id!r} in project {scope.project!r}")
    before: dict[tuple[datetime, Action], list[Revision]] = defaultdict(list)
    for earlier in reversed(revisions):
        before[earlier.at, earlier.action].append(earlier)
    entries = []
    for entry in log:
        same = before[entry.at, entry.action]
        revision = same.pop() if same else None
        entries.append(
            HistoryEntry(
                at=entry.at,
                actor=entry.actor,
                action=entry.action,
                version=revision.version if revision else None,
                content_before=_content(revision) if revision else None,
                undone=revision.undone if revision else False,
                detail=entry.detail,
            )
        )
    return tuple(entries)


def _content(revision: Revision) -> str | None:
    if revision.kind != "knowledge" or not revision.before:
        return None
    return Knowledge.from_json(revision.before).content
