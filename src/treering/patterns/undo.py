"""Undo of pattern changes. It never revives a deprecated pattern, which would bring its old evidence back."""

from treering.core.errors import NothingToUndo
from treering.core.history import Revision
from treering.core.patterns import Pattern, PatternStatus
from treering.core.queries import Order, RevisionFilter
from treering.ports.store import Transaction

_KIND = "pattern"
# A merge changes several patterns as one group.
_MAX_REVISIONS = 1_000


def undo_pattern(tx: Transaction, id: str) -> None:
    """Undo the last change of a pattern; raises `NothingToUndo` if that would revive a deprecated pattern.

    The counts of generations and tests are kept: the undone form was tested, too.
    """
    changes = _last_change(tx, id)
    revived = sorted({each.subject for each in changes if _would_revive(tx, each)})
    if revived:
        raise NothingToUndo(
            f"pattern {', '.join(map(repr, revived))} is deprecated, which cannot be undone; add a new pattern instead"
        )
    before = [known for each in {id, *(each.subject for each in changes)} if (known := tx.patterns.get(each))]
    tx.patterns.undo(id)
    for each in before:
        _keep_counts(tx, each)


def _last_change(tx: Transaction, id: str) -> tuple[Revision, ...]:
    """Revisions of the last change: of this pattern and of those changed together with it."""
    newest, where = Order(by="at"), RevisionFilter(subjects=(id,), kinds=(_KIND,), undone=False)
    changes = tx.revisions.find(where, order=newest, limit=_MAX_REVISIONS).items
    if not changes:
        return ()
    # Several may have the same timestamp.
    last = max(changes, key=lambda each: (each.version, each.id))
    return tx.revisions.find(
        RevisionFilter(groups=(last.group,), kinds=(_KIND,)), order=newest, limit=_MAX_REVISIONS
    ).items


def _keep_counts(tx: Transaction, undone: Pattern) -> None:
    """Carry the counts of generations and tests over from the undone form."""
    now, was = tx.patterns.get(undone.id), undone.evidence
    if now is None or now.evidence == was:
        return
    known = now.evidence
    highest = max(known.highest, was.highest, was.generation if was.generation > known.generation else 0)
    counted = known.replace(highest=highest, tests=max(known.tests, was.tests))
    if counted != known:
        tx.patterns.note(now.replace(evidence=counted))


def _would_revive(tx: Transaction, change: Revision) -> bool:
    if not change.before:
        return False
    now = tx.patterns.get(change.subject)
    before = Pattern.from_json(change.before)
    return now is not None and now.status is PatternStatus.DEPRECATED and before.status is not PatternStatus.DEPRECATED
