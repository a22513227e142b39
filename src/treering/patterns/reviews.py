"""Reviews where a pattern failed, and narrows it to where it works."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from treering.core.episodes import OutcomeStatus
from treering.core.errors import InvalidInput
from treering.core.history import Action
from treering.core.patterns import Application, Pattern, PatternStatus
from treering.core.queries import ApplicationFilter, Order, TimeRange
from treering.core.scope import Scope, Visibility
from treering.core.settings.patterns import PatternSettings
from treering.patterns.evidence import evidence_parts
from treering.patterns.lifecycle import Cause
from treering.patterns.refinement import Refinement, refine
from treering.patterns.storage import stored_pattern, with_evidence_reset
from treering.ports.store import Store, Transaction


@dataclass(frozen=True, slots=True)
class PatternReview:
    """A pattern, its failed applications, newest first, and how it could be narrowed."""

    pattern: Pattern
    failed: Sequence[Application]
    succeeded: int
    proposed: Refinement


@dataclass(frozen=True, slots=True)
class RefinedPattern:
    """A pattern before and after refinement, which are the same if nothing changed, and the change in words."""

    before: Pattern
    after: Pattern
    refinement: Refinement


def review_pattern(tx: Transaction, id: str, settings: PatternSettings) -> PatternReview:
    known = stored_pattern(tx, id)
    applications = _recent_applications(tx, known, settings)
    failed = [each for each in applications if each.outcome is not OutcomeStatus.SUCCESS]
    proposed = refine(known.applicability, applications, settings, evidence=known.evidence.generation)
    return PatternReview(known, failed, len(applications) - len(failed), proposed)


def refine_pattern(
    scope: Scope, store: Store, now: datetime, id: str, settings: PatternSettings, *, dry_run: bool = False
) -> RefinedPattern:
    """Narrow a pattern by the condition that best separates its failures, and reset its evidence.

    No lock is held during the search; raises `Conflict` if the pattern changes meanwhile.
    """
    with store.reading(scope, now) as tx:
        found = _refinement(tx, id, now, settings)
    if dry_run or found.after is found.before:
        return found
    with store.transaction(scope, now) as tx:
        stored = tx.patterns.update(found.after, Action.UPDATE, _transition(found))
        return RefinedPattern(found.before, stored, found.refinement)


def _refinement(tx: Transaction, id: str, now: datetime, settings: PatternSettings) -> RefinedPattern:
    review = review_pattern(tx, id, settings)
    known, proposed = review.pattern, review.proposed
    if known.status is PatternStatus.DEPRECATED:
        raise InvalidInput(f"pattern {id!r} is deprecated; add a new one instead")
    if proposed.applicability is None:
        return RefinedPattern(known, known, proposed)
    narrower = known.replace(applicability=proposed.applicability, updated_at=now)
    return RefinedPattern(known, with_evidence_reset(narrower, now), proposed)


def _recent_applications(tx: Transaction, known: Pattern, settings: PatternSettings) -> list[Application]:
    """Applications within the validation window and the present generation of evidence, newest first.

    Personal applications are left out for a shared pattern, whose conditions everyone can read.
    """
    parts = frozenset(evidence_parts(known, tx.patterns.get))
    where = ApplicationFilter(
        patterns=tuple(id for id, _ in parts),
        happened=TimeRange(since=tx.now - timedelta(days=settings.window_days)),
    )
    found = tx.applications.find(where, order=Order(by="at"), limit=settings.refined_applications).items
    own = known.visibility is Visibility.PERSONAL
    return [
        each
        for each in found
        if (each.pattern, each.evidence) in parts and (own or each.visibility is not Visibility.PERSONAL)
    ]


def _transition(found: RefinedPattern) -> dict[str, object]:
    return {
        "cause": Cause.REFINEMENT.value,
        "from": found.before.status.value,
        "to": found.after.status.value,
        "reason": found.refinement.reason,
        "changes": found.refinement.changes,
        "p_value": found.refinement.p_value,
    }
