"""Operations on knowledge: remember, confirm, correct, flag, pin, forget, undo."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from treering.core.confidence import TAUGHT_CONFIDENCE
from treering.core.errors import InvalidInput, NotFound, NothingToUndo, id_taken
from treering.core.fields import KnowledgeFields, check_arguments
from treering.core.history import Action
from treering.core.observations import PROMOTION
from treering.core.payloads import Stated, knowledge_type
from treering.core.queries import KnowledgeFilter, Order
from treering.core.quotations import without_quotation
from treering.core.records import Knowledge, Relation, RelationKind, text_digest
from treering.core.redaction import without_secrets
from treering.core.settings import EpisodeSettings, KnowledgeSettings
from treering.core.taint import inherited_taint
from treering.core.values import EMPTY
from treering.jobs.follow_up import queue_follow_up_jobs
from treering.knowledge.authors import (
    AGENT_CONFIDENCE,
    CORRECTED_FACTOR,
    Author,
    Reason,
    check_author,
    check_correction,
    is_evidence,
)
from treering.knowledge.conflicts import ConflictCheck, may_replace
from treering.knowledge.reinforcement import reinforce
from treering.knowledge.relations import propagate, reachable

if TYPE_CHECKING:
    from treering.core.scope import Scope
    from treering.knowledge.conflicts import SimilarRecords, Verdict
    from treering.ports.clock import NewId
    from treering.ports.collections import Removable
    from treering.ports.store import Store, Transaction

CONFIRMED_CONFIDENCE = 0.95  # a person said so: the ceiling that use alone can reach
FLAGGED_FACTOR = 0.5  # share of its confidence that a record keeps while a person's doubt is open

_BATCH = 500  # texts looked up in one query

# Reasons that do not make the old record wrong, so related records keep their confidence.
_NOT_WRONG = frozenset({Reason.DUPLICATE, Reason.TOO_SPECIFIC})


@dataclass(frozen=True, slots=True)
class KnowledgeOperations:
    """The operations on one store."""

    store: Store
    settings: KnowledgeSettings
    new_id: NewId
    episodes: EpisodeSettings = field(default_factory=EpisodeSettings)

    def remember(self, scope: Scope, now: datetime, text: str, *, type: str, **fields: Any) -> Knowledge:
        """Store a record and return it; a known text reinforces its record and sets the given fields on it.

        With an `id`, a new id always creates a record, and a known id must come with the same text. A record that the
        new one contradicts is superseded, or both wait for review; `conflicts` of the returned record names it.
        """
        check_arguments("remember", fields, KnowledgeFields)
        record = self._record(scope, now, text, type, **fields)
        check = ConflictCheck(record, now, limit=self.settings.conflict_candidates)
        same = f"record {record.id}" if "id" in fields else f"text {_digest(check.redacted)}"

        def remember(tx: Transaction) -> Knowledge:
            similar = check.similar(tx)
            known = _same_id(tx, record) if "id" in fields else _same_words(tx, check.redacted, similar)
            if known is not None:
                # Tainted text is no evidence for a trusted record, and an agent cannot change a person's record.
                if record.tainted and not known.tainted:
                    return known
                given = fields if is_evidence(record, known) else EMPTY
                return reinforce(tx, known, record, given=given)
            return self._create(tx, check.with_parts(record), check.verdicts(similar, now))

        return self.store.write(scope, now, remember, claims=(*check.claims, same))

    def _record(self, scope: Scope, now: datetime, text: str, type: str, **fields: Any) -> Knowledge:
        defaults: dict[str, Any] = {
            "id": self.new_id(),
            "half_life_days": knowledge_type(type).half_life_days,
            "owner": scope.principal,
        }
        timestamps = dict.fromkeys(("created_at", "updated_at", "last_accessed_at"), now)
        return Knowledge.make(**defaults | timestamps | fields | {"type": type, "content": text})

    def remember_many(self, scope: Scope, now: datetime, records: Iterable[Knowledge | str]) -> int:
        """Store records with new texts, each text once, and return their number. Conflicts are not checked.

        A plain text is stored as a fact.
        """
        if isinstance(records, str) or not isinstance(records, Iterable):
            raise InvalidInput(f"records is of type {type(records).__name__}; pass a list of Knowledge values or texts")
        made = [self._record(scope, now, each, "fact") if isinstance(each, str) else _checked(each) for each in records]
        listed = {_text_key(without_secrets(each).value): each for each in reversed(made)}

        def remember_many(tx: Transaction) -> int:
            # A single claim: a server holds only some thousand locks.
            tx.claim("text of many records")
            known = _known_texts(tx, listed)
            return tx.knowledge.create_many(each for key, each in reversed(listed.items()) if key not in known)

        return self.store.write(scope, now, remember_many)

    def _create(self, tx: Transaction, record: Knowledge, verdicts: Mapping[str, Verdict]) -> Knowledge:
        """Store a new record; the record it replaces is retired, records it may contradict wait for review with it."""
        _claim(tx, *verdicts)
        against = [each for each in tx.knowledge.get_many(sorted(verdicts)).values() if _is_current(each)]
        queue_follow_up_jobs(tx, self.new_id)
        if not against:
            return tx.knowledge.create(record)
        if may_replace(record, against, verdicts):
            relations = [Relation(kind=RelationKind.SUPERSEDES, record=each.id, automatic=True) for each in against]
            detail = {"supersedes": against[0].id}
            stored = tx.knowledge.create(
                record.replace(relations=(*record.relations, *relations)), Action.SUPERSEDE, detail
            )
            for old in against:
                retired = self._retired(tx.now, old, Reason.OUTDATED, stored)
                tx.knowledge.update(retired, Action.SUPERSEDE, {"replaced_by": stored.id})
            return stored
        relations = [Relation(kind=RelationKind.CONFLICTS_WITH, record=each.id, automatic=True) for each in against]
        disputed = record.replace(needs_review=True, relations=(*record.relations, *relations))
        stored = tx.knowledge.create(disputed)
        relation = Relation(kind=RelationKind.CONFLICTS_WITH, record=stored.id, automatic=True)
        for old in against:
            # Tainted text does not put trusted records under review.
            if old.tainted or not record.tainted:
                disputed = old.replace(needs_review=True, relations=(*old.relations, relation))
                tx.knowledge.update(disputed, Action.UPDATE, {"conflicts_with": stored.id})
        return stored

    def confirm(self, scope: Scope, now: datetime, id: str, *, by: Author | None = None) -> Knowledge:
        """Mark a record as confirmed by a person: it no longer expires and is trusted whatever its source.

        An author who reports a person's confirmation is logged and clears neither flags nor taint.
        """
        author = by or Author()

        def confirm(tx: Transaction) -> Knowledge:
            reachable_records = self._claim_related(tx, id)
            record = _live(tx, id)
            if record.deprecated_at is not None:
                raise InvalidInput(f"{id!r} was corrected; `undo` the correction, or {_advice(tx, record)}")
            author.check_confirmation(record)
            cleared = {"needs_review": False, "flagged": False, "taint": None}
            confidence = max(record.confidence, CONFIRMED_CONFIDENCE)
            confirmed = record.replace(user_verified=True, confidence=confidence, stale_at=None, **cleared)
            return self._propagated(
                tx, record, tx.knowledge.update(confirmed, Action.CONFIRM, author.log_detail), reachable_records
            )

        return self.store.write(scope, now, confirm)

    def flag(self, scope: Scope, now: datetime, id: str, note: str) -> Knowledge:
        """Flag a record: it waits for review and searches leave it out. A second flag does not lower it further.

        The log outlives the record, so text of the record is removed from the note.
        """

        def flag(tx: Transaction) -> Knowledge:
            reachable_records = self._claim_related(tx, id)
            record = _live(tx, id)
            confidence = record.confidence * (1 if record.flagged else FLAGGED_FACTOR)
            flagged = record.replace(flagged=True, needs_review=True, user_verified=False, confidence=confidence)
            detail = {"note": without_quotation(note, record.content)} if note else {}
            return self._propagated(tx, record, tx.knowledge.update(flagged, Action.FLAG, detail), reachable_records)

        return self.store.write(scope, now, flag)

    def pin(self, scope: Scope, now: datetime, id: str, *, pinned: bool) -> Knowledge:
        """Protect a record from expiry, or end that protection."""

        def pin(tx: Transaction) -> Knowledge:
            record = _live(tx, id)
            return tx.knowledge.update(record.replace(pinned=pinned), Action.PIN if pinned else Action.UNPIN)

        return self.store.write(scope, now, pin)

    def mute(self, scope: Scope, now: datetime, id: str, *, muted: bool) -> Knowledge:
        """Keep a record from being given to agents unasked, or end that."""

        def mute(tx: Transaction) -> Knowledge:
            record = _live(tx, id)
            return tx.knowledge.update(record.replace(muted=muted), Action.MUTE if muted else Action.UNMUTE)

        return self.store.write(scope, now, mute)

    def correct(
        self,
        scope: Scope,
        now: datetime,
        id: str,
        reason: Reason,
        *,
        text: str | None,
        duplicate_of: str | None,
        by: Author | None = None,
    ) -> Knowledge:
        """Correct a record and return the one that is current; the default author is a person.

        A new text makes a new record that supersedes the old one; a duplicate reinforces the record it repeats;
        without either, the old record is only retired. Nothing is overwritten, and one undo reverts all of it.
        """
        check_correction(id, reason, text, duplicate_of)

        def correct(tx: Transaction) -> Knowledge:
            reachable_records = self._claim_related(tx, id, *filter(None, (duplicate_of,)))
            old, author = _live(tx, id), by or Author()
            if _successors(tx, old):
                raise InvalidInput(f"{id!r} was corrected already; {_advice(tx, old)}")
            same = None if duplicate_of is None else _live(tx, duplicate_of)
            check_author(author, old, same)
            successor_record = same
            if same is not None and (author.is_person or is_evidence(old, same)):
                successor_record = reinforce(tx, same, old, repeated_by=old.id)
            elif text is not None:
                successor = self._successor(scope, now, old, text=text, reason=reason, by=author)
                detail = {"reason": reason.value, "supersedes": old.id}
                successor_record = tx.knowledge.create(successor, Action.SUPERSEDE, detail)
            link = {"replaced_by": successor_record.id} if successor_record else {}
            detail = {"reason": reason.value, **link, **author.log_detail}
            retired = tx.knowledge.update(self._retired(now, old, reason, successor_record), Action.CORRECT, detail)
            if reason not in _NOT_WRONG:
                self._propagated(tx, old, retired, reachable_records)
            return successor_record or retired

        return self.store.write(scope, now, correct)

    def forget(self, scope: Scope, now: datetime, id: str) -> None:
        """Delete a record of any kind, so that `undo` can restore it."""

        def forget(tx: Transaction) -> None:
            collection = _claimed_collection(tx, id, deleted=False)
            collection.delete(id)
            if collection is tx.turns:
                from treering.knowledge.learned_records import forget_learned

                forget_learned(tx, id)

        self.store.write(scope, now, forget)

    def purge(self, scope: Scope, now: datetime, id: str) -> None:
        """Purge a record of any kind with every copy of it, including the earlier wordings that it corrected."""

        def purge(tx: Transaction) -> None:
            from treering.knowledge.reflection.withdrawal import withdraw_source

            collection = _claimed_collection(tx, id)
            for earlier in earlier_wordings(tx, id):
                _claim(tx, earlier)
                withdraw_source(tx, earlier, self.new_id)
                tx.knowledge.purge(earlier)
            withdraw_source(tx, id, self.new_id)
            if collection is tx.turns:
                from treering.knowledge.learned_records import purge_learned

                purge_learned(tx, id, self.new_id)
            elif collection is tx.episodes and len(tx.episodes.readable([id])):
                from treering.episodes.consolidation.dissolution import purge_representatives

                purge_representatives(tx, id, self.episodes, lambda each: withdraw_source(tx, each, self.new_id))
            collection.purge(id)

        self.store.write(scope, now, purge, claims=(PROMOTION,))

    def undo(self, scope: Scope, now: datetime, id: str) -> None:
        """Revert the last change of a record with everything that was part of it.

        A consolidated episode is dissolved.
        """

        def revert(tx: Transaction) -> bool:
            _claim_with_learned(tx, id)
            if _is_consolidated(tx, id):
                return False
            self._revert(tx, id)
            return True

        if not self.store.write(scope, now, revert):
            from treering.episodes.consolidation.dissolution import dissolve

            dissolve(scope, self.store, now, id, settings=self.episodes)

    def _revert(self, tx: Transaction, id: str) -> None:
        if tx.knowledge.holds(id, deleted=True):
            tx.knowledge.undo(id)
            return
        if tx.patterns.holds(id, deleted=True):
            from treering.patterns.undo import undo_pattern

            undo_pattern(tx, id)
            return
        collection = tx.turns.holds(id, deleted=True)
        deleted_turns = [match.value for match in tx.turns.readable([id])] if collection else []
        _restore(tx, id)
        if deleted_turns:
            from treering.knowledge.learned_records import restore_learned

            restore_learned(tx, deleted_turns[0], self.new_id)

    def _claim_related(self, tx: Transaction, id: str, *others: str) -> Mapping[str, Knowledge]:
        """Claim the record and all records that its change may reach, in sorted order."""
        reachable_records = reachable(tx, str(id))
        _claim(tx, id, *others, *reachable_records)
        return reachable_records

    def _propagated(
        self, tx: Transaction, before: Knowledge, after: Knowledge, reachable_records: Mapping[str, Knowledge]
    ) -> Knowledge:
        """Propagate the change of confidence to related records and return the record."""
        if len(reachable_records) > 1:
            propagate(tx, after.id, after.confidence - before.confidence, among=reachable_records)
        return after

    def _successor(
        self, scope: Scope, now: datetime, old: Knowledge, *, text: str, reason: Reason, by: Author
    ) -> Knowledge:
        """The corrected record; trusted if a person wrote it, otherwise with the taint of the old record."""
        sure = TAUGHT_CONFIDENCE if by.is_person else AGENT_CONFIDENCE
        return old.replace(
            id=self.new_id(),
            version=1,
            content=text,
            payload=old.payload.subject_alone() if isinstance(old.payload, Stated) else None,
            confidence=sure,
            source=by.source,
            session=by.session or old.session,
            owner=scope.principal,
            source_ids=(*old.source_ids, old.id),
            relations=(Relation(kind=RelationKind.SUPERSEDES, record=old.id),),
            **dict.fromkeys(("created_at", "updated_at", "last_accessed_at"), now),
            access_count=0,
            uses=0,
            valid_from=now if reason is Reason.OUTDATED else old.valid_from,
            valid_until=None,
            **dict.fromkeys(("citation", "stale_at", "deprecated_at", "superseded_by"), None),
            **dict.fromkeys(("needs_review", "flagged"), False),
            taint=None if by.is_person else by.effective_taint or inherited_taint([old]),
            user_verified=by.is_person,
        )

    def _retired(self, now: datetime, old: Knowledge, reason: Reason, successor_record: Knowledge | None) -> Knowledge:
        ended = now if reason is Reason.OUTDATED else old.valid_until
        repeats = reason is Reason.DUPLICATE and successor_record is not None
        link = (
            (Relation(kind=RelationKind.DERIVED_FROM, record=successor_record.id),)
            if successor_record and repeats
            else ()
        )
        return old.replace(
            confidence=old.confidence * CORRECTED_FACTOR,
            deprecated_at=now,
            valid_until=max(ended, old.valid_from) if ended and old.valid_from else ended,
            needs_review=False,
            relations=(*old.relations, *link),
            superseded_by=successor_record.id if successor_record else None,
        )


def _claim_with_learned(tx: Transaction, id: str) -> None:
    """Claim a record; for a turn, also the records learned from it."""
    turns = [match.value for match in tx.turns.readable([id] if tx.turns.holds(id, deleted=True) else [])]
    for turn in turns:
        from treering.knowledge.learned_records import claim_learned

        claim_learned(tx, turn)
    _claim(tx, id)


def _checked(record: object) -> Knowledge:
    if not isinstance(record, Knowledge):
        raise InvalidInput(f"records contains a {type(record).__name__}; pass Knowledge values or texts")
    return record


def _claimed_collection(tx: Transaction, id: str, *, deleted: bool = True) -> Removable:
    _claim_with_learned(tx, id)
    return _collection_of(tx, id, deleted=deleted)


def _collection_of(tx: Transaction, id: str, *, deleted: bool = True) -> Removable:
    """The collection with record `id`, even if the record is unreadable. Raises `NotFound`."""
    _claim(tx, id)
    collections: tuple[Removable, ...] = (tx.knowledge, tx.turns, tx.episodes, tx.patterns)
    for collection in collections:
        if collection.holds(id, deleted=deleted):
            return collection
    raise NotFound(f"no record with id {id!r} in project {tx.scope.project!r}")


def _is_consolidated(tx: Transaction, id: str) -> bool:
    found = tx.episodes.readable([id] if tx.episodes.holds(id) else [])
    return any(match.value.consolidation is not None for match in found)


def _restore(tx: Transaction, id: str) -> None:
    if tx.turns.holds(id) or tx.episodes.holds(id):
        raise NothingToUndo(f"{id!r} was not changed since it was stored; use forget to remove it")
    _collection_of(tx, id).restore(id)


def _claim(tx: Transaction, *ids: str) -> None:
    """Claim the records in sorted order, so that transactions cannot deadlock."""
    for id in sorted(set(map(str, ids))):
        tx.claim(f"record {id}")


def _live(tx: Transaction, id: str) -> Knowledge:
    _claim(tx, id)
    record = tx.knowledge.get(id)
    if record is None or record.deleted_at is not None:
        raise NotFound(
            f"no knowledge record with id {id!r} in project {tx.scope.project!r}; `treering search` shows ids"
        )
    return record


def _is_current(record: Knowledge) -> bool:
    return record.deleted_at is None and record.deprecated_at is None and not record.flagged


def _same_words(tx: Transaction, record: Knowledge, similar: SimilarRecords) -> Knowledge | None:
    """The transaction has claimed the text."""
    same = KnowledgeFilter(
        same_text=(_digest(record),),
        visibility=(record.visibility,),
        owners=(record.owner,),
        deprecated=False,
        flagged=False,
    )
    found = [each for each in similar.records if _text_key(each) == _text_key(record)]
    if not found and not similar.complete:
        found = list(tx.knowledge.find(same, limit=1).items)
    if not found:
        return None
    _claim(tx, found[0].id)
    # The transaction that held the claim may have changed or deleted the record.
    still = tx.knowledge.find(same.replace(ids=(found[0].id,)), limit=1).items
    return still[0] if still else None


def _known_texts(tx: Transaction, keys: Iterable[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """Keys of the texts that are already stored."""
    digests, known = sorted({digest for digest, *_ in keys}), set[tuple[str, ...]]()
    for start in range(0, len(digests), _BATCH):
        same = KnowledgeFilter(same_text=tuple(digests[start : start + _BATCH]), deprecated=False, flagged=False)
        known |= {_text_key(each) for each in tx.knowledge.find(same, limit=10 * _BATCH).items}
    return known


def _same_id(tx: Transaction, record: Knowledge) -> Knowledge | None:
    """The transaction has claimed the record."""
    known = tx.knowledge.get(record.id)
    if known is None:
        return None
    if known.deleted_at is not None or _text_key(known) != _text_key(without_secrets(record).value):
        raise id_taken(record.id)
    return known


def _digest(record: Knowledge) -> str:
    return text_digest(record.type, record.content)


def _text_key(record: Knowledge) -> tuple[str, ...]:
    """Text, visibility and owner: equal for repetitions of a record."""
    return _digest(record), record.visibility, record.owner


def with_successor(tx: Transaction, record: Knowledge) -> Knowledge:
    """A retired record with `superseded_by` set, also if an older version or a learned fact retired it."""
    if record.superseded_by is not None:
        return record
    return record.replace(superseded_by=next(iter(_successors(tx, record)), None))


def earlier_wordings(tx: Transaction, id: str) -> tuple[str, ...]:
    """Ids of the records that `id` corrected, transitively. What was true until it changed is not among them."""
    found: dict[str, None] = {}
    pending = [id]
    while pending:
        current = pending.pop()
        held = [match.value for match in tx.knowledge.readable([current])]
        ties = (tie for record in held for tie in record.relations if tie.kind is RelationKind.SUPERSEDES)
        named = [tie.record for tie in ties if tie.record is not None]
        for old in tx.knowledge.get_many(named).values():
            outdated = old.valid_until is not None and old.valid_until == old.deprecated_at
            if old.superseded_by == current and not outdated and old.id not in found:
                found[old.id] = None
                pending.append(old.id)
    return tuple(found)


def _successors(tx: Transaction, old: Knowledge) -> tuple[str, ...]:
    """Ids of the records that supersede `old`."""
    if old.deprecated_at is None:
        return ()
    link = (RelationKind.SUPERSEDES, old.id)
    related = tx.knowledge.find(KnowledgeFilter(related_to=(old.id,)), order=Order(by="created_at")).items
    return tuple(each.id for each in related if link in ((r.kind, r.record) for r in each.relations))


def _advice(tx: Transaction, old: Knowledge) -> str:
    """Advice for a record that was already superseded."""
    successors = _successors(tx, old)
    return f"correct its successor {successors[0]!r}" if successors else "remember the correct text"
