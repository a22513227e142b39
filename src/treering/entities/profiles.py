"""Profile of an entity: facts, mentioning records, related entities and a timeline."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from treering.core.confidence import effective_confidence
from treering.core.entities import Entity, EntityKind
from treering.core.episodes import Episode
from treering.core.payloads import Fact
from treering.core.queries import EntityLinkFilter, KnowledgeFilter, Order
from treering.core.records import Knowledge
from treering.core.settings import Settings
from treering.core.statements import ATTRIBUTES, fact_key, same_name
from treering.core.taint import Taint
from treering.core.turns import Turn
from treering.core.values import LABELS, Record
from treering.entities.groups import EntityGroup, find_group
from treering.entities.link_jobs import text_of
from treering.entities.registry import survivors
from treering.ports.collections import RecordMatches
from treering.ports.store import Transaction

SUMMARY_FACTS = 3  # the most confident facts that make the summary of a profile
MAX_PROFILE_FACTS = 50  # facts of a profile, the most confident
MAX_PROFILE_RECORDS = 50  # records of a profile, the newest; a search finds the others
MAX_FACTS_OVER_TIME = 500  # current and former facts of an entity, the newest
MAX_RELATED = 8  # entities that most of the profile's records mention as well
MAX_SUGGESTIONS = 3  # names proposed where one is not known

_MAX_NAMES = LABELS // len(ATTRIBUTES)


@dataclass(frozen=True, slots=True)
class MentioningRecord:
    """A record that mentions the entity."""

    kind: str
    id: str
    at: datetime
    text: str
    taint: Taint | None = None

    @property
    def tainted(self) -> bool:
        return self.taint is not None


@dataclass(frozen=True, slots=True)
class RelatedEntity:
    """An entity mentioned in the same records, and the number of these records."""

    entity: Entity
    together: int


@dataclass(frozen=True, slots=True)
class TimelineFact:
    """A fact with the time from which it holds, or at which it was learned."""

    at: datetime
    text: str
    record: str
    tainted: bool = False


@dataclass(frozen=True, slots=True)
class Profile:
    """Facts by confidence, records newest first, timeline oldest first. The summary has no tainted facts."""

    entity: Entity
    aliases: tuple[str, ...]
    mentions: int
    summary: str
    facts: tuple[Knowledge, ...]
    records: tuple[MentioningRecord, ...]
    related: tuple[RelatedEntity, ...]
    timeline: tuple[TimelineFact, ...]


def profile(tx: Transaction, name: str, kind: EntityKind | None, settings: Settings) -> Profile:
    """The profile from the records visible to this scope; raises `NotFound` with similar names."""
    known = find_group(tx, name, kind, nearest=MAX_SUGGESTIONS)
    pairs = _linked_ids(tx, known, MAX_PROFILE_RECORDS)
    records = [record for kind, read in _READ.items() for record in _read(tx, read, kind, pairs)]
    linked = [record for record in records if isinstance(record, Knowledge)]
    facts = _facts(tx, known, linked, settings)
    trusted = [fact for fact in facts if not fact.tainted]
    return Profile(
        entity=known.entity,
        aliases=known.aliases,
        mentions=known.mentions,
        summary=" ".join(_sentence(fact.content) for fact in trusted[:SUMMARY_FACTS]),
        facts=facts,
        records=tuple(sorted(map(_mentioned, records), key=lambda each: (each.at, each.id), reverse=True)),
        related=_related(tx, known, [record for _, record in pairs], MAX_RELATED),
        timeline=tuple(sorted(map(_dated, facts), key=lambda each: (each.at, each.record))),
    )


def facts_over_time(tx: Transaction, name: str, kind: EntityKind | None) -> tuple[Knowledge, ...]:
    """Current and former facts of an entity, and the facts that replaced them, in the order of their beginning."""
    known = find_group(tx, name, kind, nearest=MAX_SUGGESTIONS)
    pairs = _linked_ids(tx, known, MAX_FACTS_OVER_TIME)
    stated = tx.knowledge.newest(KnowledgeFilter(fact_keys=_fact_keys(known)), limit=MAX_FACTS_OVER_TIME)
    linked = tx.knowledge.readable([id for kind_of, id in pairs if kind_of == "knowledge"])
    found = {match.value.id: match.value for match in (*stated, *linked)}
    later = [record.superseded_by for record in found.values() if record.superseded_by is not None]
    found |= {match.value.id: match.value for match in tx.knowledge.readable(dict.fromkeys(later))}
    kept = (record for record in found.values() if record.deleted_at is None)
    return tuple(sorted(kept, key=lambda each: (each.valid_from or each.created_at, each.id)))


def _linked_ids(tx: Transaction, known: EntityGroup, limit: int) -> dict[tuple[str, str], None]:
    """Kinds and ids of the newest records that mention the entity."""
    where = EntityLinkFilter(entities=known.ids[:LABELS])
    links = tx.entity_links.find(where, order=Order(by="created_at"), limit=limit).items
    return dict.fromkeys((link.record_kind, link.record) for link in links)


def _fact_keys(known: EntityGroup) -> tuple[str, ...]:
    return tuple(fact_key(name, attribute) for name in _names(known) for attribute in ATTRIBUTES)


def _names(known: EntityGroup) -> tuple[str, ...]:
    return tuple(dict.fromkeys((known.entity.name, *known.aliases)))[:_MAX_NAMES]


def _facts(
    tx: Transaction, known: EntityGroup, linked: Sequence[Knowledge], settings: Settings
) -> tuple[Knowledge, ...]:
    """Current facts: those about the entity, then those that mention it, each by confidence."""
    stated = tx.knowledge.newest(KnowledgeFilter(fact_keys=_fact_keys(known)), limit=MAX_PROFILE_FACTS)
    current = {
        record.id: record for record in (*(match.value for match in stated), *linked) if _is_current(record, tx.now)
    }
    subjects = {same_name(name) for name in _names(known)}

    def order(record: Knowledge) -> tuple[bool, float, str]:
        return not _is_about(record, subjects), -effective_confidence(record, tx.now, settings.trust), record.id

    return tuple(sorted(current.values(), key=order))[:MAX_PROFILE_FACTS]


def _is_current(record: Knowledge, now: datetime) -> bool:
    ended = record.valid_until is not None and record.valid_until <= now
    return record.deleted_at is None and record.deprecated_at is None and not record.flagged and not ended


def _is_about(record: Knowledge, subjects: set[str]) -> bool:
    fact = record.payload
    return isinstance(fact, Fact) and fact.subject is not None and same_name(fact.subject) in subjects


def _related(tx: Transaction, known: EntityGroup, records: Sequence[str], limit: int) -> tuple[RelatedEntity, ...]:
    """Entities by number of common records; of equals, those mentioned less elsewhere first."""
    if not records or not limit:
        return ()
    page = tx.entity_links.find(EntityLinkFilter(records=tuple(records)), limit=LABELS).items
    others = {link.entity for link in page} - set(known.ids)
    found = [each for each in tx.entities.get_many(others).values() if each.deleted_at is None]
    ends = {id: end for id, end in survivors(tx, found).items() if end.deleted_at is None}
    mentioned = {(link.record, ends[link.entity].id) for link in page if link.entity in ends}
    counted = Counter(id for _, id in mentioned)
    by_id = {end.id: end for end in ends.values() if end.id not in known.ids}
    order = sorted(by_id, key=lambda id: (-counted[id], by_id[id].mentions, id))
    return tuple(RelatedEntity(by_id[id], counted[id]) for id in order[:limit])


def _read(
    tx: Transaction,
    read: Callable[
        [Transaction, Sequence[str]], RecordMatches[Knowledge] | RecordMatches[Turn] | RecordMatches[Episode]
    ],
    kind: str,
    pairs: Iterable[tuple[str, str]],
) -> list[Record]:
    ids = [id for of, id in pairs if of == kind]
    found: list[Knowledge | Turn | Episode] = [match.value for match in read(tx, ids)] if ids else []
    return [record for record in found if record.deleted_at is None]


_READ: Mapping[
    str, Callable[[Transaction, Sequence[str]], RecordMatches[Knowledge] | RecordMatches[Turn] | RecordMatches[Episode]]
] = MappingProxyType(
    {
        "knowledge": lambda tx, ids: tx.knowledge.readable(ids),
        "turn": lambda tx, ids: tx.turns.readable(ids),
        "episode": lambda tx, ids: tx.episodes.readable(ids),
    }
)


def _mentioned(record: Record) -> MentioningRecord:
    kind = type(record).__name__.lower()
    at: datetime = record.created_at if isinstance(record, Knowledge) else getattr(record, "at")  # noqa: B009
    return MentioningRecord(kind, record.id, at, text_of(record), getattr(record, "taint", None))


def _dated(record: Knowledge) -> TimelineFact:
    return TimelineFact(record.valid_from or record.created_at, record.content, record.id, record.tainted)


def _sentence(text: str) -> str:
    line = " ".join(text.split())
    return line if line.endswith((".", "!", "?", "…", "。")) else f"{line}."
