"""Synthesis after a session: statistics, records of measured work, and records of modules that reached a trigger."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from treering.core.observations import evidence_id
from treering.core.queries import CoAccessFilter, KnowledgeFilter, Order, ShareRange, SignalEvidenceFilter
from treering.observe.co_access import edge_id
from treering.observe.scratchpad import Signal
from treering.observe.synthesis.measured_work import calibrations, context_costs, work_unit_outcomes
from treering.observe.synthesis.module_patterns import ModuleHistory, file_shares, module_drafts
from treering.observe.synthesis.records import DraftGroup, RecordOutcome, SynthesisWriter
from treering.observe.synthesis.session_records import (
    WORK_STATE,
    failed_checks,
    finished_work,
    screen_observations,
    work_state,
)
from treering.observe.synthesis.statistics import (
    MAX_MODULE_SESSIONS,
    SESSION_COUNTS,
    ModuleStatistics,
    SessionUpdate,
    correct_edges,
    sessions_by_file,
)

if TYPE_CHECKING:
    from treering.core.observations import ObservedSession
    from treering.observe.synthesis.records import SynthesisDraft
    from treering.observe.synthesis.session_facts import SessionFacts
    from treering.ports.clock import NewId
    from treering.ports.models import Models
    from treering.ports.store import Transaction

TRIGGERS = (5, 10, 20, 50, MAX_MODULE_SESSIONS)
"""Numbers of sessions after which the records of a module are synthesised."""
MAX_NEW_RECORDS = 5  # of one module and trigger
MAX_OWN = 6  # new records of what one session alone says
_MAX_STATES = 10  # latest work states that a session may have finished
MAX_MEASURED = 5  # new records of measured work after one session
_MIN_WEIGHT = 0.3  # of the edges that are read and corrected; weekly synthesis corrects the others
_MAX_EDGES = 300
_MAX_QUERIED_FILES = 50
_MAX_ERRORS = 300  # latest errors without a record


def synthesise_session(
    tx: Transaction,
    session: ObservedSession,
    facts: SessionFacts,
    *,
    continued: tuple[str, ...] = (),
    models: Models,
    new_id: NewId,
) -> list[str]:
    """Count the session and write what the statistics support; return the modules that a language model may read.

    The session and those in `continued`, whose events it repeats, count as one. Repeated for the same session, it
    changes nothing.
    """
    modules = SessionUpdate(tx, session, facts, continued).run()
    due = {module.module: _due(module) for module in modules}
    triggered = [module for module in modules if due[module.module]]
    measured = DraftGroup([*_measured(session, facts, modules)], MAX_MEASURED)
    own = DraftGroup([*_own_records(tx, session, facts)], MAX_OWN)
    groups = [own, measured, *(DraftGroup(_module_drafts(tx, module), MAX_NEW_RECORDS) for module in triggered)]
    _, _, *outcomes = SynthesisWriter(tx, models, new_id).write(groups)
    after = [
        module.with_triggers(due[module.module], left_for_model=MAX_NEW_RECORDS - found.count(RecordOutcome.CREATED))
        for module, found in zip(triggered, outcomes, strict=True)
    ]
    tx.evidence.put_many(module.row for module in after)
    latest = {module.module: module for module in (*modules, *after)}
    return [name for name, module in latest.items() if module.left_for_model]


def module_history(tx: Transaction, module: ModuleStatistics) -> ModuleHistory:
    """What is stored about the sessions of a module."""
    ids = [evidence_id(SESSION_COUNTS, each) for each in (*module.row.sessions, *module.row.tainted_sessions)]
    rows = tx.evidence.get_many(ids)
    sessions = [rows[id] for id in ids if id in rows]
    unpromoted = SignalEvidenceFilter(signals=(Signal.ERROR_RETRY.value,), promoted=False)
    errors = tx.evidence.find(unpromoted, order=Order(by="last_seen_at"), limit=_MAX_ERRORS).items
    history = ModuleHistory(module, sessions, (), {}, errors)
    files = tuple(file_shares(history))[:_MAX_QUERIED_FILES]
    if not files:
        return history
    where = CoAccessFilter(files=files, weight=ShareRange(at_least=_MIN_WEIGHT))
    found = tx.co_access.find(where, order=Order(by="weight"), limit=_MAX_EDGES).items
    edges = [each for each in found if each.id == edge_id(each.first, each.second)]
    return ModuleHistory(module, sessions, edges, sessions_by_file(tx, edges), errors)


def _measured(
    session: ObservedSession, facts: SessionFacts, modules: Sequence[ModuleStatistics]
) -> Iterator[SynthesisDraft]:
    for module in modules:
        if module.module == facts.module:
            yield from calibrations(module)
        if module.module in facts.tokens:
            yield from context_costs(module)
    yield from work_unit_outcomes(session.id, facts)


def _own_records(tx: Transaction, session: ObservedSession, facts: SessionFacts) -> Iterator[SynthesisDraft]:
    """What the session alone says."""
    if (state := work_state(session, facts)) is not None:
        yield state
    latest = tx.knowledge.newest(KnowledgeFilter(types=(WORK_STATE,), deprecated=False), limit=_MAX_STATES)
    others = (match.value for match in latest if state is None or session.id not in match.value.provenance_sessions)
    yield from finished_work(session.id, facts, others)
    yield from failed_checks(session.id, facts)
    yield from screen_observations(session.id, facts)


def _due(module: ModuleStatistics) -> list[int]:
    """Triggers that the module has reached and that were not synthesised yet."""
    return [each for each in TRIGGERS if each <= module.count and each not in module.triggers]


def _module_drafts(tx: Transaction, module: ModuleStatistics) -> list[SynthesisDraft]:
    history = module_history(tx, module)
    corrected, _ = correct_edges(tx, history.edges)
    return module_drafts(replace(history, edges=corrected))
