"""What happened to a record, newest first."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from typing import TYPE_CHECKING

from treering.core.errors import NotFound
from treering.core.history import Action, AuditEntry, HistoryEntry, Revision
from treering.core.queries import AuditFilter, Order, RevisionFilter
from treering.core.records import Knowledge

if TYPE_CHECKING:
    from treering.core.scope import Scope
    from treering.ports.store import Store

_MOST = 1_000


def note(scope: Scope, store: Store, now: datetime, id: str, action: Action, **detail: object) -> None:
    """Write into the audit log what was done with the project as a whole."""
    entry = AuditEntry.make(
        id=id,
        at=now,
        actor=scope.principal,
        owner=scope.principal,
        action=action,
        kind="project",
        subject=scope.project,
        detail=detail,
    )
    store.write(scope, now, lambda tx: tx.audit.create(entry))


def history(scope: Scope, store: Store, now: datetime, id: str) -> tuple[HistoryEntry, ...]:
    """Each action on the record, with the text before it where the text was kept. Also answers for purged records."""
    with store.reading(scope, now) as tx:
        log = tx.audit.find(AuditFilter.make(subjects=(id,)), order=Order(by="at"), limit=_MOST).items
        revisions = tx.revisions.find(RevisionFilter.make(subjects=(id,)), order=Order(by="at"), limit=_MOST).items
    if not log:
        raise NotFound(f"nothing was ever stored under {id!r} in project {scope.project!r}")
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
