"""Stores statements as records: a repetition is evidence, a new value supersedes the former one."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from treering.core.history import Action
from treering.core.language.terms import codes_of, query_terms
from treering.core.messages import Role
from treering.core.queries import KnowledgeFilter
from treering.core.records import Knowledge, Relation, RelationKind
from treering.core.scope import Visibility
from treering.core.statements import Statement, fact_key, same_name
from treering.core.turns import Turn
from treering.knowledge.authors import CORRECTED_FACTOR
from treering.knowledge.expiry import was_retired_on_expiry
from treering.knowledge.facts.records import PERSON_SOURCES, statement_record, valid_since
from treering.knowledge.facts.similarity import FactRelation, relation_to
from treering.knowledge.reinforcement import reinforce
from treering.ports.clock import NewId
from treering.ports.index import IndexQuery
from treering.ports.store import Transaction

# Records compared with a new statement: the newest of its subject and attribute, and the most similar.
MAX_COMPARED = 50

_TYPES = ("fact", "preference", "decision", "requirement")
# Fields that hold what a record says, and not where it comes from.
_WORDS = ("type", "content", "payload", "tags", "files", "modules", "impacted_nodes", "citation", "language")


@dataclass(frozen=True, slots=True)
class TurnStatement:
    """A statement and its turn."""

    statement: Statement
    turn: Turn

    @property
    def at(self) -> datetime:
        return self.turn.at

    @property
    def valid_since(self) -> datetime:
        return valid_since(self.statement, self.turn)

    @property
    def by_person(self) -> bool:
        return self.turn.role is Role.USER and not self.turn.tainted


@dataclass
class FactChanges:
    """Ids of the new, repeated, superseded and disputed records."""

    learned: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    superseded: list[str] = field(default_factory=list)
    disputed: list[str] = field(default_factory=list)


def claim_subjects(tx: Transaction, stated: Sequence[TurnStatement]) -> None:
    """Claim the subjects in sorted order, so that transactions cannot deadlock."""
    for subject in sorted({same_name(each.statement.subject) for each in stated}):
        tx.claim(f"facts about {subject}")


class FactStorage:
    """Stores statements in one transaction, each as a change that can be undone separately."""

    def __init__(self, tx: Transaction, new_id: NewId) -> None:
        self._tx = tx
        self._new_id = new_id
        self.result = FactChanges()

    def store(self, stated: Sequence[TurnStatement]) -> FactChanges:
        """Store the statements in the order of their turns."""
        claim_subjects(self._tx, stated)
        for each in sorted(stated, key=lambda each: each.at):
            self._store_one(each)
        return self.result

    def _store_one(self, stated: TurnStatement) -> None:
        tx = self._tx.undo_unit()
        same, excluded = self._compared(tx, stated)
        if same:
            self._repeat(tx, stated, same[0])
            self._close(tx, stated, excluded, by=same[0])
        elif stated.by_person or not self._was_refused(tx, stated):
            self._learn(tx, stated, excluded)

    def _compared(self, tx: Transaction, stated: TurnStatement) -> tuple[list[Knowledge], list[Knowledge]]:
        """Records with the same statement and records that exclude it, read again after claiming them."""
        relations = {
            record.id: relation_to(stated.statement, record)
            for record in self._candidates(tx, stated, _current_filter(stated))
        }
        touched = sorted(id for id, relation in relations.items() if relation is not FactRelation.UNRELATED)
        for id in touched:
            tx.claim(f"record {id}")
        records = tx.knowledge.get_many(touched)
        current = [records[id] for id in touched if id in records and _is_current(records[id])]
        same = [each for each in current if relations[each.id] is FactRelation.SAME]
        against = [each for each in current if relations[each.id] is FactRelation.EXCLUDES]
        return same, [each for each in against if stated.turn.id not in each.source_ids]

    def _candidates(self, tx: Transaction, stated: TurnStatement, where: KnowledgeFilter) -> Iterator[Knowledge]:
        """Records with the same visibility that share subject and attribute, or words."""
        statement = stated.statement
        keyed = where.replace(fact_keys=(fact_key(statement.subject, statement.attribute),))
        yield from (found := tx.knowledge.find(keyed, limit=MAX_COMPARED).items)
        words = [codes_of(term.forms) for term in query_terms(f"{statement.subject} {statement.value}")]
        near = tx.index.candidates(IndexQuery(words), ("knowledge",), limit=MAX_COMPARED)
        passing = tx.index.matching_ids({"knowledge": where}, near.number)
        others = {id for _, id in passing.values()} - {record.id for record in found}
        yield from tx.knowledge.get_many(others).values()

    def _was_refused(self, tx: Transaction, stated: TurnStatement) -> bool:
        """Whether a person flagged or corrected this before; an agent that repeats it adds no evidence."""
        refused = (
            _current_filter(stated).replace(flagged=True, deprecated=None),
            _current_filter(stated).replace(deprecated=True),
        )
        return any(
            relation_to(stated.statement, record) is FactRelation.SAME
            for where in refused
            for record in self._candidates(tx, stated, where)
            if not was_retired_on_expiry(record)
        )

    def _learn(self, tx: Transaction, stated: TurnStatement, excluded: Sequence[Knowledge]) -> None:
        """Store a new record; the latest statement is current.

        A statement older than the current record is stored as history. One that starts in the future leaves the
        current record valid until then.
        """
        later = [record for record in excluded if record.created_at > stated.at]
        future = [
            record
            for record in excluded
            if record not in later and _valid_since(record) > max(stated.at, stated.valid_since)
        ]
        earlier = [record for record in excluded if record not in (*later, *future)]
        protected = [record for record in earlier if not _may_close(stated, record)]
        superseded = [record for record in earlier if record not in protected]
        record = statement_record(
            stated.statement, stated.turn, tx.now, self._new_id(), _relations(superseded, protected)
        )
        if ends := [_valid_since(each) for each in future]:
            record = record.replace(valid_until=max(min(ends), stated.valid_since))
        if later:
            record = self._as_history(record, later)
        stored = tx.knowledge.create(record, Action.SUPERSEDE if superseded else Action.CREATE)
        self.result.learned.append(stored.id)
        self.result.disputed += [each.id for each in protected]
        self._close(tx, stated, superseded, by=stored)

    def _as_history(self, record: Knowledge, later: Sequence[Knowledge]) -> Knowledge:
        until = max(min(each.created_at for each in later), record.created_at)
        ended = until if record.valid_from is None else max(until, record.valid_from)
        confidence = record.confidence * CORRECTED_FACTOR
        return record.replace(valid_until=ended, deprecated_at=until, confidence=confidence, needs_review=False)

    def _close(self, tx: Transaction, stated: TurnStatement, superseded: Sequence[Knowledge], *, by: Knowledge) -> None:
        """End the validity of superseded records and retire them, unless the new statement starts in the future."""
        for record in superseded:
            if not _may_close(stated, record) or record.created_at > stated.at:
                continue
            until = max(stated.valid_since, _valid_since(record))
            if until > stated.at:
                tx.knowledge.update(record.replace(valid_until=until), Action.UPDATE, {"until": by.id})
                continue
            retired = record.replace(
                valid_until=until,
                deprecated_at=stated.at,
                confidence=record.confidence * CORRECTED_FACTOR,
                needs_review=False,
            )
            tx.knowledge.update(retired, Action.SUPERSEDE, {"replaced_by": by.id})
            self.result.superseded.append(record.id)

    def _repeat(self, tx: Transaction, stated: TurnStatement, record: Knowledge) -> None:
        """Count a repetition by a person as evidence; an agent may only repeat what it read in memory.

        A tainted record is trusted from then on, in the person's words: it may say more than the person did.
        """
        self.result.repeated.append(record.id)
        if stated.by_person:
            again = statement_record(stated.statement, stated.turn, tx.now, record.id, ())
            stronger = reinforce(tx, record, again)
            if stronger.tainted:
                disputed = any(relation.kind is RelationKind.CONFLICTS_WITH for relation in stronger.relations)
                own = {name: getattr(again, name) for name in _WORDS}
                trusted = stronger.replace(taint=None, needs_review=disputed, **own)
                tx.knowledge.update(trusted, Action.REINFORCE)


def _current_filter(stated: TurnStatement) -> KnowledgeFilter:
    personal = stated.turn.visibility is Visibility.PERSONAL
    return KnowledgeFilter(
        types=_TYPES,
        visibility=(stated.turn.visibility,),
        owners=(stated.turn.owner,) if personal else (),
        deprecated=False,
        flagged=False,
    )


def _is_current(record: Knowledge) -> bool:
    return record.deleted_at is None and record.deprecated_at is None and not record.flagged


def _relations(superseded: Iterable[Knowledge], protected: Iterable[Knowledge]) -> tuple[Relation, ...]:
    kinds = ((RelationKind.SUPERSEDES, superseded), (RelationKind.CONFLICTS_WITH, protected))
    return tuple(Relation(kind=kind, record=record.id, automatic=True) for kind, records in kinds for record in records)


def _may_close(stated: TurnStatement, record: Knowledge) -> bool:
    """Whether the statement may supersede a record: those of persons only if a person says so."""
    return stated.by_person or not (record.user_verified or record.source in PERSON_SOURCES)


def _valid_since(record: Knowledge) -> datetime:
    return record.valid_from or record.created_at
