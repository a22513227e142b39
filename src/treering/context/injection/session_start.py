"""What a session is given when it starts, before its user has said what to do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from treering.context.injection.candidates import InjectionCandidate, pattern_candidate, record_candidate
from treering.context.injection.lookup import TRUSTED, WORK_AGE
from treering.context.rules import applicable_rules
from treering.core.injection_rules import INFERRED_RULES_FROM, USES_OF_TRUST
from treering.core.injections import ItemKind
from treering.core.patterns import PatternStatus
from treering.core.queries import PatternFilter
from treering.core.records import Source

if TYPE_CHECKING:
    from treering.context.injection.lookup import InjectionLookup
    from treering.core.records import Knowledge
    from treering.core.trust import TrustLevel

_MAX_RULES = 12
_MAX_PATTERNS = 2
_VALIDATED = PatternFilter(statuses=(PatternStatus.VALIDATED,))
_MIN_SESSIONS = 5  # of a pattern that is offered without a task


def rules(look: InjectionLookup) -> Iterator[InjectionCandidate]:
    """Preferences, requirements and pinned records; what people said comes first.

    A rule that was only inferred from sessions needs a confirmation or uses, or the level
    that only a person chooses: each session would pay for it, and nothing shows that it is one.
    """
    session = None if look.gate.compacted else look.occasion.session
    admitted = (each for each in applicable_rules(look.tx, session=session) if look.gate.admits(each))
    for rule in islice(admitted, _MAX_RULES):
        yield record_candidate(rule, "Rules", _rule_chance(rule, look.gate.level), "a rule of this project")


def _rule_chance(rule: Knowledge, level: TrustLevel) -> float:
    if rule.is_from_person or rule.pinned:
        return 0.8
    is_stated = rule.source is Source.AGENT_EXPLICIT or rule.uses >= USES_OF_TRUST
    return 0.6 if is_stated or level in INFERRED_RULES_FROM else 0.4


def open_work(look: InjectionLookup) -> Iterator[InjectionCandidate]:
    """Where the last session stopped."""
    last = look.recent_sessions[:1]
    for state in look.newest(TRUSTED.replace(types=("work_state",)), 3):
        is_last = any(state.session == each.id for each in last) or not last
        if is_last and look.gate.now - state.created_at <= WORK_AGE:
            yield record_candidate(state, "Where the last session stopped", 0.65, "work of the last session")
            return


@dataclass(frozen=True, slots=True)
class TypeAtStart:
    """A type of records that a session may be given at its start.

    `alone` is the chance of a record that names no file, `taught` that of one that a person stated or confirmed.
    """

    type: str
    section: str
    alone: float
    taught: float


_TYPES = (
    TypeAtStart("decision", "Decisions", 0.4, 0.6),
    TypeAtStart("module_insight", "About the code", 0.3, 0.5),
    TypeAtStart("workflow_recipe", "Recipes", 0.4, 0.6),
)


def known_here(look: InjectionLookup) -> Iterator[InjectionCandidate]:
    """Decisions, insights and recipes; those about files that the last sessions touched are the likeliest."""
    for spec in _TYPES:
        for record in look.newest(TRUSTED.replace(types=(spec.type,))):
            yield record_candidate(record, spec.section, _estimate(look, record, spec), _reason(look, record))


def _estimate(look: InjectionLookup, record: Knowledge, spec: TypeAtStart) -> float:
    base = spec.taught if record.is_from_person else spec.alone
    share = look.recent_share(record)
    return base if share is None else 0.1 + 0.65 * share + 0.1 * record.is_from_person


def _reason(look: InjectionLookup, record: Knowledge) -> str:
    share = look.recent_share(record)
    if share:
        return "about files that the last sessions touched"
    return "stated or confirmed by a person" if record.is_from_person else f"a {record.type.replace('_', ' ')}"


def top_patterns(look: InjectionLookup) -> Iterator[InjectionCandidate]:
    """The patterns with the best evidence."""
    found = [match.value for match in look.tx.patterns.newest(_VALIDATED, limit=50)]
    proven = [each for each in found if each.evidence.sessions >= _MIN_SESSIONS and each.evidence.success_rate]
    ranked = sorted(proven, key=lambda each: (-each.evidence.confidence, each.id))
    for each in ranked[:_MAX_PATTERNS]:
        text = f"worked in {each.evidence.success_rate:.0%} of {each.evidence.sessions} sessions"
        yield pattern_candidate(each, "Approaches that work here", 0.6 * each.evidence.confidence, text)


def given_before(look: InjectionLookup) -> Iterator[InjectionCandidate]:
    """After compaction: what the session was given before, the likeliest first."""
    if not look.gate.compacted:
        return
    scores = {each.item: each.score for each in look.given if each.kind is ItemKind.KNOWLEDGE}
    for id, record in look.tx.knowledge.get_many(scores).items():
        if look.gate.admits(record):
            yield record_candidate(record, "Given earlier in this session", scores[id], "given before")
