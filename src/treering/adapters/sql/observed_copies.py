"""Copies of a purged record's words in observed sessions, their scratchpads and the evidence of signals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from treering.adapters.sql.kinds import OBSERVED_SESSIONS, SCRATCHPADS, SIGNAL_EVIDENCE
from treering.adapters.sql.records import DerivedRecords
from treering.core.observation_removal import (
    evidence_without_content,
    quotes,
    scratchpad_without_words,
    session_without_words,
    words_of,
)
from treering.core.observations import evidence_id, session_claim
from treering.core.queries import ObservedSessionFilter, SignalEvidenceFilter, TimeRange

if TYPE_CHECKING:
    from treering.adapters.sql.context import TransactionContext
    from treering.core.observations import ObservedSession

_MAX_EVIDENCE = 1_000


def forget_observed_record(context: TransactionContext, id: str, texts: Sequence[str], sessions: Iterable[str]) -> None:
    """Remove the words of a promoted record from the sessions that it came from, and from its evidence.

    The evidence stays without content, so that the record is not promoted again. Records without evidence come from
    elsewhere.
    """
    evidence = DerivedRecords(SIGNAL_EVIDENCE, context)
    supporting = evidence.find(SignalEvidenceFilter(records=(id,)), limit=_MAX_EVIDENCE).items
    if not supporting:
        return
    seen = {session for each in supporting for session in (*each.sessions, *each.tainted_sessions)}
    known = DerivedRecords(OBSERVED_SESSIONS, context).get_many(sorted(seen.union(sessions)))
    observed = _with_continuations(context, known)
    own_words = {words for each in supporting for words in words_of(each)}
    quoting = {
        (each.signal, each.subject)
        for session in observed
        for each in session.candidates
        if each.record is None and each.subject and any(words in each.text for words in own_words)
    }
    evidence.put_many(evidence_without_content(each) for each in supporting)
    subjects = {(each.signal, each.subject) for each in supporting}
    _forget_evidence(context, quoting - subjects)
    _forget_words(context, observed, id, texts, subjects | quoting)


def forget_observed_turn(context: TransactionContext, id: str, texts: Sequence[str], session: str) -> None:
    """Remove the words of a turn from its session, and evidence that quotes them and became no record."""
    observed = DerivedRecords(OBSERVED_SESSIONS, context).get_many([session])
    subjects = set(_quoting(context, observed.values(), texts))
    _forget_evidence(context, subjects)
    _forget_words(context, observed.values(), id, texts, subjects)


def _forget_words(
    context: TransactionContext,
    observed: Iterable[ObservedSession],
    id: str,
    texts: Sequence[str],
    subjects: set[tuple[str, str]],
) -> None:
    silent = [session_without_words(each, texts, record=id, subjects=subjects) for each in observed]
    DerivedRecords(OBSERVED_SESSIONS, context).put_many(silent)
    for each in silent:
        context.dialect.lock(context.connection, context.scope, f"claim {session_claim(each.id)}")
    scratchpads = DerivedRecords(SCRATCHPADS, context)
    saved = scratchpads.get_many(each.id for each in silent)
    scratchpads.put_many(scratchpad_without_words(each, texts) for each in saved.values())


def _forget_evidence(context: TransactionContext, subjects: Iterable[tuple[str, str]]) -> None:
    """Remove the evidence about these signals and subjects that became no record."""
    if ids := tuple(evidence_id(*each) for each in subjects):
        DerivedRecords(SIGNAL_EVIDENCE, context).remove(SignalEvidenceFilter(ids=ids, promoted=False))


def _with_continuations(
    context: TransactionContext, observed: Mapping[str, ObservedSession]
) -> tuple[ObservedSession, ...]:
    """The sessions and those that repeat their events: these begin at the same moment, and evidence counts them as
    one."""
    found = dict(observed)
    for started in {each.started_at for each in observed.values()}:
        same_time = TimeRange(since=started, before=started + timedelta(microseconds=1))
        begun = DerivedRecords(OBSERVED_SESSIONS, context).stream(ObservedSessionFilter(started=same_time))
        found |= {each.id: each for each in begun}
    return tuple(found.values())


def _quoting(
    context: TransactionContext, observed: Iterable[ObservedSession], texts: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Signal and subject of candidates that became no record, if their text or their evidence quotes the texts."""
    candidates = {
        evidence_id(each.signal, each.subject): each
        for session in observed
        for each in session.candidates
        if each.record is None and each.subject
    }
    evidence = DerivedRecords(SIGNAL_EVIDENCE, context).get_many(candidates)
    for id, each in candidates.items():
        words = (each.text, *(words_of(evidence[id]) if id in evidence else ()))
        if any(quotes(said, text) for said in words for text in texts):
            yield each.signal, each.subject
