"""Records learned from a turn are forgotten, restored and purged together with it."""

from collections.abc import Iterator, Sequence

from treering.core.history import Action
from treering.core.queries import KnowledgeFilter
from treering.core.records import Knowledge, RelationKind, Source
from treering.core.turns import Turn
from treering.knowledge.facts.storage import FactStorage, claim_subjects
from treering.knowledge.reflection.withdrawal import withdraw_source
from treering.knowledge.session_learning import statements_by_rules
from treering.ports.clock import NewId
from treering.ports.store import Transaction

_MAX_RECORDS = 1_000
_LEARNED = (Source.CONSOLIDATION, Source.OBSERVER_INFERRED)
_DETAIL = {"reason": "the turn that it was learned from was forgotten"}


def claim_learned(tx: Transaction, turn: Turn) -> None:
    """Claim a turn and all records that depend on it before any change: facts first, then records."""
    learned = list(_learned_from(tx, turn.id, deleted=None))
    turns = [turn, *(other for record in learned for other in _other_turns(tx, record, turn.id))]
    claim_subjects(tx, statements_by_rules(turns))
    superseded = (known.id for record in learned for known in _superseded(tx, record))
    for id in sorted({turn.id, *(record.id for record in learned), *superseded}):
        tx.claim(f"record {id}")


def forget_learned(tx: Transaction, turn: str) -> None:
    """Delete records that no other turn states, with the same timestamp; records they superseded become current."""
    for record in _learned_from(tx, turn, deleted=False):
        if not _other_turns(tx, record, turn):
            part = tx.undo_unit()
            part.knowledge.delete(record.id, _DETAIL)
            _reopen(part, record)


def restore_learned(tx: Transaction, turn: Turn, new_id: NewId) -> None:
    """Restore records that were deleted with the turn, or learn from it if it was deleted before that."""
    found = False
    for record in _learned_from(tx, turn.id, deleted=None):
        found = True
        if record.deleted_at is not None and record.deleted_at == turn.deleted_at:
            tx.knowledge.undo(record.id)
    session = tx.sessions.get(turn.session)
    if not found and session is not None and session.learned > turn.seq:
        _learn_again(tx, [turn.replace(deleted_at=None)], new_id)


def purge_learned(tx: Transaction, turn: str, new_id: NewId) -> None:
    """Purge records that quote the turn; facts that other turns state too are learned again from those turns."""
    for record in _learned_from(tx, turn, deleted=None):
        others = _other_turns(tx, record, turn)
        withdraw_source(tx, record.id, new_id)
        tx.knowledge.purge(record.id, _DETAIL)
        _reopen(tx, record)
        if record.deleted_at is None and record.deprecated_at is None:
            _learn_again(tx, others, new_id)


def _learned_from(tx: Transaction, turn: str, *, deleted: bool | None) -> Iterator[Knowledge]:
    """Unconfirmed records that were learned from this turn."""
    where = KnowledgeFilter(derived_from=(turn,), sources=_LEARNED, user_verified=False, deleted=deleted)
    found = tx.knowledge.find(where, limit=_MAX_RECORDS).items
    return iter([record for record in found if record.type != "reflection"])


def _other_turns(tx: Transaction, record: Knowledge, turn: str) -> list[Turn]:
    """Other turns that the record was learned from."""
    found = tx.turns.readable(id for id in record.source_ids if id != turn)
    return [match.value for match in found if match.value.deleted_at is None]


def _superseded(tx: Transaction, record: Knowledge) -> Iterator[Knowledge]:
    for relation in record.relations:
        known = (
            tx.knowledge.get(relation.record) if relation.record and relation.kind is RelationKind.SUPERSEDES else None
        )
        if known is not None and known.deleted_at is None:
            yield known


def _reopen(tx: Transaction, record: Knowledge) -> None:
    for known in _superseded(tx, record):
        if known.deprecated_at is not None:
            reopened = known.replace(
                deprecated_at=None, valid_until=None, confidence=max(known.confidence, record.confidence)
            )
            tx.knowledge.update(reopened, Action.UPDATE, {**_DETAIL, "again": known.id})


def _learn_again(tx: Transaction, turns: Sequence[Turn], new_id: NewId) -> None:
    FactStorage(tx, new_id).store(statements_by_rules(turns))
