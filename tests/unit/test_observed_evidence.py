"""Evidence of a signal over sessions."""

from tests.samples import NOW
from treering.core.observations import SignalEvidence
from treering.observe.promotion.evidence import with_note
from treering.observe.scratchpad import Signal
from treering.observe.signals import Note


def spike(tokens: int, taint: str | None = None) -> Note:
    return Note(Signal.CONTEXT_TOKEN_SPIKE, "make logs", {"tokens": tokens}, (), step=1, taint=taint)


def over(*seen: tuple[str, Note]) -> SignalEvidence:
    evidence: SignalEvidence | None = None
    for session, note in seen:
        evidence = with_note(evidence, note, session, NOW)
    assert evidence is not None
    return evidence


def test_a_mean_counts_each_session_once() -> None:
    evidence = over(("a", spike(1_000)), *[("b", spike(9_000))] * 5)
    assert evidence.detail["mean_tokens"] == 5_000
    assert (evidence.sessions, evidence.occurrences) == (("a", "b"), 2)


def test_tainted_sessions_change_neither_sessions_nor_details_of_untainted_ones() -> None:
    clean = over(("a", spike(1_000)))
    evidence = with_note(clean, spike(9_000, "web: example.com"), "b", NOW)
    assert (evidence.sessions, evidence.tainted_sessions) == (("a",), ("b",))
    assert evidence.detail == clean.detail
    assert evidence.taint is not None
