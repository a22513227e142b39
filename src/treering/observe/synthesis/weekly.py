"""Weekly synthesis: weights of co-access edges, and causal chains between modules."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from treering.core.observations import SYNTHESIS
from treering.core.queries import CoAccessFilter, Order, ShareRange, SignalEvidenceFilter, TimeRange
from treering.core.taint import Taint
from treering.observe.co_access import ID_PREFIX
from treering.observe.promotion.drafts import seen_in
from treering.observe.synthesis.causal_chains import MIN_WEIGHT, CausalChain, causal_chains
from treering.observe.synthesis.records import DraftGroup, RecordOutcome, SynthesisDraft, SynthesisWriter
from treering.observe.synthesis.statistics import clean_weight, correct_edges, sessions_by_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from treering.jobs.stage import StageRun
    from treering.ports.store import Transaction

MAX_NEW_CHAINS = 5  # a week
_WEEK = timedelta(days=7)
_CHAIN_SUBJECT = "causal_dependency: chain "
_MAX_EDGES = 2_000
_MAX_DRAFTS = 50
_MAX_ROWS = 1_000
_BATCH = 500
_MIN_SESSIONS = 3


def correct_weights(run: StageRun, claim: str) -> None:
    """Recompute the weights of all edges from the numbers of sessions, in batches."""
    with run.store.reading(run.scope, run.now) as tx:
        ids = sorted(edge.id for edge in tx.co_access.stream() if edge.id.startswith(ID_PREFIX))
    left = [id for id in ids if run.cursor is None or id > run.cursor]
    batches = [left[start : start + _BATCH] for start in range(0, len(left), _BATCH)]
    run.progress.expect(len(batches))
    for batch in batches:
        if run.dry_run:
            run.progress.advance(batch[-1], edges=len(batch))
            continue

        def correct(tx: Transaction, batch: Sequence[str] = batch) -> int:
            return correct_edges(tx, [*tx.co_access.get_many(batch).values()])[1]

        corrected = run.store.write(run.scope, run.now, correct, claims=(claim,))
        run.progress.advance(batch[-1], edges=len(batch), corrected=corrected)


def write_chains(run: StageRun, claim: str) -> Mapping[str, int]:
    """Write the strongest causal chains as records; at most `MAX_NEW_CHAINS` new ones in a week."""
    if run.dry_run:
        with run.store.reading(run.scope, run.now) as tx:
            return {"chains": len(_drafts(tx))}

    def write(tx: Transaction) -> Mapping[str, int]:
        drafts = _drafts(tx)
        limit = max(0, MAX_NEW_CHAINS - _written_this_week(tx))
        [outcomes] = SynthesisWriter(tx, run.models, run.new_id).write([DraftGroup(drafts, limit)])
        counts = {each.value: outcomes.count(each) for each in RecordOutcome}
        return {name: count for name, count in counts.items() if count}

    return run.store.write(run.scope, run.now, write, claims=(claim,))


def _drafts(tx: Transaction) -> list[SynthesisDraft]:
    where = CoAccessFilter(weight=ShareRange(at_least=MIN_WEIGHT))
    found = tx.co_access.find(where, order=Order(by="weight"), limit=_MAX_EDGES).items
    edges = [each for each in found if each.id.startswith(ID_PREFIX) and each.sessions >= _MIN_SESSIONS]
    sessions = sessions_by_file(tx, edges)
    return [_draft(chain, sessions) for chain in causal_chains(edges)[:_MAX_DRAFTS]]


def _draft(chain: CausalChain, sessions: Mapping[str, int]) -> SynthesisDraft:
    cause, *effects = chain.files
    named = [f"`{each}`" for each in chain.files]
    clean = all(
        clean_weight(each, sessions) > MIN_WEIGHT and each.sessions - each.tainted_sessions >= _MIN_SESSIONS
        for each in chain.links
    )
    taint = None if clean else Taint.make(source="observed sessions", reason="seen after outside content")
    return SynthesisDraft(
        "causal_dependency",
        f"chain {' → '.join(chain.files)}",
        f"Work on {named[0]} leads to {', then '.join(named[1:])} (in this order in {seen_in(chain.sessions)} or more)",
        {"cause": cause, "effects": effects, "coupling": chain.weight, "directional": True},
        files=chain.files,
        confidence=chain.weight,
        taint=taint,
    )


def _written_this_week(tx: Transaction) -> int:
    """Records of chains that were created in the last seven days."""
    since = tx.now - _WEEK
    where = SignalEvidenceFilter(signals=(SYNTHESIS,), promoted=True, seen=TimeRange.make(since=since))
    rows = tx.evidence.find(where, order=Order(by="last_seen_at"), limit=_MAX_ROWS).items
    return sum(1 for row in rows if row.subject.startswith(_CHAIN_SUBJECT) and row.first_seen_at > since)
