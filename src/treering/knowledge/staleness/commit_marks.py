"""Which commits records were compared with: put down once a run, so that every commit counts once."""

from dataclasses import dataclass, replace
from datetime import datetime

from treering.core.history import Action, AuditEntry
from treering.core.queries import AuditFilter, Order
from treering.core.records import Knowledge
from treering.jobs.stage import StageRun
from treering.ports.repository import Repository
from treering.ports.store import Transaction

FILES_COMPARED = "files compared"
"""What the audit log says of a project whose records were compared with its files."""
_KIND = "project"
_LOOKED_AT = 50
# Branches that somebody goes back to; what was seen on others before is compared from where it parted.
_MOST = 16


@dataclass(frozen=True, slots=True)
class Compared:
    """The last comparison that came to its end: its moment, its commit, and all commits that lead to every seen one."""

    at: datetime
    head: str
    seen: tuple[str, ...]

    def knew(self, record: Knowledge) -> bool:
        """Whether the record was compared; what was learned later may speak of an earlier day."""
        learned = record.updated_at if record.version == 1 else record.created_at
        return max(learned, record.created_at) <= self.at

    def still_in(self, repository: Repository, head: str) -> "Compared":
        """Without commits that a rewritten history lost; where it lost all, the moment tells how far it was."""
        known = repository.known(self.seen)
        kept = tuple(commit for commit in self.seen if commit in known)
        then = None if kept else repository.commit_before(self.at, head)
        return replace(self, seen=kept or ((then,) if then else ()))


def last_compared(tx: Transaction) -> Compared | None:
    """By whoever asks: others see other records."""
    where = AuditFilter(subjects=(tx.scope.project,), kinds=(_KIND,), actors=(tx.scope.principal,))
    for entry in tx.audit.find(where, order=Order(by="at"), limit=_LOOKED_AT).items:
        if entry.detail.get("reason") == FILES_COMPARED:
            return Compared(entry.at, str(entry.detail["head"]), tuple(str(entry.detail["seen"]).split()))
    return None


def remember_compared(run: StageRun, head: str, seen: tuple[str, ...]) -> None:
    """Every record was compared with `head`; `seen` leads to all commits that ever were."""
    entry = AuditEntry.make(
        id=run.new_id(),
        at=run.now,
        actor=run.scope.principal,
        owner=run.scope.principal,
        action=Action.UPDATE,
        kind=_KIND,
        subject=run.scope.project,
        detail={"reason": FILES_COMPARED, "head": head, "seen": " ".join(seen[:_MOST])},
    )
    with run.store.transaction(run.scope, run.now) as tx:
        tx.audit.create(entry)
