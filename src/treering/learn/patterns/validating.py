"""The night's judgement of every pattern: evidence counted in the database, verdicts written some at a time."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from treering.core.errors import Conflict, NotFound
from treering.core.history import Action
from treering.core.patterns import Evidence, Pattern, PatternStatus
from treering.core.scope import Scope
from treering.core.settings.patterns import PatternSettings
from treering.core.values import Key, Label, Value
from treering.learn.patterns.audience import audiences
from treering.learn.patterns.counting import Counted, count_evidence
from treering.learn.patterns.lifecycle import Cause
from treering.learn.patterns.validation import Judged, judge_measured
from treering.ports.store import Store, Transaction


class Validated(Value):
    """What validation made of one pattern."""

    pattern: Key
    name: Label
    before: PatternStatus
    judged: Judged

    @property
    def moved(self) -> bool:
        return self.before is not self.judged.status


def validate(
    scope: Scope, store: Store, now: datetime, settings: PatternSettings, *, dry_run: bool = False
) -> tuple[Validated, ...]:
    """Judge every pattern that is not deprecated. All of them: how much luck explains depends on how many were tried.

    Verdicts are written in batches, each pattern's as a whole; one that was changed meanwhile keeps that, and waits for
    the next night. Those whose status moved come first.
    """
    verdicts = list[Validated]()
    for audience in audiences(scope):
        with store.reading(audience.scope, now) as tx:
            counted = count_evidence(tx, audience, settings)
        judged = judge_measured(counted.tested, settings, untried=counted.untried, retired=counted.retired)
        found = [_validated(counted.patterns[id], each) for id, each in judged.items()]
        if not dry_run:
            _write_all(audience.scope, store, now, list(_news(counted, found, now)), settings)
        verdicts += found
    return tuple(sorted(verdicts, key=lambda each: (not each.moved, each.pattern)))


def _validated(pattern: Pattern, judged: Judged) -> Validated:
    return Validated(pattern=pattern.id, name=pattern.name, before=pattern.status, judged=judged)


def _news(counted: Counted, verdicts: Iterable[Validated], now: datetime) -> Iterator[tuple[Validated, Pattern]]:
    """What evidence says the same about as before is not written every night only to say so."""
    for verdict in verdicts:
        after = judged_pattern(counted, verdict, now)
        if _undated(after) != _undated(counted.patterns[verdict.pattern]):
            yield verdict, after


def _undated(pattern: Pattern) -> Pattern:
    return pattern.replace(evidence=pattern.evidence.replace(last_validated_at=None))


def _write_all(
    scope: Scope, store: Store, now: datetime, news: Sequence[tuple[Validated, Pattern]], settings: PatternSettings
) -> None:
    for start in range(0, len(news), settings.validated_together):
        with store.transaction(scope, now) as tx:
            for verdict, after in news[start : start + settings.validated_together]:
                _write(tx, verdict, after, settings)


def judged_pattern(counted: Counted, verdict: Validated, now: datetime) -> Pattern:
    """The pattern as the verdict leaves it."""
    known, judged = counted.patterns[verdict.pattern], verdict.judged
    used = counted.used.get(known.id)
    evidence = known.evidence.replace(
        applications=judged.applications,
        sessions=judged.sessions,
        success_rate=judged.success_rate,
        base_rate=judged.base_rate,
        improvement=judged.improvement,
        confidence=judged.confidence,
        p_value=judged.p_value,
        e_value=judged.e_value,
        last_validated_at=now,
    )
    # Under review only what came since counts; until there is some, what brought it there is shown.
    is_waiting = known.status is PatternStatus.UNDER_REVIEW and not judged.sessions
    return known.replace(
        status=judged.status,
        status_since=now if verdict.moved else known.status_since,
        evidence=known.evidence if is_waiting else evidence,
        usage_count=max(known.usage_count, used.times if used else 0),
        last_used_at=used.last_at if used else known.last_used_at,
    )


def _write(tx: Transaction, verdict: Validated, after: Pattern, settings: PatternSettings) -> None:
    told = after.replace(evidence=_with_episodes(tx, after, settings.told_episodes))
    try:
        if verdict.moved:
            tx.patterns.update(told, Action.UPDATE, _transition(verdict))
        else:
            tx.patterns.note(told)
    except (Conflict, NotFound):
        # Somebody changed it, or took it away: that is younger than what was counted.
        return


def _with_episodes(tx: Transaction, pattern: Pattern, most: int) -> Evidence:
    """The newest episodes for and against it, then those named before, and what it saved lately."""
    known = pattern.evidence
    lately = tx.applications.lately(pattern.id, known.generation, 2 * most)
    saved = {"mean_time_saved_ms": lately.mean_time_saved_ms, "mean_cost_saved": lately.mean_cost_saved}
    return known.replace(
        supporting=tuple(dict.fromkeys((*lately.supporting, *known.supporting)))[:most],
        counter=tuple(dict.fromkeys((*lately.counter, *known.counter)))[:most],
        **{name: value for name, value in saved.items() if value is not None},
    )


def _transition(verdict: Validated) -> dict[str, object]:
    """What the log says of a change of status: from where to where, and by which evidence."""
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
