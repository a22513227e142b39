"""Records of synthesis: each subject has one record, which is renewed when the statistics change."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from treering.core.history import Action
from treering.core.observations import SYNTHESIS, evidence_id
from treering.core.payloads import knowledge_type
from treering.core.records import Knowledge, Source
from treering.core.taint import TAINTED_FACTOR
from treering.jobs.follow_up import queue_follow_up_jobs
from treering.knowledge.reinforcement import reinforce
from treering.observe.promotion.novelty import same_meaning
from treering.observe.promotion.rates import is_rejected
from treering.observe.scratchpad.path_kinds import module_of
from treering.observe.synthesis.statistics import new_row

if TYPE_CHECKING:
    from treering.core.observations import SignalEvidence
    from treering.core.records import WorkUnit
    from treering.core.taint import Taint
    from treering.ports.clock import NewId
    from treering.ports.models import Models
    from treering.ports.store import Transaction

_MAX_MODULES = 5
_MAX_FILES = 20
_MAX_SESSIONS = 100


class RecordOutcome(StrEnum):
    """What became of a draft."""

    CREATED = "created"
    RENEWED = "renewed"
    REINFORCED = "reinforced"
    UNCHANGED = "unchanged"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class SynthesisDraft:
    """A record that statistics support. `subject` is the same whenever the same thing is synthesised."""

    type: str
    subject: str
    text: str
    payload: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    confidence: float = 0.7
    taint: Taint | None = None
    tags: tuple[str, ...] = ()
    needs_review: bool = False
    work_unit: WorkUnit | None = None
    renewal_only: bool = False
    """Not worth a new record, but a known one has to be corrected."""
    is_distinct: bool = False
    """Never the same as a record of another subject, however similar they are."""
    source: Source = Source.OBSERVER_INFERRED
    evidence: str | None = None
    """Id of the evidence of a signal about the same subject, so that promotion continues the same record."""


@dataclass(frozen=True, slots=True)
class DraftGroup:
    """Drafts of which at most `limit` become new records, the first ones first."""

    drafts: Sequence[SynthesisDraft]
    limit: int


@dataclass(frozen=True, slots=True)
class SynthesisWriter:
    """Writes drafts inside one transaction, which holds the project's claim on promotion."""

    tx: Transaction
    models: Models
    new_id: NewId

    def write(self, groups: Sequence[DraftGroup]) -> list[list[RecordOutcome]]:
        """The outcomes of each group's drafts. Of two drafts of one subject, the first is written.

        Call it once in a transaction: it claims the records that it changes before it changes any.
        """
        drafts = [
            *{(each.type, each.subject): each for group in reversed(groups) for each in group.drafts[::-1]}.values()
        ]
        rows = dict(zip(map(id, drafts), self._rows(drafts), strict=True))
        new = [
            each for each in drafts if rows[id(each)].record is None and not each.renewal_only and not each.is_distinct
        ]
        similar = dict(
            zip(map(id, new), same_meaning(self.tx, self.models, [(each.type, each.text) for each in new]), strict=True)
        )
        known = self._claimed({*filter(None, similar.values()), *(row.record for row in rows.values() if row.record)})
        changed: list[SignalEvidence] = []
        outcomes = []
        for group in groups:
            created, found = 0, list[RecordOutcome]()
            for draft in group.drafts:
                row = rows.get(id(draft))
                if row is None:
                    found.append(RecordOutcome.UNCHANGED)
                    continue
                outcome, after = self._written(draft, row, known, similar.get(id(draft)), full=created >= group.limit)
                created += outcome is RecordOutcome.CREATED
                found.append(outcome)
                if after is not row:
                    changed += (after, *self._linked_evidence(draft, after))
            outcomes.append(found)
        self.tx.evidence.put_many({row.id: row for row in changed}.values())
        if any(each in (RecordOutcome.CREATED, RecordOutcome.RENEWED) for found in outcomes for each in found):
            queue_follow_up_jobs(self.tx, self.new_id)
        return outcomes

    def _claimed(self, ids: Collection[str]) -> dict[str, Knowledge]:
        """Claim the records in sorted order before any change, so that transactions cannot deadlock."""
        for id in sorted(ids):
            self.tx.claim(f"record {id}")
        return dict(self.tx.knowledge.get_many(ids))

    def _written(
        self,
        draft: SynthesisDraft,
        row: SignalEvidence,
        known: Mapping[str, Knowledge],
        same: str | None,
        *,
        full: bool,
    ) -> tuple[RecordOutcome, SignalEvidence]:
        if row.record is not None:
            return self._renew(draft, row, known.get(row.record))
        if same is not None:
            return self._reinforce(draft, row, known.get(same))
        if full or draft.renewal_only:
            return RecordOutcome.REJECTED, row
        return RecordOutcome.CREATED, self._create(draft, row)

    def _rows(self, drafts: Sequence[SynthesisDraft]) -> list[SignalEvidence]:
        """The row of each draft's subject. Evidence of a signal that has a record lends it to the subject."""
        subjects = [f"{each.type}: {each.subject}" for each in drafts]
        ids = [evidence_id(SYNTHESIS, subject) for subject in subjects]
        known = self.tx.evidence.get_many([*ids, *(each.evidence for each in drafts if each.evidence is not None)])
        rows = []
        for draft, id, subject in zip(drafts, ids, subjects, strict=True):
            row = known.get(id) or new_row(SYNTHESIS, subject, self.tx.now)
            other = known.get(draft.evidence) if draft.evidence is not None else None
            if row.record is None and other is not None and other.record is not None:
                row = row.replace(record=other.record)
            rows.append(row)
        return rows

    def _create(self, draft: SynthesisDraft, row: SignalEvidence) -> SignalEvidence:
        record = self.tx.knowledge.create(self._record(draft))
        return row.replace(record=record.id, text=record.content, last_seen_at=self.tx.now)

    def _renew(
        self, draft: SynthesisDraft, row: SignalEvidence, known: Knowledge | None
    ) -> tuple[RecordOutcome, SignalEvidence]:
        """Write the new text to the record, unless a person changed it or took it back."""
        if known is None or is_rejected(known) or not _may_change(draft, known):
            return RecordOutcome.REJECTED, row
        if row.text == draft.text:
            return RecordOutcome.UNCHANGED, row
        ours = known.content == row.text and not known.is_from_person
        if not ours:
            return (self._reinforce(draft, row, known)) if not row.text else (RecordOutcome.UNCHANGED, row)
        record = self._record(draft)
        stored = reinforce(self.tx, known, record)
        renewed = stored.replace(content=record.content, payload=record.payload)
        self.tx.knowledge.update(renewed, Action.REINFORCE)
        return RecordOutcome.RENEWED, row.replace(text=draft.text, last_seen_at=self.tx.now)

    def _reinforce(
        self, draft: SynthesisDraft, row: SignalEvidence, known: Knowledge | None
    ) -> tuple[RecordOutcome, SignalEvidence]:
        """Add the sessions to a record that says the same and has its own text."""
        if known is None or is_rejected(known) or not _may_change(draft, known):
            return RecordOutcome.REJECTED, row
        reinforce(self.tx, known, self._record(draft))
        return RecordOutcome.REINFORCED, row.replace(record=known.id, text=draft.text, last_seen_at=self.tx.now)

    def _linked_evidence(self, draft: SynthesisDraft, row: SignalEvidence) -> list[SignalEvidence]:
        other = self.tx.evidence.get(draft.evidence) if draft.evidence is not None else None
        return [] if other is None or other.record is not None else [other.replace(record=row.record, text=row.text)]

    def _record(self, draft: SynthesisDraft) -> Knowledge:
        now, factor = self.tx.now, TAINTED_FACTOR if draft.taint is not None else 1.0
        modules = draft.modules or tuple(dict.fromkeys(map(module_of, draft.files)))
        fields: dict[str, Any] = {
            "id": self.new_id(),
            "type": draft.type,
            "content": draft.text,
            "payload": draft.payload or None,
            "confidence": round(min(0.95, draft.confidence) * factor, 4),
            "tags": (SYNTHESIS, *draft.tags),
            "files": draft.files[:_MAX_FILES],
            "modules": modules[:_MAX_MODULES],
            "source": draft.source,
            "provenance_sessions": draft.sessions[-_MAX_SESSIONS:],
            "owner": self.tx.scope.principal,
            "half_life_days": knowledge_type(draft.type).half_life_days,
            "taint": draft.taint,
            "needs_review": draft.needs_review or draft.taint is not None,
            "work_unit": draft.work_unit,
            **dict.fromkeys(("created_at", "updated_at", "last_accessed_at"), now),
        }
        return Knowledge.make(**fields)


def _may_change(draft: SynthesisDraft, known: Knowledge) -> bool:
    """Tainted statistics and a model's words leave a record that is free of both as it is."""
    if draft.taint is not None and not known.tainted:
        return False
    return known.needs_review or not draft.needs_review
