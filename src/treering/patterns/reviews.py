"""Looks at where a pattern failed, and narrows it to where it works."""

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
from treering.patterns.evidence import parts_of
from treering.patterns.lifecycle import Cause
from treering.patterns.refinement import Refinement, refine
from treering.patterns.storage import begun_anew, stored_pattern
from treering.ports.store import Store, Transaction

MAX_APPLICATIONS = 1_000  # applications that a refinement reads, the newest: more make no clearer split


@dataclass(frozen=True, slots=True)
class Review:
    """A pattern, the applications that failed, newest first, and how it could be narrowed."""

    pattern: Pattern
    failed: Sequence[Application]
    succeeded: int
    proposed: Refinement


@dataclass(frozen=True, slots=True)
class Refined:
    """What a refinement did: the pattern before and after, the change in words; the same pattern where nothing did."""

    before: Pattern
    after: Pattern
    refinement: Refinement


def review_pattern(tx: Transaction, id: str, settings: PatternSettings) -> Review:
    known = stored_pattern(tx, id)
    applications = _lately(tx, known, settings)
    failed = [each for each in applications if each.outcome is not OutcomeStatus.SUCCESS]
    proposed = refine(known.applicability, applications, evidence=known.evidence.generation)
    return Review(known, failed, len(applications) - len(failed), proposed)


def refine_pattern(
    scope: Scope, store: Store, now: datetime, id: str, settings: PatternSettings, *, dry_run: bool = False
) -> Refined:
    """Narrow a pattern by the test that sets its failures apart best; its evidence begins anew.

    The search holds no lock; where somebody changes the pattern meanwhile, that is a `Conflict`.
    """
    with store.reading(scope, now) as tx:
        found = _refined(tx, id, now, settings)
    if dry_run or found.after is found.before:
        return found
    with store.transaction(scope, now) as tx:
        stored = tx.patterns.update(found.after, Action.UPDATE, _transition(found))
        return Refined(found.before, stored, found.refinement)


def _refined(tx: Transaction, id: str, now: datetime, settings: PatternSettings) -> Refined:
    review = review_pattern(tx, id, settings)
    known, proposed = review.pattern, review.proposed
    if known.status is PatternStatus.DEPRECATED:
        raise InvalidInput(f"pattern {id!r} is deprecated; add a new one instead")
    if proposed.applicability is None:
        return Refined(known, known, proposed)
    narrower = known.replace(applicability=proposed.applicability, updated_at=now)
    return Refined(known, begun_anew(narrower, now), proposed)


def _lately(tx: Transaction, known: Pattern, settings: PatternSettings) -> list[Application]:
    """Of the window that validation looks at, and of the present generation of evidence; newest first.

    What everybody reads in a pattern's conditions is not learned from what somebody keeps to himself.
    """
    parts = frozenset(parts_of(known, tx.patterns.get))
    where = ApplicationFilter(
        patterns=tuple(id for id, _ in parts),
        happened=TimeRange(since=tx.now - timedelta(days=settings.window_days)),
    )
    found = tx.applications.find(where, order=Order(by="at"), limit=MAX_APPLICATIONS).items
    own = known.visibility is Visibility.PERSONAL
    return [
        each
        for each in found
        if (each.pattern, each.evidence) in parts and (own or each.visibility is not Visibility.PERSONAL)
    ]


def _transition(found: Refined) -> dict[str, object]:
    return {
        "cause": Cause.REFINEMENT.value,
        "from": found.before.status.value,
        "to": found.after.status.value,
        "reason": found.refinement.reason,
        "changes": found.refinement.changes,
        "p_value": found.refinement.p_value,
    }
