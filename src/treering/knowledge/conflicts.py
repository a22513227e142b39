"""Conflicts of a new record with current ones, detected in the transaction that stores it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, auto
from functools import cached_property
from typing import TYPE_CHECKING

from treering.core.payloads import Stated, knowledge_type
from treering.core.queries import KnowledgeFilter
from treering.core.redaction import without_secrets
from treering.core.scope import Visibility
from treering.core.statements import ATTRIBUTES, PROJECT, SPEAKER, fact_key, same_name
from treering.core.wording import MAX_STATEMENT, Wording
from treering.knowledge.authors import Author

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from treering.core.records import Knowledge
    from treering.ports.store import Transaction

_EVENTS = frozenset({"did", "plans"})
"""Attributes of single events: another value is another event."""

_MAX_PARSED = 80
"""Characters; a longer text is rarely one statement, and parsing it takes as long as storing it."""


class Verdict(IntEnum):
    """How a new statement relates to a current one, in order of certainty."""

    UNRELATED = auto()
    CONFLICTS = auto()
    REPLACES = auto()


@dataclass(frozen=True)
class ComparedRecord:
    """A record with the parsed parts that are compared."""

    record: Knowledge

    @cached_property
    def wording(self) -> Wording:
        return Wording.of(self.record.content)

    @cached_property
    def parts(self) -> Stated | None:
        """Subject, attribute and value, from the payload or parsed from a short text."""
        if len(self.record.content) > _MAX_PARSED and self.record.payload is None:
            return None
        # Loading the rules takes longer than storing a record.
        from treering.knowledge.facts.similarity import stated_parts

        return stated_parts(self.record)

    @cached_property
    def replaced_values(self) -> tuple[str, ...]:
        """Values that the text names as replaced."""
        if self.parts is None or _is_exclusive(self.parts.attribute):
            return ()
        from treering.knowledge.facts.similarity import replaced_values

        return replaced_values(self.record)

    def replaces_value_of(self, old: ComparedRecord) -> bool:
        """Whether the wording shows that this value of an exclusive attribute replaces the other."""
        from treering.knowledge.facts.similarity import is_worded_to_replace, states_change

        if self.parts is None or old.parts is None:
            return False
        mine, theirs = (self.record.content, self.parts.value or ""), (old.record.content, old.parts.value or "")
        return states_change(self.record) or is_worded_to_replace(self.parts.attribute or "", mine, theirs)

    @cached_property
    def key(self) -> str | None:
        return None if self.parts is None else fact_key(self.parts.subject or "", self.parts.attribute or "")

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the records that it may contradict."""
        wording = self.wording
        named = (key for former in self.replaced_values for key in Wording.of(former).keys)
        found = (*wording.keys, *wording.replaced_keys, *wording.opposed_keys, *filter(None, (self.key,)), *named)
        return tuple(dict.fromkeys(found))


class ConflictCheck:
    """Compares a new record with similar ones. `redacted` is the record as it would be stored."""

    def __init__(self, record: Knowledge, now: datetime, *, limit: int) -> None:
        self.redacted = without_secrets(record).value
        self._new = ComparedRecord(self.redacted)
        self._limit = limit if may_conflict(record, now) else 0
        self._keys = self._new.keys if self._limit else ()

    def with_parts(self, record: Knowledge) -> Knowledge:
        """The record with parsed subject, attribute and value if the attribute has one value at a time."""
        parts = self._new.parts if self._keys and record.payload is None else None
        if parts is None or not _is_exclusive(parts.attribute):
            return record
        return record.replace(payload={name: value for name, value in parts.__dict__.items() if value is not None})

    @property
    def claims(self) -> tuple[str, ...]:
        """Claims that prevent other transactions from storing a similar record meanwhile."""
        return tuple(f"statement {name}" for name in sorted(self._keys))

    def similar(self, tx: Transaction) -> SimilarRecords:
        """The newest similar records; the transaction holds `claims`."""
        if not self._keys:
            return SimilarRecords()
        where = KnowledgeFilter(
            statement_keys=self._keys,
            visibility=(self.redacted.visibility,),
            owners=(self.redacted.owner,) if self.redacted.visibility is Visibility.PERSONAL else (),
            deprecated=False,
            flagged=False,
        )
        found = tuple(match.value for match in tx.knowledge.newest(where, limit=self._limit))
        return SimilarRecords(found, complete=len(found) < self._limit)

    def verdicts(self, similar: SimilarRecords, now: datetime) -> dict[str, Verdict]:
        """Verdicts by id for the current records that the new one contradicts."""
        others = (each for each in similar.records if each.id != self.redacted.id and _is_valid(each, now))
        found = {each.id: verdict_on(self._new, ComparedRecord(each)) for each in others}
        return {id: each for id, each in found.items() if each is not Verdict.UNRELATED}


@dataclass(frozen=True, slots=True)
class SimilarRecords:
    """Records with the same statement keys; `complete` if there are no others."""

    records: tuple[Knowledge, ...] = ()
    complete: bool = False


def may_conflict(record: Knowledge, now: datetime) -> bool:
    """Whether the record is a single statement that is valid now."""
    states = issubclass(knowledge_type(record.type).payload, Stated) and len(record.content) <= MAX_STATEMENT
    return states and not record.flagged and record.deprecated_at is None and _is_valid(record, now)


def may_replace(new: Knowledge, against: Sequence[Knowledge], verdicts: Mapping[str, Verdict]) -> bool:
    """Whether a person states it and it certainly replaces exactly one older record."""
    by_person = Author(source=new.source, tainted=new.tainted).is_person
    sure = all(verdicts[old.id] is Verdict.REPLACES and old.created_at <= new.created_at for old in against)
    return by_person and sure and len(against) == 1


def verdict_on(new: ComparedRecord, old: ComparedRecord) -> Verdict:
    """Compare by subject and attribute if both are known, else by the words."""
    if _has_other_place(new.record, old.record) or _has_other_label(new, old):
        return Verdict.UNRELATED
    if (mine := new.parts) is None or (theirs := old.parts) is None:
        return _by_words(new.wording, old.wording)
    if same_name(mine.subject or "") != same_name(theirs.subject or "") or _other_speaker(new, old):
        return Verdict.UNRELATED
    if new.key != old.key:
        return _by_words(new.wording, old.wording)
    return _by_parts(new, old, mine, theirs)


def _by_parts(new: ComparedRecord, old: ComparedRecord, mine: Stated, theirs: Stated) -> Verdict:
    """Verdict for two statements with the same subject and attribute."""
    if same_name(mine.value or "") == same_name(theirs.value or ""):
        return Verdict.REPLACES if mine.negated != theirs.negated else Verdict.UNRELATED
    if mine.attribute not in ATTRIBUTES:
        return Verdict.CONFLICTS
    if mine.attribute in _EVENTS:
        return Verdict.UNRELATED
    if not _is_exclusive(mine.attribute):
        named = any(same_name(former) == same_name(theirs.value or "") for former in new.replaced_values)
        return Verdict.REPLACES if named else _by_words(new.wording, old.wording, values_only=True)
    if mine.negated or theirs.negated or not new.replaces_value_of(old):
        return Verdict.UNRELATED
    # "The deadline" of a project may be that of anything in it.
    named = same_name(mine.subject or "") != PROJECT or new.wording.before == old.wording.before
    return Verdict.REPLACES if named else Verdict.CONFLICTS


def _by_words(new: Wording, old: Wording, *, values_only: bool = False) -> Verdict:
    """Verdict for two statements that differ in one value, a negation, or a value named as replaced."""
    sure = Verdict.REPLACES if new.changes else Verdict.CONFLICTS
    if new.words == old.words:
        if new.negated != old.negated and new.values == old.values:
            return sure
        return sure if new.negated == old.negated and _one_value_differs(new, old) else Verdict.UNRELATED
    if new.asserted == old.asserted and new.denies != old.denies and new.values == old.values:
        return sure
    if new.changes and old.words & new.over and old.words < new.words and len(new.words - old.words) == 1:
        return Verdict.REPLACES
    same_thing = new.before == old.before != frozenset() and new.negated == old.negated
    other = new.after != old.after and new.values == old.values
    named = new.names and old.names
    if not same_thing or not other or values_only or not (named or new.changes):
        return Verdict.UNRELATED
    return Verdict.REPLACES if named and new.changes else Verdict.CONFLICTS


def _one_value_differs(new: Wording, old: Wording) -> bool:
    """Whether exactly one value differs and is not a label such as a ticket number."""
    if len(new.values) != len(old.values):
        return False
    differing = [place for place, pair in enumerate(zip(new.values, old.values, strict=True)) if pair[0] != pair[1]]
    return len(differing) == 1 and not new.labels[differing[0]] and not old.labels[differing[0]]


def _has_other_label(new: ComparedRecord, old: ComparedRecord) -> bool:
    """Whether the same words are about another ticket, room or file; checked first because parsing is slower."""
    mine, theirs = new.wording, old.wording
    if old.record.payload is not None or mine.words != theirs.words or len(mine.values) != len(theirs.values):
        return False
    pairs = zip(mine.values, theirs.values, mine.labels, strict=True)
    return any(one != other and label for one, other, label in pairs)


def _is_exclusive(attribute: str | None) -> bool:
    known = ATTRIBUTES.get(attribute or "")
    return known is not None and known.exclusive


def _has_other_place(new: Knowledge, old: Knowledge) -> bool:
    """Whether they are about different files or modules."""
    pairs = ((new.files, old.files), (new.modules, old.modules))
    return any(mine and theirs and not set(mine) & set(theirs) for mine, theirs in pairs)


def _other_speaker(new: ComparedRecord, old: ComparedRecord) -> bool:
    """Whether the statements are about two different speakers."""
    if new.parts is None or old.parts is None or same_name(new.parts.subject or "") != SPEAKER:
        return False
    return (new.record.owner, new.parts.speaker) != (old.record.owner, old.parts.speaker)


def _is_valid(record: Knowledge, now: datetime) -> bool:
    begun = record.valid_from is None or record.valid_from <= now
    return begun and (record.valid_until is None or record.valid_until > now)
