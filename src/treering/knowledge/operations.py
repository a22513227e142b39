"""What people and agents do to knowledge: remember, confirm, correct, flag, pin, forget, undo."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from treering.core.errors import InvalidInput, NotFound, NothingToUndo, id_taken
from treering.core.history import Action
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
    TAUGHT_CONFIDENCE,
    Author,
    Reason,
    check_author,
    check_correction,
    is_witness,
)
from treering.knowledge.conflicts import Comparison, may_replace
from treering.knowledge.reinforcement import reinforce
from treering.knowledge.relations import propagate, reachable

if TYPE_CHECKING:
    from treering.core.scope import Scope
    from treering.knowledge.conflicts import Near, Verdict
    from treering.ports.clock import NewId
    from treering.ports.collections import Removable
    from treering.ports.store import Store, Transaction

CONFIRMED_CONFIDENCE = 0.95  # a person said so: the ceiling that use alone can reach
FLAGGED_FACTOR = 0.5  # share of its confidence that a record keeps while a person's doubt is open

_AT_ONCE = 500
"""Texts that are looked up in one query."""

# What was corrected so is not wrong: nothing follows for what is related to it.
_SAYS_THE_SAME = frozenset({Reason.DUPLICATE, Reason.TOO_SPECIFIC})


@dataclass(frozen=True, slots=True)
class KnowledgeOperations:
    """The verbs, on one store."""

    store: Store
    settings: KnowledgeSettings
    new_id: NewId
    episodes: EpisodeSettings = field(default_factory=EpisodeSettings)

    def remember(self, scope: Scope, now: datetime, text: str, *, type: str, **fields: Any) -> Knowledge:
        """Store a piece of knowledge. Words that are known already strengthen the record that holds them.

        What the caller says beside the words is then said of that record. Whoever names records names them all: an
        id that is new makes a new record, an id that is known must come with the words it stands for. A record that
        the new one contradicts is superseded, or both wait for review: `conflicts` of the returned record names it.
        """
        record = self._record(scope, now, text, type, **fields)
        compared = Comparison(record, now, limit=self.settings.conflict_candidates)

        def remember(tx: Transaction) -> Knowledge:
            near = compared.near(tx)
            known = _same_id(tx, record) if "id" in fields else _same_words(tx, compared.said, near)
            if known is not None:
                # What comes from outside is no witness of what is trusted; an agent changes nothing of a person's word.
                if record.tainted and not known.tainted:
                    return known
                given = fields if is_witness(record, known) else EMPTY
                return reinforce(tx, known, record, given=given)
            return self._create(tx, compared.with_parts(record), compared.verdicts(near, now))

        return self.store.write(scope, now, remember)

    def _record(self, scope: Scope, now: datetime, text: str, type: str, **fields: Any) -> Knowledge:
        defaults: dict[str, Any] = {
            "id": self.new_id(),
            "half_life_days": knowledge_type(type).half_life_days,
            "owner": scope.principal,
        }
        moments = dict.fromkeys(("created_at", "updated_at", "last_accessed_at"), now)
        return Knowledge.make(**defaults | moments | fields | {"type": type, "content": text})

    def remember_many(self, scope: Scope, now: datetime, records: Iterable[Knowledge | str]) -> int:
        """Store records whose words are not known yet, each once; returns how many. Conflicts are not looked for.

        A text is stored as a fact.
        """
        if isinstance(records, str) or not isinstance(records, Iterable):
            raise InvalidInput(f"records is a {type(records).__name__}; pass a list of Knowledge values or texts")
        made = [self._record(scope, now, each, "fact") if isinstance(each, str) else _checked(each) for each in records]
        listed = {_words_for(without_secrets(each).value): each for each in reversed(made)}

        def remember_many(tx: Transaction) -> int:
            # One claim for all: a server holds some thousand locks.
            tx.claim("text of many records")
            known = _known(tx, listed)
            return tx.knowledge.create_many(each for said, each in reversed(listed.items()) if said not in known)

        return self.store.write(scope, now, remember_many)

    def _create(self, tx: Transaction, record: Knowledge, verdicts: Mapping[str, Verdict]) -> Knowledge:
        """Store a new record; what it replaces becomes history, what it may contradict waits for review with it."""
        _claim(tx, *verdicts)
        against = [each for each in tx.knowledge.get_many(sorted(verdicts)).values() if _holds(each)]
        queue_follow_up_jobs(tx, self.new_id)
        if not against:
            return tx.knowledge.create(record)
        if may_replace(record, against, verdicts):
            ties = [Relation(kind=RelationKind.SUPERSEDES, record=each.id, automatic=True) for each in against]
            detail = {"supersedes": against[0].id}
            stored = tx.knowledge.create(record.replace(relations=(*record.relations, *ties)), Action.SUPERSEDE, detail)
            for old in against:
                retired = self._retired(tx.now, old, Reason.OUTDATED, stored)
                tx.knowledge.update(retired, Action.SUPERSEDE, {"replaced_by": stored.id})
            return stored
        ties = [Relation(kind=RelationKind.CONFLICTS_WITH, record=each.id, automatic=True) for each in against]
        doubted = record.replace(needs_review=True, relations=(*record.relations, *ties))
        stored = tx.knowledge.create(doubted)
        tie = Relation(kind=RelationKind.CONFLICTS_WITH, record=stored.id, automatic=True)
        for old in against:
            # What comes from outside casts no doubt on what is trusted.
            if old.tainted or not record.tainted:
                doubted = old.replace(needs_review=True, relations=(*old.relations, tie))
                tx.knowledge.update(doubted, Action.UPDATE, {"conflicts_with": stored.id})
        return stored

    def confirm(self, scope: Scope, now: datetime, id: str, *, by: Author | None = None) -> Knowledge:
        """A person says that it is true: it no longer fades, and it is trusted wherever it came from.

        An author who only passes on what a person said stands in the log, and clears no doubt.
        """
        author = by or Author()

        def confirm(tx: Transaction) -> Knowledge:
            near = self._claim_related(tx, id)
            record = _live(tx, id)
            if record.deprecated_at is not None:
                raise InvalidInput(f"{id!r} was corrected; `undo` the correction, or {_instead(tx, record)}")
            author.check_confirmation(record)
            cleared = {"needs_review": False, "flagged": False, "taint": None}
            confidence = max(record.confidence, CONFIRMED_CONFIDENCE)
            confirmed = record.replace(user_verified=True, confidence=confidence, stale_at=None, **cleared)
            return self._tell(tx, record, tx.knowledge.update(confirmed, Action.CONFIRM, author.told), near)

        return self.store.write(scope, now, confirm)

    def flag(self, scope: Scope, now: datetime, id: str, note: str) -> Knowledge:
        """A person doubts it: it waits for review and is not recalled meanwhile. A second doubt weighs nothing.

        The log outlives the record: what the note repeats of it is left out.
        """

        def flag(tx: Transaction) -> Knowledge:
            near = self._claim_related(tx, id)
            record = _live(tx, id)
            confidence = record.confidence * (1 if record.flagged else FLAGGED_FACTOR)
            flagged = record.replace(flagged=True, needs_review=True, user_verified=False, confidence=confidence)
            detail = {"note": without_quotation(note, record.content)} if note else {}
            return self._tell(tx, record, tx.knowledge.update(flagged, Action.FLAG, detail), near)

        return self.store.write(scope, now, flag)

    def pin(self, scope: Scope, now: datetime, id: str, *, pinned: bool) -> Knowledge:
        """Keep it from fading, or let it fade again."""

        def pin(tx: Transaction) -> Knowledge:
            record = _live(tx, id)
            return tx.knowledge.update(record.replace(pinned=pinned), Action.PIN if pinned else Action.UNPIN)

        return self.store.write(scope, now, pin)

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
        """Put right what is stored; the record that stands now is returned. Without an author a person says so.

        A new text makes a new record that supersedes the old one; a duplicate gives its evidence to the record it
        repeats; without either, the old record is only retired. Nothing is overwritten, and one undo takes all of it
        back.
        """
        check_correction(id, reason, text, duplicate_of)

        def correct(tx: Transaction) -> Knowledge:
            near = self._claim_related(tx, id, *filter(None, (duplicate_of,)))
            old, author = _live(tx, id), by or Author()
            if _successors(tx, old):
                raise InvalidInput(f"{id!r} was corrected already; {_instead(tx, old)}")
            same = None if duplicate_of is None else _live(tx, duplicate_of)
            check_author(author, old, same)
            standing = same
            if same is not None and (author.is_person or is_witness(old, same)):
                standing = reinforce(tx, same, old, repeated_by=old.id)
            elif text is not None:
                successor = self._successor(scope, now, old, text=text, reason=reason, by=author)
                detail = {"reason": reason.value, "supersedes": old.id}
                standing = tx.knowledge.create(successor, Action.SUPERSEDE, detail)
            successor_told = {"replaced_by": standing.id} if standing else {}
            detail = {"reason": reason.value, **successor_told, **author.told}
            retired = tx.knowledge.update(self._retired(now, old, reason, standing), Action.CORRECT, detail)
            if reason not in _SAYS_THE_SAME:
                self._tell(tx, old, retired, near)
            return standing or retired

        return self.store.write(scope, now, correct)

    def forget(self, scope: Scope, now: datetime, id: str) -> None:
        """Take a record or a turn out of sight; `undo` brings it back."""

        def forget(tx: Transaction) -> None:
            held = _claimed(tx, id, deleted=False)
            held.delete(id)
            if held is tx.turns:
                from treering.knowledge.learned_records import forget_learned

                forget_learned(tx, id)

        self.store.write(scope, now, forget)

    def purge(self, scope: Scope, now: datetime, id: str) -> None:
        """Purge a record of any kind with every copy of it: also the earlier wordings that it corrected."""

        def purge(tx: Transaction) -> None:
            from treering.knowledge.reflection.withdrawal import withdraw

            held = _claimed(tx, id)
            for earlier in earlier_wordings(tx, id):
                _claim(tx, earlier)
                withdraw(tx, earlier, self.new_id)
                tx.knowledge.purge(earlier)
            withdraw(tx, id, self.new_id)
            if held is tx.turns:
                from treering.knowledge.learned_records import purge_learned

                purge_learned(tx, id, self.new_id)
            elif held is tx.episodes and len(tx.episodes.readable([id])):
                from treering.episodes.consolidation.dissolution import purge_representatives

                purge_representatives(tx, id, self.episodes, lambda each: withdraw(tx, each, self.new_id))
            held.purge(id)

        self.store.write(scope, now, purge)

    def undo(self, scope: Scope, now: datetime, id: str) -> None:
        """Take back the last change of a record, with everything that was part of it.

        An episode that stands for several is taken apart.
        """

        def take_back(tx: Transaction) -> bool:
            _claim_with_learned(tx, id)
            if _stands_for_others(tx, id):
                return False
            self._take_back(tx, id)
            return True

        if not self.store.write(scope, now, take_back):
            from treering.episodes.consolidation.dissolution import dissolve

            dissolve(scope, self.store, now, id, settings=self.episodes)

    def _take_back(self, tx: Transaction, id: str) -> None:
        if tx.knowledge.holds(id, deleted=True):
            tx.knowledge.undo(id)
            return
        if tx.patterns.holds(id, deleted=True):
            from treering.patterns.undo import undo_pattern

            undo_pattern(tx, id)
            return
        held = tx.turns.holds(id, deleted=True)
        gone = [match.value for match in tx.turns.readable([id])] if held else []
        _restore(tx, id)
        if gone:
            from treering.knowledge.learned_records import restore_learned

            restore_learned(tx, gone[0], self.new_id)

    def _claim_related(self, tx: Transaction, id: str, *others: str) -> Mapping[str, Knowledge]:
        """Claim the record with all that a change of it may reach, in one order for everybody."""
        near = reachable(tx, str(id))
        _claim(tx, id, *others, *near)
        return near

    def _tell(self, tx: Transaction, before: Knowledge, after: Knowledge, near: Mapping[str, Knowledge]) -> Knowledge:
        """Pass the change on to what is related; the record itself is returned."""
        if len(near) > 1:
            propagate(tx, after.id, after.confidence - before.confidence, among=near)
        return after

    def _successor(
        self, scope: Scope, now: datetime, old: Knowledge, *, text: str, reason: Reason, by: Author
    ) -> Knowledge:
        """What a person says is trusted wherever the old record came from; what anybody else says is as doubtful."""
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
            taint=None if by.is_person else by.outside or inherited_taint([old]),
            user_verified=by.is_person,
        )

    def _retired(self, now: datetime, old: Knowledge, reason: Reason, standing: Knowledge | None) -> Knowledge:
        ended = now if reason is Reason.OUTDATED else old.valid_until
        repeats = reason is Reason.DUPLICATE and standing is not None
        link = (Relation(kind=RelationKind.DERIVED_FROM, record=standing.id),) if standing and repeats else ()
        return old.replace(
            confidence=old.confidence * CORRECTED_FACTOR,
            deprecated_at=now,
            valid_until=max(ended, old.valid_from) if ended and old.valid_from else ended,
            needs_review=False,
            relations=(*old.relations, *link),
            superseded_by=standing.id if standing else None,
        )


def _claim_with_learned(tx: Transaction, id: str) -> None:
    """Claim a record; a turn together with what was learned from it."""
    turns = [match.value for match in tx.turns.readable([id] if tx.turns.holds(id, deleted=True) else [])]
    for turn in turns:
        from treering.knowledge.learned_records import claim_learned

        claim_learned(tx, turn)
    _claim(tx, id)


def _checked(record: object) -> Knowledge:
    if not isinstance(record, Knowledge):
        raise InvalidInput(f"records holds a {type(record).__name__}; pass Knowledge values or texts")
    return record


def _claimed(tx: Transaction, id: str, *, deleted: bool = True) -> Removable:
    _claim_with_learned(tx, id)
    return _holding(tx, id, deleted=deleted)


def _holding(tx: Transaction, id: str, *, deleted: bool = True) -> Removable:
    """The collection that holds `id`, whether or not the record can be read."""
    _claim(tx, id)
    collections: tuple[Removable, ...] = (tx.knowledge, tx.turns, tx.episodes, tx.patterns)
    for collection in collections:
        if collection.holds(id, deleted=deleted):
            return collection
    raise NotFound(f"no record with id {id!r} in project {tx.scope.project!r}")


def _stands_for_others(tx: Transaction, id: str) -> bool:
    found = tx.episodes.readable([id] if tx.episodes.holds(id) else [])
    return any(match.value.consolidation is not None for match in found)


def _restore(tx: Transaction, id: str) -> None:
    if tx.turns.holds(id) or tx.episodes.holds(id):
        raise NothingToUndo(f"{id!r} was not changed since it was stored; forget it to take it away")
    _holding(tx, id).restore(id)


def _claim(tx: Transaction, *ids: str) -> None:
    """In one order for everybody, so that no two wait for each other."""
    for id in sorted(set(map(str, ids))):
        tx.claim(f"record {id}")


def _live(tx: Transaction, id: str) -> Knowledge:
    _claim(tx, id)
    record = tx.knowledge.get(id)
    if record is None or record.deleted_at is not None:
        raise NotFound(f"no knowledge {id!r} in project {tx.scope.project!r}; `treering search` finds ids")
    return record


def _holds(record: Knowledge) -> bool:
    return record.deleted_at is None and record.deprecated_at is None and not record.flagged


def _same_words(tx: Transaction, said: Knowledge, near: Near) -> Knowledge | None:
    digest = text_digest(said.type, said.content)
    tx.claim(f"text {digest}")
    same = KnowledgeFilter(
        same_text=(digest,),
        visibility=(said.visibility,),
        owners=(said.owner,),
        deprecated=False,
        flagged=False,
    )
    found = [each for each in near.records if _words_for(each) == _words_for(said)]
    if not found and not near.complete:
        found = list(tx.knowledge.find(same, limit=1).items)
    if not found:
        return None
    _claim(tx, found[0].id)
    # Whoever held the claim may have changed or taken away what was found.
    still = tx.knowledge.find(same.replace(ids=(found[0].id,)), limit=1).items
    return still[0] if still else None


def _known(tx: Transaction, said: Iterable[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """Those of these words that a record holds already."""
    digests, known = sorted({digest for digest, *_ in said}), set[tuple[str, ...]]()
    for start in range(0, len(digests), _AT_ONCE):
        same = KnowledgeFilter(same_text=tuple(digests[start : start + _AT_ONCE]), deprecated=False, flagged=False)
        known |= {_words_for(each) for each in tx.knowledge.find(same, limit=10 * _AT_ONCE).items}
    return known


def _same_id(tx: Transaction, record: Knowledge) -> Knowledge | None:
    _claim(tx, record.id)
    known = tx.knowledge.get(record.id)
    if known is None:
        return None
    if known.deleted_at is not None or _words_for(known) != _words_for(without_secrets(record).value):
        raise id_taken(record.id)
    return known


def _words_for(record: Knowledge) -> tuple[str, ...]:
    """What is said, and to whom."""
    return text_digest(record.type, record.content), record.visibility, record.owner


def with_successor(tx: Transaction, record: Knowledge) -> Knowledge:
    """A retired record, naming the one that took its place, also if an earlier version or a new fact retired it."""
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
    """The records that a correction put in the place of `old`."""
    if old.deprecated_at is None:
        return ()
    link = (RelationKind.SUPERSEDES, old.id)
    related = tx.knowledge.find(KnowledgeFilter(related_to=(old.id,)), order=Order(by="created_at")).items
    return tuple(each.id for each in related if link in ((r.kind, r.record) for r in each.relations))


def _instead(tx: Transaction, old: Knowledge) -> str:
    """What to do where `old` no longer stands."""
    successors = _successors(tx, old)
    return f"correct its successor {successors[0]!r}" if successors else "remember what is true"
