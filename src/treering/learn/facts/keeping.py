"""What was said becomes what is known: said again it is evidence, contradicted it becomes history."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import isnan

from treering.core.history import Action
from treering.core.language.terms import codes_of, query_terms
from treering.core.messages import Role
from treering.core.payloads import PreferenceStrength, knowledge_type
from treering.core.queries import KnowledgeFilter
from treering.core.records import Knowledge, RelationKind, Source
from treering.core.records import Relation as Tie
from treering.core.scope import Visibility
from treering.core.settings import Settings
from treering.core.statements import Statement, fact_key, same_name
from treering.core.turns import Turn
from treering.core.values import LABEL_BYTES
from treering.learn.facts.likeness import OPPOSITES, Relation, relation
from treering.learn.teach import Teaching
from treering.ports.index import Wanted
from treering.ports.models import Embedder
from treering.ports.store import Transaction

_TYPES = ("fact", "preference", "decision", "requirement")
_STRENGTH: Mapping[str, PreferenceStrength] = {
    "never": PreferenceStrength.NEVER,
    "always": PreferenceStrength.MUST,
    "must": PreferenceStrength.MUST,
}
_BY_ATTRIBUTE: Mapping[str, PreferenceStrength] = {
    "dislikes": PreferenceStrength.AVOID,
    "rule": PreferenceStrength.MUST,
}


@dataclass(frozen=True, slots=True)
class Heard:
    """A statement and the turn that says so."""

    statement: Statement
    turn: Turn

    @property
    def at(self) -> datetime:
        return self.turn.at

    @property
    def by_person(self) -> bool:
        return self.turn.role is Role.USER


@dataclass
class Kept:
    """What came of statements: new records, repetitions, records that no longer hold, doubts."""

    learned: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    superseded: list[str] = field(default_factory=list)
    disputed: list[str] = field(default_factory=list)


class FactKeeper:
    """Keeps statements in one transaction."""

    def __init__(self, tx: Transaction, teaching: Teaching, settings: Settings, embedder: Embedder | None) -> None:
        self._tx = tx
        self._teaching = teaching
        self._settings = settings.learn
        self._factor = settings.knowledge.corrected_factor
        self._embedder = embedder
        self.kept = Kept()

    def keep(self, heard: Sequence[Heard]) -> Kept:
        """In the order in which they were said; the same said twice with nothing else in between is one."""
        last: dict[tuple[str, str], tuple[str, bool]] = {}
        for each in sorted(heard, key=lambda each: each.at):
            said = each.statement
            about, value = (fact_key(said.subject, said.attribute), _audience(each.turn)), same_name(said.value)
            if last.get(about) != (value, said.ended):
                self._keep_one(each)
            last[about] = (value, said.ended)
        return self.kept

    def _keep_one(self, heard: Heard) -> None:
        self._tx.claim(f"facts about {same_name(heard.statement.subject)}")
        standing = list(self._candidates(heard))
        stands = {
            known.id: relation(heard.statement, known, likeness=likeness, alike=self._settings.alike)
            for known, likeness in standing
        }
        same = [known for known, _ in standing if stands[known.id] is Relation.SAME]
        excluded = [
            known for known, _ in standing if stands[known.id] is Relation.EXCLUDES and not _beside(heard, known)
        ]
        if same:
            self._repeat(heard, same[0])
            self._retire(heard, excluded, by=same[0])
            return
        self._learn(heard, excluded)

    def _candidates(self, heard: Heard) -> Iterator[tuple[Knowledge, float]]:
        """Records of the same audience that stand: those with the same subject and attribute, and those most like."""
        said = heard.statement
        where = KnowledgeFilter(
            types=_TYPES,
            visibility=(heard.turn.visibility,),
            owners=(heard.turn.owner,) if heard.turn.visibility is Visibility.PERSONAL else (),
            deprecated=False,
            flagged=False,
        )
        attributes = filter(None, (said.attribute, OPPOSITES.get(said.attribute)))
        keyed = where.replace(fact_keys=tuple(fact_key(said.subject, each) for each in attributes))
        found = {known.id: known for known in self._tx.knowledge.find(keyed, limit=self._settings.candidates).items}
        likeness = self._alike(said, where)
        known = {**found, **self._tx.knowledge.get_many(id for id in likeness if id not in found)}
        yield from ((record, likeness.get(id, 0.0)) for id, record in known.items())

    def _alike(self, said: Statement, where: KnowledgeFilter) -> Mapping[str, float]:
        """The nearest records by words and, where a local model says so, by meaning, each with its cosine."""
        words = [codes_of(term.forms) for term in query_terms(f"{said.subject} {said.value}")]
        vector = self._embedder.query(said.text) if self._embedder else None
        wanted = Wanted(words, vector, self._embedder.model if self._embedder else "")
        near = self._tx.index.candidates(wanted, ("knowledge",), most=self._settings.neighbours)
        cosines = dict(zip(near.number.tolist(), near.meaning.tolist(), strict=True))
        passing = self._tx.index.confirmed({"knowledge": where}, near.number)
        return {id: _cosine(cosines[number]) for number, (_, id) in passing.items()}

    def _learn(self, heard: Heard, excluded: Sequence[Knowledge]) -> None:
        """Contradicted by what was said later, it is history from the start."""
        later = [known for known in excluded if self._since(known) > self._beginning(heard)]
        earlier = [known for known in excluded if known not in later]
        trusted = [known for known in earlier if not self._may_close(heard, known)]
        closed = [known for known in earlier if known not in trusted]
        record = self._record(heard, closed, trusted)
        if later:
            until = max(min(map(self._since, later)), record.valid_from or record.created_at)
            fading = record.confidence * self._factor
            record = record.replace(valid_until=until, deprecated_at=until, confidence=fading)
        stored = self._tx.knowledge.create(record, Action.SUPERSEDE if closed else Action.CREATE)
        self.kept.learned.append(stored.id)
        self.kept.disputed += [known.id for known in trusted]
        self._retire(heard, closed, by=stored)

    def _retire(self, heard: Heard, closed: Sequence[Knowledge], *, by: Knowledge) -> None:
        """They held until now, and stay as what was believed."""
        for known in closed:
            if not self._may_close(heard, known) or self._since(known) > self._beginning(heard):
                continue
            until = max(self._beginning(heard), known.valid_from or known.created_at)
            retired = known.replace(
                valid_until=until,
                deprecated_at=max(heard.at, known.created_at),
                confidence=known.confidence * self._factor,
                needs_review=False,
            )
            self._tx.knowledge.update(retired, Action.SUPERSEDE, {"replaced_by": by.id})
            self.kept.superseded.append(known.id)

    def _repeat(self, heard: Heard, known: Knowledge) -> None:
        """Only a person's word is evidence: an agent repeats what it was told from here."""
        if heard.by_person:
            self._teaching.reinforce(self._tx, known, self._record(heard, (), ()))
        self.kept.repeated.append(known.id)

    def _record(self, heard: Heard, closed: Sequence[Knowledge], trusted: Sequence[Knowledge]) -> Knowledge:
        said, turn = heard.statement, heard.turn
        ties = [Tie(kind=RelationKind.SUPERSEDES, record=known.id, automatic=True) for known in closed]
        ties += [Tie(kind=RelationKind.CONFLICTS_WITH, record=known.id, automatic=True) for known in trusted]
        return Knowledge.make(
            id=self._teaching.new_id(),
            type=said.type,
            content=said.text,
            payload=_payload(said),
            confidence=said.confidence,
            half_life_days=knowledge_type(said.type).half_life_days,
            visibility=turn.visibility,
            owner=turn.owner,
            source=Source.CONSOLIDATION,
            session=turn.session,
            provenance_sessions=(turn.session,),
            source_ids=(turn.id,),
            relations=tuple(ties),
            created_at=turn.at,
            updated_at=turn.at,
            last_accessed_at=max(turn.at, self._tx.now),
            valid_from=said.valid_from or turn.at,
            valid_until=said.valid_until,
            needs_review=bool(trusted),
            tainted=turn.tainted,
            language=said.language,
        )

    def _may_close(self, heard: Heard, known: Knowledge) -> bool:
        """What a person said or confirmed is only taken back by a person."""
        from_person = known.user_verified or known.source is Source.USER_TAUGHT or known.confidence > _AGENTS
        return (heard.by_person and not heard.turn.tainted) or not from_person

    def _since(self, known: Knowledge) -> datetime:
        return known.valid_from or known.created_at

    def _beginning(self, heard: Heard) -> datetime:
        return heard.statement.valid_from or heard.at


_AGENTS = 0.5
"""What an agent's own statements are trusted at most."""


def _payload(said: Statement) -> Mapping[str, object]:
    stated: dict[str, object] = {
        "subject": said.subject,
        "attribute": said.attribute,
        "value": said.value,
        "negated": said.ended,
        "speaker": said.speaker,
    }
    if said.type == "preference":
        first = said.value.split(" ", 1)[0].casefold()
        fallback = _BY_ATTRIBUTE.get(said.attribute, PreferenceStrength.PREFER)
        stated["strength"] = _STRENGTH.get(first, fallback)
    return stated


def _beside(heard: Heard, known: Knowledge) -> bool:
    """Said in one breath: whoever names two values at once means both."""
    return heard.turn.id in known.source_ids


def _audience(turn: Turn) -> str:
    return turn.owner if turn.visibility is Visibility.PERSONAL else turn.visibility.value


def _cosine(value: float) -> float:
    return 0.0 if isnan(value) else value


def speaker_of(turn: Turn) -> str | None:
    """Whose "I" it is: the name they go by, or who wrote it where that is not just this machine's user."""
    name = turn.speaker or (turn.owner if turn.role is Role.USER and turn.owner != "local" else None)
    return None if name is None else name.encode()[:LABEL_BYTES].decode(errors="ignore")
