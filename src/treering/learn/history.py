"""What happened to a record, newest first."""

from datetime import datetime

from treering.core.errors import NotFound
from treering.core.history import HistoryEntry
from treering.core.queries import AuditFilter, Order, RevisionFilter
from treering.core.records import Knowledge
from treering.core.scope import Scope
from treering.ports.store import Store

_MOST = 1_000


def history(scope: Scope, store: Store, now: datetime, id: str) -> tuple[HistoryEntry, ...]:
    """Each action on the record, with the text before it where the text was kept. Also answers for purged records."""
    with store.reading(scope, now) as tx:
        log = tx.audit.find(AuditFilter(subjects=(id,)), order=Order(by="at"), limit=_MOST).items
        revisions = tx.revisions.find(RevisionFilter(subjects=(id,)), order=Order(by="at"), limit=_MOST).items
    if not log:
        raise NotFound(f"nothing was ever stored under {id!r} in project {scope.project!r}")
    before = {(revision.at, revision.action): revision for revision in revisions}
    entries = []
    for entry in log:
        revision = before.get((entry.at, entry.action))
        entries.append(
            HistoryEntry(
                at=entry.at,
                actor=entry.actor,
                action=entry.action,
                version=revision.version if revision else None,
                content_before=_content(revision.before) if revision else None,
                undone=revision.undone if revision else False,
                detail=entry.detail,
            )
        )
    return tuple(entries)


def _content(snapshot: str) -> str | None:
    return Knowledge.from_json(snapshot).content if snapshot else None
