"""What was learned from a turn goes when the turn goes, and comes back with it."""

from collections.abc import Iterator, Sequence

from treering.core.history import Action
from treering.core.queries import KnowledgeFilter
from treering.core.records import Knowledge, RelationKind, Source
from treering.core.turns import Turn
from treering.knowledge.facts.storage import FactKeeper, claim_subjects
from treering.knowledge.reflection.withdrawal import withdraw
from treering.knowledge.session_learning import heard_by_rules
from treering.ports.clock import NewId
from treering.ports.store import Transaction

_MOST = 1_000
_LEARNED = (Source.CONSOLIDATION, Source.OBSERVER_INFERRED)
_WHY = {"reason": "the turn that it was learned from was forgotten"}


def claim_learned(tx: Transaction, turn: Turn) -> None:
    """Claim a turn with all that rests on it, before anything is changed: facts first, then records."""
    learned = list(_learned_from(tx, turn.id, deleted=None))
    said = [turn, *(other for record in learned for other in _others(tx, record, turn.id))]
    claim_subjects(tx, heard_by_rules(said))
    below = (known.id for record in learned for known in _superseded(tx, record))
    for id in sorted({turn.id, *(record.id for record in learned), *below}):
        tx.claim(f"record {id}")


def forget_learned(tx: Transaction, turn: str) -> None:
    """Softly, at the same moment as the turn: what nobody else says. What it had closed stands again."""
    for record in _learned_from(tx, turn, deleted=False):
        if not _others(tx, record, turn):
            part = tx.undo_unit()
            part.knowledge.delete(record.id, _WHY)
            _reopen(part, record)


def restore_learned(tx: Transaction, gone: Turn, new_id: NewId) -> None:
    """What left with the turn, or could not be learned because it was gone; to be called when it is restored."""
    found = False
    for record in _learned_from(tx, gone.id, deleted=None):
        found = True
        if record.deleted_at is not None and record.deleted_at == gone.deleted_at:
            tx.knowledge.undo(record.id)
    session = tx.sessions.get(gone.session)
    if not found and session is not None and session.learned > gone.seq:
        _learn_again(tx, [gone.replace(deleted_at=None)], new_id)


def purge_learned(tx: Transaction, turn: str, new_id: NewId) -> None:
    """For good: its words are the turn's words. What others say too is learned anew from them, in their words."""
    for record in _learned_from(tx, turn, deleted=None):
        others = _others(tx, record, turn)
        withdraw(tx, record.id, new_id)
        tx.knowledge.purge(record.id, _WHY)
        _reopen(tx, record)
        if record.deleted_at is None and record.deprecated_at is None:
            _learn_again(tx, others, new_id)


def _learned_from(tx: Transaction, turn: str, *, deleted: bool | None) -> Iterator[Knowledge]:
    """Records that rest on this turn, and that no person has confirmed."""
    where = KnowledgeFilter(derived_from=(turn,), sources=_LEARNED, user_verified=False, deleted=deleted)
    found = tx.knowledge.find(where, limit=_MOST).items
    return iter([record for record in found if record.type != "reflection"])


def _others(tx: Transaction, record: Knowledge, turn: str) -> list[Turn]:
    """Who else says so."""
    found = tx.turns.readable(id for id in record.source_ids if id != turn)
    return [match.value for match in found if match.value.deleted_at is None]


def _superseded(tx: Transaction, record: Knowledge) -> Iterator[Knowledge]:
    for tie in record.relations:
        known = tx.knowledge.get(tie.record) if tie.record and tie.kind is RelationKind.SUPERSEDES else None
        if known is not None and known.deleted_at is None:
            yield known


def _reopen(tx: Transaction, record: Knowledge) -> None:
    for known in _superseded(tx, record):
        if known.deprecated_at is not None:
            again = known.replace(
                deprecated_at=None, valid_until=None, confidence=max(known.confidence, record.confidence)
            )
            tx.knowledge.update(again, Action.UPDATE, {**_WHY, "again": known.id})


def _learn_again(tx: Transaction, turns: Sequence[Turn], new_id: NewId) -> None:
    FactKeeper(tx, new_id).keep(heard_by_rules(turns))
