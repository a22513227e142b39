"""Whether a pattern applies to a task: the one meaning that every index and every report has to agree with."""

from collections.abc import Iterable, Mapping
from typing import Any

from treering.core.conditions import MISSING, holds, is_number, value_at
from treering.core.patterns import Applicability

TASK_TYPE, DOMAIN, COMPLEXITY = "task_type", "domain", "complexity"
# What a task has at hand: what is needed may be a tool, a language, or something that only the caller knows of.
CAPABILITY_FIELDS = ("tools", "languages", "capabilities", "context.capabilities")


def applies(applicability: Applicability, features: Mapping[str, Any]) -> bool:
    """Whether all that is asked for holds and nothing that excludes it does.

    No problem types, domains or capabilities mean any. One of the problem types and one of the domains has to be the
    task's, and every capability has to be at hand, upper case counting as lower. A task whose complexity nobody knows
    is within every range.
    """
    asked = applicability
    return (
        _has_any(asked.problem_types, labels_at(features, TASK_TYPE))
        and _has_any(asked.domains, labels_at(features, DOMAIN))
        and folded(asked.capabilities) <= capabilities_at(features)
        and is_within(asked.complexity_min, asked.complexity_max, complexity_at(features))
        and all(holds(condition, features) for condition in asked.conditions)
        and not any(holds(condition, features) for condition in asked.anti_conditions)
    )


def is_within(low: float, high: float, complexity: float | None) -> bool:
    return complexity is None or low <= complexity <= high


def complexity_at(features: Mapping[str, Any]) -> float | None:
    found = value_at(features, COMPLEXITY)
    return found if is_number(found) else None


def capabilities_at(features: Mapping[str, Any]) -> frozenset[str]:
    """What the task has at hand, folded."""
    return frozenset().union(*(labels_at(features, field) for field in CAPABILITY_FIELDS))


def labels_at(features: Mapping[str, Any], field: str) -> frozenset[str]:
    """The labels of a field, folded: one, or those of a list."""
    found = value_at(features, field)
    listed = found if isinstance(found, list | tuple) else () if found is MISSING else (found,)
    return folded(each for each in listed if isinstance(each, str))


def folded(labels: Iterable[str]) -> frozenset[str]:
    return frozenset(map(str.casefold, labels))


def _has_any(asked: tuple[str, ...], found: frozenset[str]) -> bool:
    return not asked or not found.isdisjoint(folded(asked))
