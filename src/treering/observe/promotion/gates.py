"""The gates of promotion up to novelty, and the final score. Pure: they read evidence and decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

from treering.core.events import SessionOutcome, SessionType
from treering.core.observations import Candidate, Gate, GateDecision, SignalEvidence, evidence_id
from treering.core.taint import TAINTED_FACTOR, Taint
from treering.observe.promotion.drafts import MIN_EFFECT_SESSIONS, Draft, EvidenceSupport, draft_of
from treering.observe.promotion.tallies import best_way, is_proven, joined, lower_bound, sessions_with, tallied
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
# More than the table's minimum: with it, too few of the records held in later sessions (docs/decisions/0029).
_MIN_SESSIONS: Mapping[Signal, int] = {
    Signal.CO_ACCESS: 4,
    Signal.PARALLEL_CONFLICT: 3,
    Signal.REPEATED_GREP: 3,
    Signal.CONFIG_TOUCH: 3,
}
MIN_SHARE = 0.4  # lower bound of the share of the sessions with the file, or the busier of two, that show the same
MEASURED_BY_FILE = frozenset({Signal.CO_ACCESS, Signal.BACKTRACK})
"""Signals that a busy file shows by chance, so that they have to occur in most of its sessions."""
_VALIDATED_TYPES = frozenset({SessionType.BUILD, SessionType.SPEC, SessionType.PR_REVIEW})
_RULES = frozenset({"explicit_rule", "user_correction"})
_WRITTEN_BY_SYNTHESIS = frozenset(
    {Signal.FILE_ACCESS, Signal.STEP_OVERRUN, Signal.TEST_ORDER, Signal.CONTEXT_TOKEN_SPIKE}
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A candidate on its way through the gates; `gate` and `reason` are set where it was stopped."""

    note: Note
    evidence: SignalEvidence
    draft: Draft | None
    sessions: int
    score: float = 0.0
    taint: Taint | None = None
    bound: float | None = None
    """Lower bound of the share of the file's sessions that show it."""
    gate: Gate | None = None
    reason: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)

    @property
    def confidence(self) -> float:
        """Score of the signal, raised by repetition over sessions and lowered by taint."""
        spec = SIGNALS[self.note.signal]
        repeated = 0.7 + 0.3 * min(1.0, self.sessions / (2 * spec.min_sessions))
        return round(min(0.95, self.score * repeated) * (TAINTED_FACTOR if self.taint else 1.0), 4)

    def stopped(self, gate: Gate, reason: str) -> Proposal:
        return replace(self, gate=gate, reason=reason)

    def as_candidate(self, decision: GateDecision, record: str | None = None, reason: str | None = None) -> Candidate:
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
    opposites: Mapping[str, int],
) -> list[Proposal]:
    """One proposal for each note that could become a record; the ones without a gate passed all pure checks.

    `evidence` is by id, `rates` are the project's false-positive rates by signal, `file_sessions` counts by file,
    `other_orders` by evidence the sessions that ran the same commands in another order, and `opposites` by way how
    often the opposite resolved an error.
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
            or _resolved_again(proposal, opposites)
            or _ordered(proposal, other_orders)
            or _scored(proposal)
            or proposal
        )
    return found


def _supported(note: Note, evidence: SignalEvidence, rate: float, file_sessions: Mapping[str, int]) -> Proposal:
    """The proposal from untainted sessions if they are enough on their own, else from all of them, tainted."""
    spec = SIGNALS[note.signal]
    sessions, taint = _sessions(note, evidence, evidence.detail, len(evidence.sessions)), None
    detail: Mapping[str, Any] = evidence.detail
    if evidence.tainted_sessions and not _suffices(note, detail, sessions):
        detail, taint = joined(evidence.detail, evidence.tainted_detail), evidence.taint
        sessions = _sessions(note, evidence, detail, len(evidence.sessions) + len(evidence.tainted_sessions))
    share = bound = None
    if note.signal in MEASURED_BY_FILE:
        paths = note.files if note.signal is Signal.CO_ACCESS else note.files[:1]
        busiest = max(sessions, *(file_sessions.get(path, 0) for path in paths), 1)
        share, bound = sessions / busiest, lower_bound(sessions, busiest)
    support = EvidenceSupport(note.subject, detail, evidence.files, sessions, share)
    # A session that was forgotten took the details with it; the next one brings others.
    draft = draft_of(note.signal, support) if detail else None
    return Proposal(note, evidence, draft, sessions, spec.score_at(rate), taint, bound, detail=detail)


def _sessions(note: Note, evidence: SignalEvidence, detail: Mapping[str, Any], sessions: int) -> int:
    """Sessions that support the note; of a pair of files, those that edited both."""
    return sessions_with(detail, "edited") if note.signal is Signal.CO_ACCESS else sessions


def _suffices(note: Note, detail: Mapping[str, Any], sessions: int) -> bool:
    """Whether this evidence makes a record without more sessions."""
    if sessions < _needed(note):
        return False
    if note.signal is Signal.ERROR_RETRY:
        way = best_way(detail)
        return way is not None and is_proven(detail, way)
    if note.signal is Signal.CONFIG_TOUCH:
        return any(each.sessions >= MIN_EFFECT_SESSIONS for each in tallied(detail))
    return True


def _needed(note: Note) -> int:
    """Sessions that the note needs.

    One is enough if several agents saw it, or for an error that was resolved in the same way again. A conflict that
    one agent met may be chance, so it has to come back.
    """
    if note.agents > 1 or (note.signal is Signal.ERROR_RETRY and _has_again(note.data.get("tally"))):
        return 1
    return _MIN_SESSIONS.get(note.signal, SIGNALS[note.signal].min_sessions)


def _has_again(tally: object) -> bool:
    return isinstance(tally, Mapping) and any(times > 1 for times in tally.values())


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


def _frequent(proposal: Proposal, corroborated: Mapping[str, Set[Signal]]) -> Proposal | None:
    note, needed = proposal.note, _needed(proposal.note)
    if proposal.sessions < needed:
        return proposal.stopped(Gate.FREQUENCY, f"seen in {proposal.sessions} of {needed} sessions that it needs")
    alone = SIGNALS[note.signal].needs_another or note.data.get("cue") == "self_correction"
    if alone and not any(corroborated.get(path, frozenset()) - {note.signal} for path in note.files):
        return proposal.stopped(Gate.FREQUENCY, "needs another signal about the same files")
    return None


def _coupled(proposal: Proposal) -> Proposal | None:
    """Files that are edited all the time are edited together, or corrected, by chance."""
    bound = proposal.bound
    if bound is not None and bound < MIN_SHARE:
        reason = f"in at least {bound:.0%} of the sessions with the file; it needs {MIN_SHARE:.0%}"
        return proposal.stopped(Gate.FREQUENCY, reason)
    return None


def _resolved_again(proposal: Proposal, opposites: Mapping[str, int]) -> Proposal | None:
    """What preceded one success may be chance: the same has to resolve the error again, and prevail."""
    if proposal.note.signal is not Signal.ERROR_RETRY:
        return None
    way = best_way(proposal.detail)
    if way is None or not is_proven(proposal.detail, way):
        return proposal.stopped(Gate.FREQUENCY, "no resolution worked twice and in at least half of the cases")
    others = opposites.get(way.name, 0)
    if others and 2 * others >= way.times:
        return proposal.stopped(Gate.FREQUENCY, f"the opposite resolved an error {others} times")
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


def _corroborated(notes: Sequence[Note]) -> Mapping[str, Set[Signal]]:
    """Files with an error or a backtrack, and which of the two."""
    found: dict[str, set[Signal]] = {}
    for note in notes:
        if note.signal in (Signal.ERROR_RETRY, Signal.BACKTRACK):
            for path in note.files:
                found.setdefault(path, set()).add(note.signal)
    return found
