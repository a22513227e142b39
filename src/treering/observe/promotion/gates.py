"""The gates of promotion up to novelty, and the final score. Pure: they read evidence and decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from treering.core.events import SessionOutcome, SessionType
from treering.core.observations import Candidate, Decision, Gate, SignalEvidence, evidence_id
from treering.core.taint import Taint
from treering.observe.promotion.drafts import Draft, Support, draft_of
from treering.observe.scratchpad import Signal
from treering.observe.signals import MIN_SCORE, SIGNALS, Note

SESSION_LIMITS: Mapping[SessionType, int] = {
    SessionType.BUILD: 20,
    SessionType.INSIGHTS: 5,
    SessionType.ROADMAP: 3,
    SessionType.TERMINAL: 3,
    SessionType.CHANGELOG: 0,
    SessionType.SPEC: 3,
    SessionType.PR_REVIEW: 8,
}
TAINTED_FACTOR = 0.7
MIN_COUPLING = 0.5  # share of the sessions with the busier file of a pair that have both
_VALIDATED_TYPES = frozenset({SessionType.BUILD, SessionType.SPEC, SessionType.PR_REVIEW})
_RULES = frozenset({"explicit_rule", "user_correction"})
_WRITTEN_BY_SYNTHESIS = frozenset({Signal.FILE_ACCESS, Signal.STEP_OVERRUN, Signal.TEST_ORDER})


@dataclass(frozen=True, slots=True)
class Proposal:
    """A candidate on its way through the gates; `gate` and `reason` are set where it was stopped."""

    note: Note
    evidence: SignalEvidence
    draft: Draft | None
    sessions: int
    score: float = 0.0
    taint: Taint | None = None
    coupling: float | None = None
    gate: Gate | None = None
    reason: str = ""

    @property
    def confidence(self) -> float:
        """Score of the signal, raised by repetition over sessions and lowered by taint."""
        spec = SIGNALS[self.note.signal]
        repeated = 0.7 + 0.3 * min(1.0, self.sessions / (2 * spec.min_sessions))
        return round(min(0.95, self.score * repeated) * (TAINTED_FACTOR if self.taint else 1.0), 4)

    def stopped(self, gate: Gate, reason: str) -> Proposal:
        return replace(self, gate=gate, reason=reason)

    def as_candidate(self, decision: Decision, record: str | None = None, reason: str | None = None) -> Candidate:
        draft, purged = self.draft, self.evidence.purged
        return Candidate.make(
            signal=self.note.signal.value,
            subject="" if purged else self.note.subject,
            type=draft.type if draft else SIGNALS[self.note.signal].promotes_to[0],
            text=draft.text if draft else "",
            decision=decision,
            gate=self.gate,
            reason=self.reason if reason is None else reason,
            files=() if purged else self.note.files,
            sessions=self.sessions,
            score=self.confidence,
            record=record,
            taint=self.taint,
        )


def proposals(
    notes: Sequence[Note],
    evidence: Mapping[str, SignalEvidence],
    *,
    type: SessionType,
    outcome: SessionOutcome,
    validated: bool | None,
    rates: Mapping[Signal, float],
    file_sessions: Mapping[str, int],
    other_orders: Mapping[str, int],
) -> list[Proposal]:
    """One proposal for each note that could become a record; the ones without a gate passed all pure checks.

    `evidence` is by id, `rates` are the project's false-positive rates by signal, `file_sessions` counts by file, and
    `other_orders` by evidence the sessions that ran the same commands in another order.
    """
    corroborated = _corroborated(notes)
    found = []
    for note in notes:
        spec = SIGNALS[note.signal]
        if note.signal in _WRITTEN_BY_SYNTHESIS or not spec.promotes_to:
            continue
        known = evidence[evidence_id(note.signal, note.subject)]
        if known.purged:
            forgotten = Proposal(note, known, None, len(known.sessions))
            found.append(forgotten.stopped(Gate.NOVELTY, "a record of this was forgotten"))
            continue
        proposal = _supported(note, known, rates.get(note.signal, spec.false_positive_rate), file_sessions)
        found.append(
            _typed(proposal, type)
            or _validated(proposal, type, outcome, validated)
            or _frequent(proposal, corroborated)
            or _coupled(proposal)
            or _ordered(proposal, other_orders)
            or _scored(proposal)
            or proposal
        )
    return found


def _supported(note: Note, evidence: SignalEvidence, rate: float, file_sessions: Mapping[str, int]) -> Proposal:
    """The proposal from untainted sessions if they are enough on their own, else from all of them, tainted."""
    spec = SIGNALS[note.signal]
    needed = _needed(note)
    clean = len(evidence.sessions)
    if clean >= needed or not evidence.tainted_sessions:
        sessions, detail, taint = clean, evidence.detail, None
    else:
        sessions = clean + len(evidence.tainted_sessions)
        detail, taint = {**evidence.detail, **evidence.tainted_detail}, evidence.taint
    coupling = _coupling(note, evidence, taint, file_sessions) if note.signal is Signal.CO_ACCESS else None
    support = Support(note.subject, detail, evidence.files, sessions, coupling)
    # A session that was forgotten took the details with it; the next one brings others.
    draft = draft_of(note.signal, support) if detail else None
    return Proposal(note, evidence, draft, sessions, spec.score_at(rate), taint, coupling)


def _coupling(note: Note, evidence: SignalEvidence, taint: Taint | None, file_sessions: Mapping[str, int]) -> float:
    """Share of the sessions with the busier file that have both. Counts all sessions: only the latest are listed."""
    together = evidence.occurrences - (len(evidence.tainted_sessions) if taint is None else 0)
    busiest = max((file_sessions.get(path, 0) for path in note.files), default=0)
    return together / max(busiest, together, 1)


def _needed(note: Note) -> int:
    """Sessions that the note needs.

    One is enough if several agents saw it, or for an error that came back and was then resolved. A conflict that one
    agent met may be chance, so it has to come back.
    """
    data = note.data
    if note.agents > 1 or (
        note.signal is Signal.ERROR_RETRY and _is_number_above(data.get("count"), 1) and data.get("resolution")
    ):
        return 1
    return 2 if note.signal is Signal.PARALLEL_CONFLICT else SIGNALS[note.signal].min_sessions


def _is_number_above(value: object, least: int) -> bool:
    return isinstance(value, int) and value > least


def _typed(proposal: Proposal, type: SessionType) -> Proposal | None:
    if type in SIGNALS[proposal.note.signal].session_types:
        return None
    return proposal.stopped(Gate.SESSION_TYPE, f"{type.value} sessions do not promote {proposal.note.signal.value}")


def _validated(
    proposal: Proposal, type: SessionType, outcome: SessionOutcome, validated: bool | None
) -> Proposal | None:
    draft = proposal.draft
    if draft is None:
        return proposal.stopped(Gate.VALIDATION, "the evidence does not make a statement that helps")
    if draft.dead_end or proposal.note.data.get("cue") in _RULES:
        return None
    if outcome is not SessionOutcome.SUCCESS:
        return proposal.stopped(Gate.VALIDATION, f"the session ended in {outcome.value}; only dead ends are kept")
    if validated is False and type in _VALIDATED_TYPES:
        return proposal.stopped(Gate.VALIDATION, "the result was not validated")
    return None


def _frequent(proposal: Proposal, corroborated: frozenset[str]) -> Proposal | None:
    note, needed = proposal.note, _needed(proposal.note)
    if proposal.sessions < needed:
        return proposal.stopped(Gate.FREQUENCY, f"seen in {proposal.sessions} of {needed} sessions that it needs")
    alone = SIGNALS[note.signal].needs_another or note.data.get("cue") == "self_correction"
    if alone and not corroborated.intersection(note.files):
        return proposal.stopped(Gate.FREQUENCY, "needs another signal about the same files")
    return None


def _coupled(proposal: Proposal) -> Proposal | None:
    """Files that are edited together by chance, because both are edited all the time, do not depend on each other."""
    share = proposal.coupling
    if share is not None and share < MIN_COUPLING:
        return proposal.stopped(Gate.FREQUENCY, f"together in {share:.0%} of the sessions; it needs {MIN_COUPLING:.0%}")
    return None


def _ordered(proposal: Proposal, other_orders: Mapping[str, int]) -> Proposal | None:
    """Commands that run in another order about as often have no usual order."""
    others = other_orders.get(proposal.evidence.id, 0)
    if 2 * others >= proposal.sessions > 0 and others:
        return proposal.stopped(Gate.FREQUENCY, f"in {others} sessions the same commands ran in another order")
    return None


def _scored(proposal: Proposal) -> Proposal | None:
    if proposal.score < MIN_SCORE:
        return proposal.stopped(Gate.SCORE, f"value {proposal.score:.2f} of the signal is below {MIN_SCORE}")
    return None


def _corroborated(notes: Sequence[Note]) -> frozenset[str]:
    """Files with an error or a backtrack."""
    strong = (Signal.ERROR_RETRY, Signal.BACKTRACK)
    return frozenset(path for note in notes if note.signal in strong for path in note.files)
