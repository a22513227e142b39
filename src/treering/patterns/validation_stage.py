"""The night's judgement of every pattern: evidence counted in the database, verdicts written some at a time."""

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
from treering.patterns.evidence import Counted, count_evidence, parts_of
from treering.patterns.lifecycle import Cause, moved
from treering.patterns.validation import Judged, judge_all
from treering.ports.store import Store, Transaction

BATCH_VERDICTS = 200  # verdicts written in one transaction: the most that a crash costs
MAX_LISTED_EPISODES = 50  # episodes that a pattern lists for and against it, the newest; all are counted

_OF_A_VERDICT = ("p_value", "e_value", "tests", "tested", "last_validated_at")


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
        judged = judge_all(counted.tested, settings, retired=counted.retired)
        found = [_validated(counted.patterns[id], each) for id, each in judged.items()]
        if not dry_run:
            _write_all(audience.scope, store, now, list(_news(counted, found, now, settings)))
        verdicts += found
    return tuple(sorted(verdicts, key=lambda each: (not each.moved, each.pattern)))


def recounted(scope: Scope, store: Store, now: datetime, pattern: Pattern, settings: PatternSettings) -> Pattern:
    """The pattern with its evidence counted as the next validation counts it. That one judges: this is no test."""
    (audience,) = (each for each in audiences(scope) if each.owns(pattern.visibility))
    with store.reading(audience.scope, now) as tx:
        counted = count_evidence(tx, audience, settings)
    judged = judge_all(counted.tested, settings, retired=counted.retired)[pattern.id]
    if not judged.sessions:
        return pattern
    verdict = _validated(pattern, judged.replace(status=pattern.status))
    with store.transaction(scope, now) as tx:
        found = _told(tx, judged_pattern(counted, verdict, now, settings))
        unjudged = {name: getattr(pattern.evidence, name) for name in _OF_A_VERDICT}
        return tx.patterns.note(found.replace(evidence=found.evidence.replace(**unjudged)))


def _validated(pattern: Pattern, judged: Judged) -> Validated:
    return Validated(pattern=pattern.id, name=pattern.name, before=pattern.status, judged=judged)


@dataclass(frozen=True, slots=True)
class _News:
    verdict: Validated
    after: Pattern
    is_counted: bool
    """Whether more differs than the day of its judgement."""


def _news(counted: Counted, verdicts: Iterable[Validated], now: datetime, settings: PatternSettings) -> Iterator[_News]:
    """What differs, be it only by the day; a night that decides nothing is not written to say so."""
    for verdict in verdicts:
        before, after = counted.patterns[verdict.pattern], judged_pattern(counted, verdict, now, settings)
        if after != before:
            dated = before.replace(evidence=before.evidence.replace(last_validated_at=after.evidence.last_validated_at))
            yield _News(verdict, after, is_counted=after != dated)


def _write_all(scope: Scope, store: Store, now: datetime, news: Sequence[_News]) -> None:
    for start in range(0, len(news), BATCH_VERDICTS):
        with store.transaction(scope, now) as tx:
            for each in news[start : start + BATCH_VERDICTS]:
                _write(tx, each)


def judged_pattern(counted: Counted, verdict: Validated, now: datetime, settings: PatternSettings) -> Pattern:
    """The pattern as the verdict leaves it."""
    judged = verdict.judged
    known = moved(counted.patterns[verdict.pattern], judged.status, Cause.VALIDATION, now)
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
        # What comes after a review is a test of its own.
        tests=tests + is_reviewed,
        tested=known.evidence.generation if is_tested else known.evidence.tested,
        last_validated_at=now if judged.sessions >= settings.least_evidence else known.evidence.last_validated_at,
    )
    # Under review only what came since counts; until there is some, what brought it there is shown.
    is_waiting = verdict.before is PatternStatus.UNDER_REVIEW and not judged.sessions
    return known.replace(
        evidence=known.evidence if is_waiting else evidence,
        usage_count=max(known.usage_count, used.times if used else 0),
        last_used_at=used.last_at if used else known.last_used_at,
    )


def _write(tx: Transaction, news: _News) -> None:
    verdict, after = news.verdict, news.after
    try:
        if verdict.moved:
            tx.patterns.update(_told(tx, after), Action.UPDATE, _transition(verdict))
        else:
            tx.patterns.note(_told(tx, after) if news.is_counted else after)
    except (Conflict, NotFound):
        # Somebody changed it, or took it away: that is younger than what was counted.
        return


def _told(tx: Transaction, pattern: Pattern) -> Pattern:
    """With the newest episodes for and against it, then those named before, and what it saved lately."""
    known, most = pattern.evidence, MAX_LISTED_EPISODES
    lately = tx.applications.lately(parts_of(pattern, tx.patterns.get), 2 * most)
    saved = {"mean_time_saved_ms": lately.mean_time_saved_ms, "mean_cost_saved": lately.mean_cost_saved}
    evidence = known.replace(
        supporting=tuple(dict.fromkeys((*lately.supporting, *known.supporting)))[:most],
        counter=tuple(dict.fromkeys((*lately.counter, *known.counter)))[:most],
        **{name: value for name, value in saved.items() if value is not None},
    )
    return pattern.replace(evidence=evidence)


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
