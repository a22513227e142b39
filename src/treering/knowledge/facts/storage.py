"""Stores statements as records: a repetition is evidence, a new value closes the former one."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from treering.core.history import Action
from treering.core.language.terms import codes_of, query_terms
from treering.core.messages import Role
from treering.core.queries import KnowledgeFilter
from treering.core.records import Knowledge, RelationKind
from treering.core.records import Relation as Tie
from treering.core.scope import Visibility
from treering.core.statements import Statement, fact_key, same_name
from treering.core.turns import Turn
from treering.knowledge.authors import CORRECTED_FACTOR
from treering.knowledge.expiry import has_faded
from treering.knowledge.facts.records import SAID_BY_PEOPLE, recorded, since
from treering.knowledge.facts.similarity import Relation, relation
from treering.knowledge.reinforcement import reinforce
from treering.ports.clock import NewId
from treering.ports.index import IndexQuery
from treering.ports.store import Transaction

# Records compared with a new statement: the newest of its subject and attribute, and the most similar.
MAX_COMPARED = 50

_TYPES = ("fact", "preference", "decision", "requirement")


@dataclass(frozen=True, slots=True)
class Heard:
    """A statement and the turn that says so."""

    statement: Statement
    turn: Turn

    @property
    def at(self) -> datetime:
        return self.turn.at

    @property
    def since(self) -> datetime:
        return since(self.statement, self.turn)

    @property
    def by_person(self) -> bool:
        return self.turn.role is Role.USER and not self.turn.tainted


@dataclass
class Kept:
    """What came of statements: new records, repetitions, records that no longer hold, doubts."""

    learned: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    superseded: list[str] = field(default_factory=list)
    disputed: list[str] = field(default_factory=list)


def claim_subjects(tx: Transaction, heard: Sequence[Heard]) -> None:
    """In one order for everybody, so that no two transactions wait for each other."""
    for subject in sorted({same_name(each.statement.subject) for each in heard}):
        tx.claim(f"facts about {subject}")


class FactKeeper:
    """Keeps statements in one transaction, each so that it can be undone by itself."""

    def __init__(self, tx: Transaction, new_id: NewId) -> None:
        self._tx = tx
        self._new_id = new_id
        self.kept = Kept()

    def keep(self, heard: Sequence[Heard]) -> Kept:
        """In the order in which they were said."""
        claim_subjects(self._tx, heard)
        for each in sorted(heard, key=lambda each: each.at):
            self._keep_one(each)
        return self.kept

    def _keep_one(self, heard: Heard) -> None:
        tx = self._tx.undo_unit()
        same, excluded = self._compared(tx, heard)
        if same:
            self._repeat(tx, heard, same[0])
            self._close(tx, heard, excluded, by=same[0])
        elif heard.by_person or not self._was_refused(tx, heard):
            self._learn(tx, heard, excluded)

    def _compared(self, tx: Transaction, heard: Heard) -> tuple[list[Knowledge], list[Knowledge]]:
        """Records that say the same, and those that exclude it, as they stand once nobody else can change them."""
        stands = {known.id: relation(heard.statement, known) for known in self._candidates(tx, heard, _standing(heard))}
        touched = sorted(id for id, how in stands.items() if how is not Relation.UNRELATED)
        for id in touched:
            tx.claim(f"record {id}")
        known = tx.knowledge.get_many(touched)
        live = [known[id] for id in touched if id in known and _still(known[id])]
        same = [each for each in live if stands[each.id] is Relation.SAME]
        against = [each for each in live if stands[each.id] is Relation.EXCLUDES]
        return same, [each for each in against if heard.turn.id not in each.source_ids]

    def _candidates(self, tx: Transaction, heard: Heard, where: KnowledgeFilter) -> Iterator[Knowledge]:
        """Records of the same audience: those of the same subject and attribute, and those with the same words."""
        said = heard.statement
        keyed = where.replace(fact_keys=(fact_key(said.subject, said.attribute),))
        yield from (found := tx.knowledge.find(keyed, limit=MAX_COMPARED).items)
        words = [codes_of(term.forms) for term in query_terms(f"{said.subject} {said.value}")]
        near = tx.index.candidates(IndexQuery(words), ("knowledge",), limit=MAX_COMPARED)
        passing = tx.index.matching_ids({"knowledge": where}, near.number)
        others = {id for _, id in passing.values()} - {known.id for known in found}
        yield from tx.knowledge.get_many(others).values()

    def _was_refused(self, tx: Transaction, heard: Heard) -> bool:
        """Whether a person doubted or corrected this: an agent that says it again has it from before."""
        refused = (_standing(heard).replace(flagged=True, deprecated=None), _standing(heard).replace(deprecated=True))
        return any(
            relation(heard.statement, known) is Relation.SAME
            for where in refused
            for known in self._candidates(tx, heard, where)
            if not has_faded(known)
        )

    def _learn(self, tx: Transaction, heard: Heard, excluded: Sequence[Knowledge]) -> None:
        """What was said last holds. Said earlier than what stands it is history from the start; what is only to come
        leaves what holds now as it is until then.
        """
        later = [known for known in excluded if known.created_at > heard.at]
        to_come = [known for known in excluded if known not in later and _since(known) > max(heard.at, heard.since)]
        earlier = [known for known in excluded if known not in (*later, *to_come)]
        trusted = [known for known in earlier if not _may_close(heard, known)]
        closed = [known for known in earlier if known not in trusted]
        record = recorded(heard.statement, heard.turn, tx.now, self._new_id(), _ties(closed, trusted))
        if ends := [_since(known) for known in to_come]:
            record = record.replace(valid_until=max(min(ends), heard.since))
        if later:
            record = self._as_history(record, later)
        stored = tx.knowledge.create(record, Action.SUPERSEDE if closed else Action.CREATE)
        self.kept.learned.append(stored.id)
        self.kept.disputed += [known.id for known in trusted]
        self._close(tx, heard, closed, by=stored)

    def _as_history(self, record: Knowledge, later: Sequence[Knowledge]) -> Knowledge:
        until = max(min(known.created_at for known in later), record.created_at)
        ended = until if record.valid_from is None else max(until, record.valid_from)
        fading = record.confidence * CORRECTED_FACTOR
        return record.replace(valid_until=ended, deprecated_at=until, confidence=fading, needs_review=False)

    def _close(self, tx: Transaction, heard: Heard, closed: Sequence[Knowledge], *, by: Knowledge) -> None:
        """They held until then, and stay as what was believed. What begins later closes nothing before it begins."""
        for known in closed:
            if not _may_close(heard, known) or known.created_at > heard.at:
                continue
            until = max(heard.since, _since(known))
            if until > heard.at:
                tx.knowledge.update(known.replace(valid_until=until), Action.UPDATE, {"until": by.id})
                continue
            retired = known.replace(
                valid_until=until,
                deprecated_at=heard.at,
                confidence=known.confidence * CORRECTED_FACTOR,
                needs_review=False,
            )
            tx.knowledge.update(retired, Action.SUPERSEDE, {"replaced_by": by.id})
            self.kept.superseded.append(known.id)

    def _repeat(self, tx: Transaction, heard: Heard, known: Knowledge) -> None:
        """Only a person's word is evidence: an agent repeats what it was told from here."""
        self.kept.repeated.append(known.id)
        if heard.by_person:
            again = recorded(heard.statement, heard.turn, tx.now, known.id, ())
            stronger = reinforce(tx, known, again)
            if stronger.tainted:
                disputed = any(tie.kind is RelationKind.CONFLICTS_WITH for tie in stronger.relations)
                tx.knowledge.update(stronger.replace(taint=None, needs_review=disputed), Action.REINFORCE)


def _standing(heard: Heard) -> KnowledgeFilter:
    personal = heard.turn.visibility is Visibility.PERSONAL
    return KnowledgeFilter(
        types=_TYPES,
        visibility=(heard.turn.visibility,),
        owners=(heard.turn.owner,) if personal else (),
        deprecated=False,
        flagged=False,
    )


def _still(known: Knowledge) -> bool:
    return known.deleted_at is None and known.deprecated_at is None and not known.flagged


def _ties(closed: Iterable[Knowledge], trusted: Iterable[Knowledge]) -> tuple[Tie, ...]:
    kinds = ((RelationKind.SUPERSEDES, closed), (RelationKind.CONFLICTS_WITH, trusted))
    return tuple(Tie(kind=kind, record=known.id, automatic=True) for kind, records in kinds for known in records)


def _may_close(heard: Heard, known: Knowledge) -> bool:
    """What a person said or confirmed is only taken back by a person."""
    return heard.by_person or not (known.user_verified or known.source in SAID_BY_PEOPLE)


def _since(known: Knowledge) -> datetime:
    return known.valid_from or known.created_at
