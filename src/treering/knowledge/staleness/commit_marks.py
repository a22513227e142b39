"""Marks of the commits that records were compared with, so that every commit counts once."""

from dataclasses import dataclass, replace
from datetime import datetime

from treering.core.history import Action, AuditEntry
from treering.core.queries import AuditFilter, Order
from treering.core.records import Knowledge
from treering.jobs.stage import StageRun
from treering.ports.repository import Repository
from treering.ports.store import Transaction

FILES_COMPARED = "files compared"
"""Reason in the audit log of a commit mark."""
_KIND = "project"
_MAX_ENTRIES = 50
# Branch heads that are stored; records seen on other branches are compared from the merge base.
_MAX_HEADS = 16


@dataclass(frozen=True, slots=True)
class CommitMark:
    """The last complete comparison: its time, its commit, and the heads that reach every compared commit."""

    at: datetime
    head: str
    seen: tuple[str, ...]

    def covers(self, record: Knowledge) -> bool:
        """Whether the comparison covered the record, by the time it was stored."""
        learned = record.updated_at if record.version == 1 else record.created_at
        return max(learned, record.created_at) <= self.at

    def still_in(self, repository: Repository, head: str) -> "CommitMark":
        """The mark without commits that a rewritten history removed; if all are gone, the commit at its time."""
        known = repository.known(self.seen)
        remaining = tuple(commit for commit in self.seen if commit in known)
        commit_at_mark = None if remaining else repository.commit_before(self.at, head)
        return replace(self, seen=remaining or ((commit_at_mark,) if commit_at_mark else ()))


def last_commit_mark(tx: Transaction) -> CommitMark | None:
    """The last mark of this principal, since others see other records; None if there is none."""
    where = AuditFilter(subjects=(tx.scope.project,), kinds=(_KIND,), actors=(tx.scope.principal,))
    for entry in tx.audit.find(where, order=Order(by="at"), limit=_MAX_ENTRIES).items:
        if entry.detail.get("reason") == FILES_COMPARED:
            return CommitMark(entry.at, str(entry.detail["head"]), tuple(str(entry.detail["seen"]).split()))
    return None


def store_commit_mark(run: StageRun, head: str, seen: tuple[str, ...]) -> None:
    """Store that every record was compared with `head`; `seen` are heads that reach all compared commits."""
    entry = AuditEntry.make(
        id=run.new_id(),
        at=run.now,
        actor=run.scope.principal,
        owner=run.scope.principal,
        action=Action.UPDATE,
        kind=_KIND,
        subject=run.scope.project,
        detail={"reason": FILES_COMPARED, "head": head, "seen": " ".join(seen[:_MAX_HEADS])},
    )
    with run.store.transaction(run.scope, run.now) as tx:
        tx.audit.create(entry)
