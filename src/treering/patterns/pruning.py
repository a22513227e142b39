"""Patterns of low value, with the reasons in words. `cleanup` deprecates them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from treering.core.patterns import Pattern, PatternStatus
from treering.core.settings.patterns import PatternSettings
from treering.patterns.statistics import binomial_p

Rule = Callable[[Pattern, datetime, PatternSettings], str | None]


@dataclass(frozen=True, slots=True)
class LowValuePattern:
    """A pattern of low value with all reasons."""

    pattern: Pattern
    reasons: tuple[str, ...]

    @property
    def why(self) -> str:
        return "; ".join(self.reasons)


def low_value_patterns(patterns: Iterable[Pattern], now: datetime, settings: PatternSettings) -> list[LowValuePattern]:
    """Patterns that are proven weak, contradicted or long unused, those with the most reasons first.

    Counted by session. A pattern that succeeds more often than its tasks do without it has value, however rarely it
    succeeds. Validated patterns used within the window, deprecated and deleted ones are never included.
    """
    found = [
        LowValuePattern(each, tuple(_reasons(each, now, settings)))
        for each in patterns
        if not _is_safe(each, now, settings)
    ]
    return sorted(
        (each for each in found if each.reasons),
        key=lambda each: (-len(each.reasons), each.pattern.evidence.confidence, each.pattern.id),
    )


def _is_safe(pattern: Pattern, now: datetime, settings: PatternSettings) -> bool:
    if pattern.status is PatternStatus.DEPRECATED or pattern.deleted_at is not None:
        return True
    recently_used = pattern.last_used_at is not None and now - pattern.last_used_at <= timedelta(settings.window_days)
    return pattern.status is PatternStatus.VALIDATED and recently_used


def _reasons(pattern: Pattern, now: datetime, settings: PatternSettings) -> Iterator[str]:
    return (reason for rule in _RULES if (reason := rule(pattern, now, settings)))


def _weakness(pattern: Pattern, now: datetime, settings: PatternSettings) -> str | None:
    evidence = pattern.evidence
    if evidence.sessions < settings.least_evidence or evidence.confidence >= settings.prune_confidence:
        return None
    if (evidence.success_rate or 0.0) > (evidence.base_rate or 0.0):
        return None
    return (
        f"low confidence: {evidence.confidence:.2f} after {evidence.sessions:,} sessions, "
        f"below {settings.prune_confidence:.2f}"
    )


def _contradiction(pattern: Pattern, now: datetime, settings: PatternSettings) -> str | None:
    """The reason if it fails more often than its tasks do without it, by more than chance explains."""
    rate, base, n = pattern.evidence.success_rate, pattern.evidence.base_rate, pattern.evidence.sessions
    if rate is None or base is None or n < settings.least_evidence or rate >= base:
        return None
    # Rounded in its favour, since partial successes count half.
    if binomial_p(n - ceil(rate * n), n, 1.0 - base) >= settings.significance:
        return None
    return f"contradicted: {rate:.0%} success in {n:,} sessions, {base:.0%} without it"


def _disuse(pattern: Pattern, now: datetime, settings: PatternSettings) -> str | None:
    since = pattern.last_used_at or pattern.created_at
    days = (now - since) / timedelta(days=1)
    if days <= settings.prune_unused_days:
        return None
    return f"unused: for {days:,.0f} days" if pattern.last_used_at else f"unused: never used in {days:,.0f} days"


_RULES: tuple[Rule, ...] = (_weakness, _contradiction, _disuse)
