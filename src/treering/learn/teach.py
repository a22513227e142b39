"""What people and agents do to knowledge: remember, confirm, correct, flag, pin, forget, undo."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from treering.core.errors import InvalidInput, NotFound, NothingToUndo
from treering.core.history import Action
from treering.core.payloads import knowledge_type
from treering.core.queries import KnowledgeFilter
from treering.core.records import Knowledge, Relation, RelationKind, Source, text_digest
from treering.core.redaction import without_secrets
from treering.core.scope import Scope
from treering.core.settings import KnowledgeSettings
from treering.ports.clock import NewId
from treering.ports.store import Removable, Store, Transaction


class Reason(StrEnum):
    """Why a record is corrected."""

    INACCURATE = "inaccurate"
    OUTDATED = "outdated"
    TOO_SPECIFIC = "too_specific"
    DUPLICATE = "duplicate"

    @classmethod
    def named(cls, name: str) -> "Reason":
        """The reason called so; an unknown one is an error that lists the known."""
        try:
            return cls(name)
        except ValueError:
            raise InvalidInput(f"{name!r} is no reason; use one of {', '.join(cls)}") from None


@dataclass(frozen=True, slots=True)
class Teaching:
    """The verbs, on one store."""

    store: Store
    settings: KnowledgeSettings
    new_id: NewId

    def remember(self, scope: Scope, now: datetime, text: str, *, type: str, **fields: Any) -> Knowledge:
        """Store a piece of knowledge. Words that are known already strengthen the record that holds them."""
        defaults: dict[str, Any] = {
            "id": self.new_id(),
            "half_life_days": knowledge_type(type).half_life_days,
            "owner": scope.principal,
        }
        moments = dict.fromkeys(("created_at", "updated_at", "last_accessed_at"), now)
        record = Knowledge.make(**defaults | moments | fields | {"type": type, "content": text})
        with self.store.transaction(scope, now) as tx:
            known = _same_words(tx, record)
            return tx.knowledge.create(record) if known is None else _reinforce(tx, known, record)

    def confirm(self, scope: Scope, now: datetime, id: str) -> Knowledge:
        """A person says that it is true: it no longer fades."""
        with self.store.transaction(scope, now) as tx:
            record = _live(tx, id)
            confidence = max(record.confidence, self.settings.confirmed_confidence)
            confirmed = record.replace(user_verified=True, needs_review=False, flagged=False, confidence=confidence)
            return tx.knowledge.update(confirmed, Action.CONFIRM)

    def flag(self, scope: Scope, now: datetime, id: str, note: str) -> Knowledge:
        """A person doubts it: it waits for review and is not recalled meanwhile."""
        with self.store.transaction(scope, now) as tx:
            record = _live(tx, id)
            confidence = record.confidence * self.settings.flagged_factor
            flagged = record.replace(flagged=True, needs_review=True, user_verified=False, confidence=confidence)
            return tx.knowledge.update(flagged, Action.FLAG, {"note": note} if note else {})

    def pin(self, scope: Scope, now: datetime, id: str, *, pinned: bool) -> Knowledge:
        """Keep it from fading, or let it fade again."""
        with self.store.transaction(scope, now) as tx:
            record = _live(tx, id)
            return tx.knowledge.update(record.replace(pinned=pinned), Action.PIN if pinned else Action.UNPIN)

    def correct(
        self, scope: Scope, now: datetime, id: str, reason: Reason, *, text: str | None, duplicate_of: str | None
    ) -> Knowledge:
        """Put right what is stored; the record that stands now is returned.

        A new text makes a new record that supersedes the old one; a duplicate gives its evidence to the record it
        repeats; without either, the old record is only retired. Nothing is overwritten, and one undo takes all of it
        back.
        """
        _check_correction(id, reason, text, duplicate_of)
        with self.store.transaction(scope, now) as tx:
            old = _live(tx, id)
            standing = None
            if duplicate_of is not None:
                standing = _reinforce(tx, _live(tx, duplicate_of), old)
            elif text is not None:
                successor = self._successor(scope, now, old, text, reason)
                detail = {"reason": reason.value, "supersedes": old.id}
                standing = tx.knowledge.create(successor, Action.SUPERSEDE, detail)
            detail = {"reason": reason.value} | ({"replaced_by": standing.id} if standing else {})
            retired = tx.knowledge.update(self._retired(now, old, reason, standing), Action.CORRECT, detail)
            return standing or retired

    def forget(self, scope: Scope, now: datetime, id: str) -> None:
        """Take a record or a turn out of sight; `undo` brings it back."""
        with self.store.transaction(scope, now) as tx:
            _holding(tx, id, deleted=False).delete(id)

    def purge(self, scope: Scope, now: datetime, id: str) -> None:
        """Remove a record or a turn for good, with every copy of it."""
        with self.store.transaction(scope, now) as tx:
            _holding(tx, id).purge(id)

    def undo(self, scope: Scope, now: datetime, id: str) -> None:
        """Take back the last change of a record, with everything that was part of it."""
        with self.store.transaction(scope, now) as tx:
            if tx.knowledge.get(id) is not None:
                tx.knowledge.undo(id)
            else:
                _restore(tx, id)

    def _successor(self, scope: Scope, now: datetime, old: Knowledge, text: str, reason: Reason) -> Knowledge:
        return old.replace(
            id=self.new_id(),
            version=1,
            content=text,
            payload=None,
            confidence=self.settings.taught_confidence,
            source=Source.USER_TAUGHT,
            owner=scope.principal,
            source_ids=(*old.source_ids, old.id),
            relations=(Relation(kind=RelationKind.SUPERSEDES, record=old.id),),
            **dict.fromkeys(("created_at", "updated_at", "last_accessed_at"), now),
            access_count=0,
            valid_from=now if reason is Reason.OUTDATED else old.valid_from,
            valid_until=None,
            citation=None,
            **dict.fromkeys(("needs_review", "flagged", "tainted"), False),
            user_verified=True,
        )

    def _retired(self, now: datetime, old: Knowledge, reason: Reason, standing: Knowledge | None) -> Knowledge:
        ended = now if reason is Reason.OUTDATED else old.valid_until
        repeats = reason is Reason.DUPLICATE and standing is not None
        link = (Relation(kind=RelationKind.DERIVED_FROM, record=standing.id),) if standing and repeats else ()
        return old.replace(
            confidence=old.confidence * self.settings.corrected_factor,
            deprecated_at=now,
            valid_until=max(ended, old.valid_from) if ended and old.valid_from else ended,
            needs_review=False,
            relations=(*old.relations, *link),
        )


def _check_correction(id: str, reason: Reason, text: str | None, duplicate_of: str | None) -> None:
    if reason is Reason.DUPLICATE:
        if duplicate_of is None or text is not None:
            raise InvalidInput("a duplicate names the record it repeats (duplicate_of) and brings no text")
        if duplicate_of == id:
            raise InvalidInput(f"{id!r} cannot be a duplicate of itself; name the other record")
    elif duplicate_of is not None:
        raise InvalidInput(f"duplicate_of goes with the reason 'duplicate', not {reason.value!r}")


def _holding(tx: Transaction, id: str, *, deleted: bool = True) -> Removable:
    """The collection that holds `id`."""
    for collection in (tx.knowledge, tx.turns, tx.episodes):
        record: Any = collection.get(id)
        if record is not None and (deleted or record.deleted_at is None):
            return collection
    raise NotFound(f"nothing is stored under {id!r} in project {tx.scope.project!r}")


def _restore(tx: Transaction, id: str) -> None:
    for collection in (tx.turns, tx.episodes):
        record: Any = collection.get(id)
        if record is not None and record.deleted_at is None:
            raise NothingToUndo(f"{id!r} was not changed since it was stored; forget it to take it away")
    _holding(tx, id).restore(id)


def _live(tx: Transaction, id: str) -> Knowledge:
    record = tx.knowledge.get(id)
    if record is None or record.deleted_at is not None:
        raise NotFound(f"no knowledge {id!r} in project {tx.scope.project!r}; `treering recall` finds ids")
    return record


def _same_words(tx: Transaction, record: Knowledge) -> Knowledge | None:
    said = without_secrets(record).value
    same = KnowledgeFilter(
        same_text=(text_digest(said.type, said.content),),
        visibility=(said.visibility,),
        owners=(said.owner,),
        deprecated=False,
        flagged=False,
    )
    found = tx.knowledge.find(same, limit=1).items
    return found[0] if found else None


def _reinforce(tx: Transaction, known: Knowledge, again: Knowledge) -> Knowledge:
    """The same thing learned once more is evidence, not a second record."""
    sessions = (*known.provenance_sessions, *filter(None, (again.session,)), *again.provenance_sessions)
    strengthened = known.replace(
        confidence=max(known.confidence, again.confidence),
        tags=(*known.tags, *again.tags),
        files=(*known.files, *again.files),
        modules=(*known.modules, *again.modules),
        provenance_sessions=sessions,
        source_ids=(*known.source_ids, *again.source_ids, *((again.id,) if again.version > 1 else ())),
        access_count=known.access_count + 1,
        last_accessed_at=max(known.last_accessed_at, again.last_accessed_at),
        tainted=known.tainted and again.tainted,
    )
    return tx.knowledge.update(strengthened, Action.REINFORCE)
