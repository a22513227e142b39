"""Validation of all patterns: count the evidence in the database, write the verdicts in batches."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from treering.core.errors import Conflict, NotFound
from treering.core.history import Action
from treering.core.patterns import Pattern, PatternStatus
from treering.core.scope import Scope
from treering.core.settings.patterns import PatternSettings
from treering.core.values import Key, Label, Value
from treering.patterns.audience import audiences
from treering.patterns.evidence import EvidenceCounts, count_evidence, evidence_parts
from treering.patterns.lifecycle import Cause, with_status
from treering.patterns.validation import PatternVerdict, judge_all
from treering.ports.store import Store, Transaction

_VERDICT_FIELDS = ("p_value", "e_value", "tests", "tested", "last_validated_at")


class ValidatedPattern(Value):
    """A pattern with its status before validation and the verdict."""

    pattern: Key
    name: Label
    before: PatternStatus
    judged: PatternVerdict

    @property
    def moved(self) -> bool:
        return self.before is not self.judged.status


def validate(
    scope: Scope, store: Store, now: datetime, settings: PatternSettings, *, dry_run: bool = False
) -> tuple[ValidatedPattern, ...]:
    """Judge every pattern that is not deprecated; patterns whose status changed come first.

    All are judged together, because the correction for chance depends on the number of tests. A pattern that was
    changed meanwhile keeps that change and is judged by the next run.
    """
    verdicts = list[ValidatedPattern]()
    for audience in audiences(scope):
        with store.reading(audience.scope, now) as tx:
            counted = count_evidence(tx, audience, settings)
        judged = judge_all(counted.tested, settings, retired=counted.retired)
        found = [_validated_pattern(counted.patterns[id], each) for id, each in judged.items()]
        if not dry_run:
            _write_all(audience.scope, store, now, list(_changes(counted, found, now, settings)), settings)
        verdicts += found
    return tuple(sorted(verdicts, key=lambda each: (not each.moved, each.pattern)))


def recount_evidence(scope: Scope, store: Store, now: datetime, pattern: Pattern, settings: PatternSettings) -> Pattern:
    """Update the evidence of a pattern without judging it; the next validation does that."""
    (audience,) = (each for each in audiences(scope) if each.owns(pattern.visibility))
    with store.reading(audience.scope, now) as tx:
        counted = count_evidence(tx, audience, settings)
    judged = judge_all(counted.tested, settings, retired=counted.retired)[pattern.id]
    if not judged.sessions:
        return pattern
    verdict = _validated_pattern(pattern, judged.replace(status=pattern.status))
    with store.transaction(scope, now) as tx:
        found = _with_recent_episodes(tx, apply_verdict(counted, verdict, now, settings), settings)
        unjudged = {name: getattr(pattern.evidence, name) for name in _VERDICT_FIELDS}
        return tx.patterns.note(found.replace(evidence=found.evidence.replace(**unjudged)))


def _validated_pattern(pattern: Pattern, judged: PatternVerdict) -> ValidatedPattern:
    return ValidatedPattern(pattern=pattern.id, name=pattern.name, before=pattern.status, judged=judged)


@dataclass(frozen=True, slots=True)
class _VerdictChange:
    verdict: ValidatedPattern
    after: Pattern
    is_counted: bool
    """Whether more changed than the date of validation."""


def _changes(
    counted: EvidenceCounts, verdicts: Iterable[ValidatedPattern], now: datetime, settings: PatternSettings
) -> Iterator[_VerdictChange]:
    """Verdicts that change their pattern, if only its date of validation."""
    for verdict in verdicts:
        before, after = counted.patterns[verdict.pattern], apply_verdict(counted, verdict, now, settings)
        if after != before:
            redated = before.replace(
                evidence=before.evidence.replace(last_validated_at=after.evidence.last_validated_at)
            )
            yield _VerdictChange(verdict, after, is_counted=after != redated)


def _write_all(
    scope: Scope, store: Store, now: datetime, changes: Sequence[_VerdictChange], settings: PatternSettings
) -> None:
    for start in range(0, len(changes), settings.validated_together):
        with store.transaction(scope, now) as tx:
            for each in changes[start : start + settings.validated_together]:
                _write(tx, each, settings)


def apply_verdict(
    counted: EvidenceCounts, verdict: ValidatedPattern, now: datetime, settings: PatternSettings
) -> Pattern:
    """The pattern with the status and evidence of the verdict."""
    judged = verdict.judged
    known = with_status(counted.patterns[verdict.pattern], judged.status, Cause.VALIDATION, now)
    used, tests = counted.used.get(known.id), counted.tested[known.id].tests
    is_tested = tests > known.evidence.tests
    is_reviewed = verdict.moved and judged.status is PatternStatus.UNDER_REVIEW
    evidence = known.evidence.replace(
        applications=judged.applications,
        sessions=judged.sessions,
        success_rate=judged.success_rate,
        base_rate=judged.base_rate,
        improvement=judged.improvement,
        confidence=judged.confidence,
        p_value=judged.p_value,
        e_value=judged.e_value,
        # The evidence after a review is a new test.
        tests=tests + is_reviewed,
        tested=known.evidence.generation if is_tested else known.evidence.tested,
        last_validated_at=now if judged.sessions >= settings.least_evidence else known.evidence.last_validated_at,
    )
    # Under review only later applications count; until there are some, the evidence that led to it is shown.
    is_waiting = verdict.before is PatternStatus.UNDER_REVIEW and not judged.sessions
    return known.replace(
        evidence=known.evidence if is_waiting else evidence,
        usage_count=max(known.usage_count, used.times if used else 0),
        last_used_at=used.last_at if used else known.last_used_at,
    )


def _write(tx: Transaction, change: _VerdictChange, settings: PatternSettings) -> None:
    verdict, after = change.verdict, change.after
    try:
        if verdict.moved:
            tx.patterns.update(_with_recent_episodes(tx, after, settings), Action.UPDATE, _transition_detail(verdict))
        else:
            tx.patterns.note(_with_recent_episodes(tx, after, settings) if change.is_counted else after)
    except (Conflict, NotFound):
        # Changed or removed since the evidence was counted; the newer change wins.
        return


def _with_recent_episodes(tx: Transaction, pattern: Pattern, settings: PatternSettings) -> Pattern:
    """The pattern with its newest episodes for and against it before older ones, and its recent savings."""
    known, limit = pattern.evidence, settings.told_episodes
    recent = tx.applications.lately(evidence_parts(pattern, tx.patterns.get), 2 * limit)
    saved = {"mean_time_saved_ms": recent.mean_time_saved_ms, "mean_cost_saved": recent.mean_cost_saved}
    evidence = known.replace(
        supporting=tuple(dict.fromkeys((*recent.supporting, *known.supporting)))[:limit],
        counter=tuple(dict.fromkeys((*recent.counter, *known.counter)))[:limit],
        **{name: value for name, value in saved.items() if value is not None},
    )
    return pattern.replace(evidence=evidence)


def _transition_detail(verdict: ValidatedPattern) -> dict[str, object]:
    """Audit detail of a change of status: from, to, and the evidence for it."""
    judged = verdict.judged
    return {
        "cause": Cause.VALIDATION.value,
        "from": verdict.before.value,
        "to": judged.status.value,
        "reason": judged.reason,
        "sessions": judged.sessions,
        "applications": judged.applications,
        "success_rate": judged.success_rate,
        "base_rate": judged.base_rate,
        "p_value": judged.p_value,
        "e_value": judged.e_value,
        "confidence": judged.confidence,
    }
