"""Merge of patterns that say the same: one pattern with all their evidence and the union of where they apply."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, islice

from treering.core.conditions import Condition, written
from treering.core.errors import InvalidInput
from treering.core.patterns import (
    Applicability,
    Evidence,
    Guidance,
    Pattern,
    PatternLinks,
    PatternStatus,
)
from treering.core.scope import Visibility
from treering.core.values import LABELS, FrozenDict
from treering.patterns.lifecycle import Cause, with_status

MERGED_FROM = "merged_from"


@dataclass(frozen=True, slots=True)
class PatternMerge:
    """The merged pattern, and the patterns it replaces: deprecated, and linked to it."""

    pattern: Pattern
    superseded: tuple[Pattern, ...]


def merged(patterns: Sequence[Pattern], now: datetime, new_id: str) -> PatternMerge:
    """One pattern for several of one category and form that do not contradict each other.

    It has the content of the best proven one and the sum of their applications. It applies wherever one of them did:
    the labels of all, the widest range, and only the capabilities and conditions that all share. Because that may be
    more than any of them was tested on, it starts as a candidate for the next validation. It gets the narrowest of
    their visibilities.
    """
    _check(patterns, new_id)
    best = min(patterns, key=lambda each: (-each.evidence.confidence, -each.evidence.applications, each.id))
    ids = tuple(each.id for each in patterns)
    target = best.replace(
        id=new_id,
        version=1,
        status=PatternStatus.CANDIDATE,
        applicability=generalised([each.applicability for each in patterns]),
        evidence=combined([each.evidence for each in patterns]),
        guidance=_guidance(best, patterns),
        links=_links(best, patterns),
        usage_count=sum(each.usage_count for each in patterns),
        last_used_at=max((each.last_used_at for each in patterns if each.last_used_at), default=None),
        visibility=min((each.visibility for each in patterns), key=list(Visibility).index),
        created_at=now,
        updated_at=now,
        metadata=FrozenDict({**best.metadata, MERGED_FROM: ids}),
    )
    return PatternMerge(target, tuple(_superseded(each, target, now) for each in patterns))


def generalised(applicabilities: Sequence[Applicability]) -> Applicability:
    """An applicability that covers all of these."""
    return Applicability(
        problem_types=_any_of([each.problem_types for each in applicabilities]),
        domains=_any_of([each.domains for each in applicabilities]),
        complexity_min=min(each.complexity_min for each in applicabilities),
        complexity_max=max(each.complexity_max for each in applicabilities),
        # All capabilities are required, so one that any pattern does without is dropped.
        capabilities=_labels_in_all([each.capabilities for each in applicabilities]),
        conditions=_in_all([each.conditions for each in applicabilities]),
        anti_conditions=_in_all([each.anti_conditions for each in applicabilities]),
    )


def combined(evidence: Sequence[Evidence]) -> Evidence:
    """All evidence together: counts are added, means weighted by applications.

    The p-value and the time of validation stay empty until the merged pattern is validated. If there are more episodes
    than a record holds, they are taken from each pattern in turn.
    """
    return Evidence(
        supporting=_distinct(each.supporting for each in evidence),
        counter=_distinct(each.counter for each in evidence),
        applications=sum(each.applications for each in evidence),
        sessions=sum(each.sessions for each in evidence),
        success_rate=_share(_mean(evidence, lambda each: each.success_rate)),
        mean_time_saved_ms=_mean(evidence, lambda each: each.mean_time_saved_ms),
        mean_cost_saved=_mean(evidence, lambda each: each.mean_cost_saved),
        improvement=_mean(evidence, lambda each: each.improvement),
        confidence=_share(_mean(evidence, lambda each: each.confidence)) or 0.0,
    )


def _check(patterns: Sequence[Pattern], new_id: str) -> None:
    ids = [each.id for each in patterns]
    names = ", ".join(sorted(ids))
    if len(set(ids)) < 2 or len(set(ids)) < len(ids):
        raise InvalidInput(f"a merge takes two or more different patterns, not {names or 'none'}")
    if new_id in ids:
        raise InvalidInput(f"the merged pattern cannot have the id of one it replaces: {new_id}; give another")
    out = [each.id for each in patterns if each.status is PatternStatus.DEPRECATED or each.deleted_at]
    if out:
        raise InvalidInput(f"deprecated or deleted patterns cannot be merged; leave out {', '.join(out)}")
    for what, kinds in (
        ("category", {each.category.value for each in patterns}),
        ("form of content", {each.content.form for each in patterns}),
        ("owner", {each.owner if each.visibility is Visibility.PERSONAL else "everybody" for each in patterns}),
    ):
        if len(kinds) > 1:
            raise InvalidInput(
                f"{names} differ in their {what} ({', '.join(sorted(kinds))}); merge those that share it"
            )
    opposed = [f"{each.id} and {other}" for each in patterns for other in each.links.contradicts if other in ids]
    if opposed:
        raise InvalidInput(f"patterns that contradict each other cannot be merged: {', '.join(opposed)}; deprecate one")


def _superseded(pattern: Pattern, target: Pattern, now: datetime) -> Pattern:
    return with_status(pattern, PatternStatus.DEPRECATED, Cause.MERGE, now).replace(
        deprecation_reason=f"merged into {target.id} ({target.name})",
        links=pattern.links.replace(superseded_by=target.id),
        version=pattern.version + 1,
        updated_at=now,
    )


def _guidance(best: Pattern, patterns: Sequence[Pattern]) -> Guidance:
    """Guidance of the best pattern, with the benefits, risks and alternatives of all."""
    ordered = [best, *(each for each in patterns if each is not best)]
    return best.guidance.replace(
        benefits=tuple(dict.fromkeys(chain.from_iterable(each.guidance.benefits for each in ordered))),
        risks=tuple(dict.fromkeys(chain.from_iterable(each.guidance.risks for each in ordered))),
        alternatives=_others(patterns, lambda each: each.guidance.alternatives),
    )


def _links(best: Pattern, patterns: Sequence[Pattern]) -> PatternLinks:
    """Links of all patterns to others; links among the merged patterns are dropped."""
    parents = _others([best, *patterns], lambda each: (each.links.specialises,) if each.links.specialises else ())
    return PatternLinks(
        specialises=parents[0] if parents else None,
        generalises=_others(patterns, lambda each: each.links.generalises),
        contradicts=_others(patterns, lambda each: each.links.contradicts),
        complements=_others(patterns, lambda each: each.links.complements),
    )


def _others(patterns: Sequence[Pattern], linked: Callable[[Pattern], tuple[str, ...]]) -> tuple[str, ...]:
    own = {each.id for each in patterns}
    return _distinct([id for id in linked(each) if id not in own] for each in patterns)


def _distinct(lists: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Items of all lists in turn, without repeats, as many as a record holds."""
    items = [list(each) for each in lists]
    turns = (each[index] for index in range(max(map(len, items), default=0)) for each in items if index < len(each))
    return tuple(islice(dict.fromkeys(turns), LABELS))


def _any_of(labels: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """All labels; none if one pattern has none, which means any, or if there are too many."""
    united = dict.fromkeys(chain.from_iterable(labels))
    return tuple(united) if all(labels) and len(united) <= LABELS else ()


def _labels_in_all(labels: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    everywhere = set.intersection(*({label.casefold() for label in each} for each in labels))
    return tuple(label for label in labels[0] if label.casefold() in everywhere)


def _in_all(conditions: Sequence[tuple[Condition, ...]]) -> tuple[Condition, ...]:
    everywhere = set.intersection(*({written(each) for each in some} for some in conditions))
    return tuple({written(each): each for each in conditions[0] if written(each) in everywhere}.values())


def _mean(evidence: Sequence[Evidence], read: Callable[[Evidence], float | None]) -> float | None:
    """Mean weighted by applications; unweighted if there are none."""
    known = [(value, each.applications) for each in evidence if (value := read(each)) is not None]
    weight = sum(count for _, count in known)
    if not known:
        return None
    if not weight:
        return sum(value / len(known) for value, _ in known)
    return sum(value * (count / weight) for value, count in known)


def _share(value: float | None) -> float | None:
    """Clamp a mean of shares to 0..1 against rounding errors."""
    return None if value is None else min(max(value, 0.0), 1.0)
