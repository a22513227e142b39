"""What was learned from a turn alone goes when the turn goes, and comes back with it."""

from collections.abc import Iterator

from treering.core.queries import KnowledgeFilter
from treering.core.records import Knowledge, Source
from treering.ports.store import Transaction

_MOST = 1_000
_WHY = "the turn that it was learned from was forgotten"


def forget_learned(tx: Transaction, turn: str) -> None:
    """Softly, at the same moment as the turn."""
    for record in _learned_from(tx, turn, deleted=False):
        tx.knowledge.delete(record.id, {"reason": _WHY})


def restore_learned(tx: Transaction, turn: str) -> None:
    """What left with the turn; to be called before it is restored."""
    gone = tx.turns.get(turn)
    if gone is not None and gone.deleted_at is not None:
        for record in _learned_from(tx, turn, deleted=True):
            if record.deleted_at == gone.deleted_at:
                tx.knowledge.restore(record.id)


def purge_learned(tx: Transaction, turn: str) -> None:
    """For good: its words are the turn's words."""
    for record in _learned_from(tx, turn, deleted=None):
        tx.knowledge.purge(record.id, {"reason": _WHY})


def _learned_from(tx: Transaction, turn: str, *, deleted: bool | None) -> Iterator[Knowledge]:
    """Records that rest on this turn only, and that no person has confirmed."""
    where = KnowledgeFilter(derived_from=(turn,), sources=(Source.CONSOLIDATION,), deleted=deleted)
    for record in tx.knowledge.find(where, limit=_MOST).items:
        if record.source_ids == (turn,) and not record.user_verified and record.type != "reflection":
            yield record
