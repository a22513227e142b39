"""Whether a new record contradicts one that holds: found in the transaction that stores it."""

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
from treering.core.wording import LONGEST_STATEMENT, Wording
from treering.knowledge.authors import Author

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from treering.core.records import Knowledge
    from treering.ports.store import Transaction

_EVENTS = frozenset({"did", "plans"})
"""Attributes that tell of something that happens once: another number is another event."""

_READ = 80
"""Characters; a longer text rarely reads as one statement, and reading it takes as long as storing it."""


class Verdict(IntEnum):
    """How a new statement relates to one that holds; the larger, the surer."""

    UNRELATED = auto()
    CONFLICTS = auto()
    REPLACES = auto()


@dataclass(frozen=True)
class Said:
    """A record, as it is compared."""

    record: Knowledge

    @cached_property
    def wording(self) -> Wording:
        return Wording.of(self.record.content)

    @cached_property
    def parts(self) -> Stated | None:
        """Subject, attribute and value: given, or read from a short text."""
        if len(self.record.content) > _READ and self.record.payload is None:
            return None
        # The rules take longer to load than a record takes to store.
        from treering.knowledge.facts.similarity import stated

        return stated(self.record)

    @cached_property
    def formers(self) -> tuple[str, ...]:
        """Values that its words name as replaced."""
        if self.parts is None or _is_exclusive(self.parts.attribute):
            return ()
        from treering.knowledge.facts.similarity import formers

        return formers(self.record)

    def replaces_value_of(self, old: Said) -> bool:
        """Whether this value of an exclusive attribute is worded so that it replaces the other."""
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
        """Keys of all that it may contradict."""
        wording = self.wording
        named = (key for former in self.formers for key in Wording.of(former).keys)
        found = (*wording.keys, *wording.replaced_keys, *wording.opposed_keys, *filter(None, (self.key,)), *named)
        return tuple(dict.fromkeys(found))


class Comparison:
    """A new record beside those about the same thing. `said` is the record as it would be stored."""

    def __init__(self, record: Knowledge, now: datetime, *, limit: int) -> None:
        self.said = without_secrets(record).value
        self._new = Said(self.said)
        self._limit = limit if may_conflict(record, now) else 0
        self._keys = self._new.keys if self._limit else ()

    def with_parts(self, record: Knowledge) -> Knowledge:
        """The record with subject, attribute and value if its words state something that has one value at a time."""
        parts = self._new.parts if self._keys and record.payload is None else None
        if parts is None or not _is_exclusive(parts.attribute):
            return record
        return record.replace(payload={name: value for name, value in parts.__dict__.items() if value is not None})

    def near(self, tx: Transaction) -> Near:
        """The newest records about the same thing. No other transaction stores one until this one ends."""
        if not self._keys:
            return Near()
        for name in sorted(self._keys):
            tx.claim(f"statement {name}")
        where = KnowledgeFilter(
            statement_keys=self._keys,
            visibility=(self.said.visibility,),
            owners=(self.said.owner,) if self.said.visibility is Visibility.PERSONAL else (),
            deprecated=False,
            flagged=False,
        )
        found = tuple(match.value for match in tx.knowledge.newest(where, limit=self._limit))
        return Near(found, complete=len(found) < self._limit)

    def verdicts(self, near: Near, now: datetime) -> dict[str, Verdict]:
        """The records among these that hold and that the new one contradicts, each with how sure that is."""
        others = (each for each in near.records if each.id != self.said.id and _holds(each, now))
        found = {each.id: verdict(self._new, Said(each)) for each in others}
        return {id: how for id, how in found.items() if how is not Verdict.UNRELATED}


@dataclass(frozen=True, slots=True)
class Near:
    """Records about the same thing; `complete` if there are no others."""

    records: tuple[Knowledge, ...] = ()
    complete: bool = False


def may_conflict(record: Knowledge, now: datetime) -> bool:
    """Whether it states one thing that holds now."""
    states = issubclass(knowledge_type(record.type).payload, Stated) and len(record.content) <= LONGEST_STATEMENT
    return states and not record.flagged and record.deprecated_at is None and _holds(record, now)


def may_replace(new: Knowledge, against: Sequence[Knowledge], verdicts: Mapping[str, Verdict]) -> bool:
    """Whether a person says it, and there is one older record that cannot hold beside it."""
    by_person = Author(source=new.source, tainted=new.tainted).is_person
    sure = all(verdicts[old.id] is Verdict.REPLACES and old.created_at <= new.created_at for old in against)
    return by_person and sure and len(against) == 1


def verdict(new: Said, old: Said) -> Verdict:
    """By subject and attribute if both are known, else by the words."""
    if _is_elsewhere(new.record, old.record) or _names_another(new, old):
        return Verdict.UNRELATED
    if (mine := new.parts) is None or (theirs := old.parts) is None:
        return _by_words(new.wording, old.wording)
    if same_name(mine.subject or "") != same_name(theirs.subject or "") or _other_speaker(new, old):
        return Verdict.UNRELATED
    if new.key != old.key:
        return _by_words(new.wording, old.wording)
    return _by_parts(new, old, mine, theirs)


def _by_parts(new: Said, old: Said, mine: Stated, theirs: Stated) -> Verdict:
    """Of two statements with one subject and one attribute."""
    if same_name(mine.value or "") == same_name(theirs.value or ""):
        return Verdict.REPLACES if mine.negated != theirs.negated else Verdict.UNRELATED
    if mine.attribute not in ATTRIBUTES:
        return Verdict.CONFLICTS
    if mine.attribute in _EVENTS:
        return Verdict.UNRELATED
    if not _is_exclusive(mine.attribute):
        named = any(same_name(former) == same_name(theirs.value or "") for former in new.formers)
        return Verdict.REPLACES if named else _by_words(new.wording, old.wording, values_only=True)
    if mine.negated or theirs.negated or not new.replaces_value_of(old):
        return Verdict.UNRELATED
    # "The deadline" of a project may be that of anything in it.
    named = same_name(mine.subject or "") != PROJECT or new.wording.before == old.wording.before
    return Verdict.REPLACES if named else Verdict.CONFLICTS


def _by_words(new: Wording, old: Wording, *, values_only: bool = False) -> Verdict:
    """Of two statements in the same words but for a value, a negation, or what one names as replaced."""
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
    other = new.said != old.said and new.values == old.values
    named = new.names and old.names
    if not same_thing or not other or values_only or not (named or new.changes):
        return Verdict.UNRELATED
    return Verdict.REPLACES if named and new.changes else Verdict.CONFLICTS


def _one_value_differs(new: Wording, old: Wording) -> bool:
    """Whether exactly one value differs, and says something of the subject instead of naming it."""
    if len(new.values) != len(old.values):
        return False
    differing = [place for place, pair in enumerate(zip(new.values, old.values, strict=True)) if pair[0] != pair[1]]
    return len(differing) == 1 and not new.labels[differing[0]] and not old.labels[differing[0]]


def _names_another(new: Said, old: Said) -> bool:
    """Whether they say the same words of another ticket, room or file. Reading their parts takes far longer."""
    mine, theirs = new.wording, old.wording
    if old.record.payload is not None or mine.words != theirs.words or len(mine.values) != len(theirs.values):
        return False
    pairs = zip(mine.values, theirs.values, mine.labels, strict=True)
    return any(one != other and label for one, other, label in pairs)


def _is_exclusive(attribute: str | None) -> bool:
    known = ATTRIBUTES.get(attribute or "")
    return known is not None and known.exclusive


def _is_elsewhere(new: Knowledge, old: Knowledge) -> bool:
    """Whether they are about different files or modules."""
    pairs = ((new.files, old.files), (new.modules, old.modules))
    return any(mine and theirs and not set(mine) & set(theirs) for mine, theirs in pairs)


def _other_speaker(new: Said, old: Said) -> bool:
    """Whether two people speak of themselves."""
    if new.parts is None or old.parts is None or same_name(new.parts.subject or "") != SPEAKER:
        return False
    return (new.record.owner, new.parts.speaker) != (old.record.owner, old.parts.speaker)


def _holds(record: Knowledge, now: datetime) -> bool:
    begun = record.valid_from is None or record.valid_from <= now
    return begun and (record.valid_until is None or record.valid_until > now)
