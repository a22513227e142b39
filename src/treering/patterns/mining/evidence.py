"""Builds candidates from the episodes for and against a finding."""

from collections.abc import Sequence
from typing import Any

from treering.core.patterns import Applicability, PatternCategory, PatternContent
from treering.patterns.mining.corpus import Corpus, sessions_for
from treering.patterns.mining.findings import MinedPattern, key_of, short_name


def common_task_types(corpus: Corpus, places: Sequence[int]) -> tuple[str, ...]:
    """The task types of these episodes; empty, meaning any, if one episode has none."""
    types = {corpus.episodes[place].task_type for place in places}
    return tuple(sorted(kind for kind in types if kind)) if None not in types else ()


def candidate(
    corpus: Corpus,
    category: PatternCategory,
    identity: Sequence[str],
    *,
    name: str,
    summary: str,
    content: PatternContent,
    good: Sequence[int],
    bad: Sequence[int],
    base_rate: float,
    applicability: Applicability | None = None,
    lift: float | None = None,
    **more: Any,
) -> MinedPattern:
    """A candidate; `good` and `bad` are positions of distinct episodes, `identity` determines its key."""
    limit, episodes = corpus.settings.named_episodes, corpus.episodes
    sessions, succeeded = sessions_for(corpus, [*good, *bad], [True] * len(good) + [False] * len(bad))
    rate = len(good) / max(1, len(good) + len(bad))
    return MinedPattern(
        key=key_of(category, *identity),
        category=category,
        name=short_name(name),
        summary=summary,
        content=content,
        applicability=applicability or Applicability(problem_types=common_task_types(corpus, [*good, *bad])),
        supporting=tuple(episodes[place].id for place in sorted(good, reverse=True)[:limit]),
        counter=tuple(episodes[place].id for place in sorted(bad, reverse=True)[:limit]),
        support=len(good),
        against=len(bad),
        sessions=sessions,
        sessions_for=succeeded,
        base_rate=base_rate,
        lift=lift if lift is not None else rate / base_rate if base_rate else 1.0,
        **more,
    )


def best_supported(found: list[MinedPattern], limit: int) -> list[MinedPattern]:
    """The `limit` best: by supporting sessions, then by lift."""
    return sorted(found, key=lambda each: (-each.sessions_for, -each.lift, -each.support, each.key))[:limit]


def times(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
