"""From the episodes that speak for and against a finding to the candidate that names them."""

from collections.abc import Sequence
from typing import Any

from treering.core.patterns import Applicability, PatternCategory, PatternContent
from treering.patterns.mining.corpus import Corpus, sessions_for
from treering.patterns.mining.findings import MinedPattern, key_of, short


def common_task_types(corpus: Corpus, places: Sequence[int]) -> tuple[str, ...]:
    """The task types, where every one of these episodes has one; else it is not said for which tasks it is."""
    types = {corpus.told[place].task_type for place in places}
    return tuple(sorted(kind for kind in types if kind)) if None not in types else ()


def candidate(
    corpus: Corpus,
    category: PatternCategory,
    said: Sequence[str],
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
    """`good` and `bad` are places of episodes, each at most once in either; `said` is what makes it this candidate."""
    most, told = corpus.settings.named_episodes, corpus.told
    sessions, well = sessions_for(corpus, [*good, *bad], [True] * len(good) + [False] * len(bad))
    rate = len(good) / max(1, len(good) + len(bad))
    return MinedPattern(
        key=key_of(category, *said),
        category=category,
        name=short(name),
        summary=summary,
        content=content,
        applicability=applicability or Applicability(problem_types=common_task_types(corpus, [*good, *bad])),
        supporting=tuple(told[place].id for place in sorted(good, reverse=True)[:most]),
        counter=tuple(told[place].id for place in sorted(bad, reverse=True)[:most]),
        support=len(good),
        against=len(bad),
        sessions=sessions,
        sessions_for=well,
        base_rate=base_rate,
        lift=lift if lift is not None else rate / base_rate if base_rate else 1.0,
        **more,
    )


def best_supported(found: list[MinedPattern], most: int) -> list[MinedPattern]:
    """The ones seen in most sessions, then those that do better than without them."""
    return sorted(found, key=lambda each: (-each.sessions_for, -each.lift, -each.support, each.key))[:most]


def times(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
