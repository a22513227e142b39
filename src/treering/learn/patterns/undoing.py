"""What is deprecated stays so, also against undo: a pattern that came back would bring its old evidence with it."""

from treering.core.errors import NothingToUndo
from treering.core.history import Revision
from treering.core.patterns import Pattern, PatternStatus
from treering.core.queries import RevisionFilter
from treering.ports.store import Transaction

_KIND = "pattern"
_MOST = 1_000


def undo_pattern(tx: Transaction, id: str) -> None:
    """Take back the last change of a pattern; `NothingToUndo` where that would bring a deprecated one into use."""
    changes = tx.revisions.find(RevisionFilter(subjects=(id,), kinds=(_KIND,), undone=False), limit=_MOST).items
    if changes:
        last = max(changes, key=lambda each: (each.version, each.id))
        together = tx.revisions.find(RevisionFilter(groups=(last.group,), kinds=(_KIND,)), limit=_MOST).items
        revived = sorted({each.subject for each in together if _would_revive(tx, each)})
        if revived:
            raise NothingToUndo(
                f"pattern {', '.join(map(repr, revived))} is deprecated, and stays so; add it anew to try it once more"
            )
    tx.patterns.undo(id)


def _would_revive(tx: Transaction, change: Revision) -> bool:
    if not change.before:
        return False
    now = tx.patterns.get(change.subject)
    before = Pattern.from_json(change.before)
    return now is not None and now.status is PatternStatus.DEPRECATED and before.status is not PatternStatus.DEPRECATED
