"""The end of a session: notes become evidence, and what the evidence supports becomes records, in one transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Any

from treering.core.events import SessionOutcome
from treering.core.history import Action
from treering.core.observations import (
    SIGNAL_TAG,
    Candidate,
    Gate,
    GateDecision,
    ObservedSession,
    SignalEvidence,
    evidence_id,
)
from treering.core.payloads import knowledge_type
from treering.core.queries import SignalEvidenceFilter
from treering.core.records import Knowledge, Source
from treering.jobs.follow_up import queue_follow_up_jobs
from treering.knowledge.reinforcement import reinforce
from treering.observe.errors.resolution import opposite_of
from treering.observe.promotion.evidence import with_note
from treering.observe.promotion.gates import MEASURED_BY_FILE, SESSION_LIMITS, Proposal, proposals
from treering.observe.promotion.novelty import same_meaning
from treering.observe.promotion.rates import false_positive_rates, is_rejected
from treering.observe.promotion.tallies import ways_in
from treering.observe.scratchpad import Signal
from treering.observe.scratchpad.path_kinds import module_of
from treering.observe.signals.command_signals import SEQUENCE_ARROW

if TYPE_CHECKING:
    from treering.observe.signals import Note
    from treering.ports.clock import NewId
    from treering.ports.models import Models
    from treering.ports.store import Transaction

_MAX_MODULES = 5


@dataclass(frozen=True, slots=True)
class Promotion:
    """Promotes the notes of one session inside one transaction, which holds the project's claim on promotion.

    The session and those in `continued`, whose events it repeats, count as one.
    """

    tx: Transaction
    session: ObservedSession
    models: Models
    new_id: NewId
    continued: tuple[str, ...] = ()

    def run(self, notes: Sequence[Note]) -> tuple[Candidate, ...]:
        """Store the evidence of the notes and the records that it supports; return every candidate with its fate."""
        evidence = self._evidence(notes)
        session = self.session
        found = proposals(
            notes,
            evidence,
            type=session.type,
            outcome=session.outcome or SessionOutcome.ABANDONED,
            validated=session.validated,
            rates=false_positive_rates(self.tx, (note.signal for note in notes)),
            file_sessions=self._file_sessions(notes, evidence),
            other_orders=self._other_orders(notes),
            opposites=self._opposites(evidence),
        )
        ready = sorted((each for each in found if each.gate is None), key=lambda each: -each.confidence)
        stopped = [each.as_candidate(GateDecision.REJECTED) for each in found if each.gate is not None]
        candidates = [*self._promoted(ready, evidence), *stopped]
        self.tx.evidence.put_many(evidence.values())
        return tuple(candidates)

    def _evidence(self, notes: Sequence[Note]) -> dict[str, SignalEvidence]:
        """The evidence of each note with this session, by id."""
        notes_by_id = {evidence_id(note.signal, note.subject): note for note in notes}
        known = self.tx.evidence.get_many(notes_by_id)
        now = self.tx.now
        return {
            id: with_note(known.get(id), note, self._counted_as(known.get(id)), now) for id, note in notes_by_id.items()
        }

    def _counted_as(self, known: SignalEvidence | None) -> str:
        """The session under which the evidence counts this one: one that it continues, if that is counted."""
        counted = set() if known is None else {*known.sessions, *known.tainted_sessions}
        return next((id for id in self.continued if id in counted), self.session.id)

    def _file_sessions(self, notes: Sequence[Note], evidence: dict[str, SignalEvidence]) -> dict[str, int]:
        """Number of sessions by file, for signals that are measured by it."""
        paths = {path for note in notes if note.signal in MEASURED_BY_FILE for path in note.files}
        counts = {each.subject: each.occurrences for each in evidence.values() if each.signal == Signal.FILE_ACCESS}
        missing = {evidence_id(Signal.FILE_ACCESS, path): path for path in paths - counts.keys()}
        for id, each in self.tx.evidence.get_many(missing).items():
            counts[missing[id]] = each.occurrences
        return counts

    def _other_orders(self, notes: Sequence[Note]) -> dict[str, int]:
        """By evidence of a command sequence, the most sessions that ran (two of) its commands in another order."""
        orders: dict[str, list[str]] = {}
        for note in notes:
            if note.signal is Signal.TOOL_SEQUENCE:
                commands = note.subject.split(SEQUENCE_ARROW)
                others = [SEQUENCE_ARROW.join(each) for each in permutations(commands) if list(each) != commands]
                others += [SEQUENCE_ARROW.join((after, before)) for before, after in combinations(commands, 2)]
                id = evidence_id(Signal.TOOL_SEQUENCE, note.subject)
                orders[id] = [evidence_id(Signal.TOOL_SEQUENCE, other) for other in others]
        known = self.tx.evidence.get_many(other for others in orders.values() for other in others)
        return {
            id: max((len(known[other].sessions) for other in others if other in known), default=0)
            for id, others in orders.items()
        }

    def _opposites(self, evidence: Mapping[str, SignalEvidence]) -> dict[str, int]:
        """How often each way of the errors that names two forms of a command was the other way round."""
        errors = [each for each in evidence.values() if each.signal == Signal.ERROR_RETRY]
        wanted = {other for each in errors for way in ways_in(each) if (other := opposite_of(way)) is not None}
        if not wanted:  # the other errors of the project are read only if two forms were exchanged
            return {}
        stored = self.tx.evidence.stream(SignalEvidenceFilter(signals=(Signal.ERROR_RETRY.value,)))
        times = Counter[str]()
        for each in (*errors, *(row for row in stored if row.id not in evidence)):
            for way, count in ways_in(each).items():
                if way in wanted:
                    times[str(opposite_of(way))] += count
        return times

    def _promoted(self, ready: Sequence[Proposal], evidence: dict[str, SignalEvidence]) -> list[Candidate]:
        """Reinforce what is known, and create what is new until the limit of the session type is reached."""
        fresh = [each for each in ready if each.evidence.record is None]
        texts = [(each.draft.type, each.draft.text) for each in fresh if each.draft is not None]
        similar = dict(
            zip((each.evidence.id for each in fresh), same_meaning(self.tx, self.models, texts), strict=True)
        )
        known_records = self._claimed(
            {*filter(None, similar.values()), *(each.evidence.record for each in ready if each.evidence.record)}
        )
        created, candidates, limit = 0, list[Candidate](), SESSION_LIMITS[self.session.type]
        for proposal in ready:
            key = proposal.evidence.id
            known_id = proposal.evidence.record or similar.get(key)
            if proposal.evidence.record is not None and is_rejected(known_records.get(proposal.evidence.record)):
                rejected = proposal.stopped(Gate.NOVELTY, "a record of this was corrected, flagged or forgotten")
                candidates.append(rejected.as_candidate(GateDecision.REJECTED))
                continue
            if known_id in known_records:
                candidate, known_records[known_id] = self._reinforced(proposal, known_records[known_id], evidence)
                candidates.append(candidate)
                continue
            if created >= limit:
                over = proposal.stopped(
                    Gate.LIMIT, f"{self.session.type.value} sessions promote at most {limit} records"
                )
                candidates.append(over.as_candidate(GateDecision.REJECTED))
                continue
            record = self.tx.knowledge.create(self._record(proposal))
            evidence[key] = evidence[key].replace(record=record.id, text=record.content)
            candidates.append(proposal.as_candidate(GateDecision.PROMOTED, record.id, _promoted_reason(proposal)))
            created += 1
        if created:
            queue_follow_up_jobs(self.tx, self.new_id)
        return candidates

    def _claimed(self, ids: Collection[str]) -> dict[str, Knowledge]:
        """Claim the records in sorted order before any change, so that transactions cannot deadlock."""
        for id in sorted(ids):
            self.tx.claim(f"record {id}")
        return dict(self.tx.knowledge.get_many(ids))

    def _reinforced(
        self, proposal: Proposal, known: Knowledge, evidence: dict[str, SignalEvidence]
    ) -> tuple[Candidate, Knowledge]:
        """Add the session to a known record; return it as it is then.

        Tainted evidence leaves an untainted record as it is.
        """
        if proposal.taint is not None and not known.tainted:
            tainted = proposal.stopped(Gate.TRUST, "tainted evidence does not change an untainted record")
            return tainted.as_candidate(GateDecision.REJECTED, known.id), known
        ours, last = proposal.evidence.record == known.id, proposal.evidence.text
        record = self._record(proposal)
        is_renewed = ours and known.content == last != record.content and not known.is_from_person
        written = known.replace(content=record.content, payload=record.payload) if is_renewed else known
        stored = reinforce(self.tx, written, record)
        if is_renewed and stored is written:  # the session was counted before, but says something else now
            stored = self.tx.knowledge.update(written, Action.REINFORCE)
        changed = evidence[proposal.evidence.id].replace(record=known.id, text=stored.content if ours else last)
        evidence[changed.id] = changed
        reason = "a record that says the same was strengthened"
        return proposal.as_candidate(GateDecision.REINFORCED, known.id, reason), stored

    def _record(self, proposal: Proposal) -> Knowledge:
        draft, now, session = proposal.draft, self.tx.now, self.session
        if draft is None:
            raise AssertionError("a proposal without a draft does not pass the gates")
        supporting = (
            proposal.evidence.sessions
            if proposal.taint is None
            else (
                *proposal.evidence.sessions,
                *proposal.evidence.tainted_sessions,
            )
        )
        fields: dict[str, Any] = {
            "id": self.new_id(),
            "type": draft.type,
            "content": draft.text,
            "payload": draft.payload or None,
            "confidence": proposal.confidence,
            "tags": (f"{SIGNAL_TAG}{proposal.note.signal.value}",),
            "files": proposal.evidence.files,
            "modules": tuple(dict.fromkeys(map(module_of, proposal.evidence.files)))[:_MAX_MODULES],
            "source": Source.OBSERVER_INFERRED,
            "session": session.id,
            "provenance_sessions": supporting,
            "owner": session.owner,
            "visibility": session.visibility,
            "half_life_days": knowledge_type(draft.type).half_life_days,
            "taint": proposal.taint,
            "needs_review": proposal.taint is not None or proposal.note.signal is Signal.SELF_CORRECTION,
            **dict.fromkeys(("created_at", "updated_at", "last_accessed_at"), now),
        }
        return Knowledge.make(**fields)


def _promoted_reason(proposal: Proposal) -> str:
    sessions = "1 session" if proposal.sessions == 1 else f"{proposal.sessions} sessions"
    return f"seen in {sessions}" + (f"; waits for review: {proposal.taint}" if proposal.taint else "")
