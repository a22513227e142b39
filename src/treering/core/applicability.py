"""Whether a pattern applies to a task: the definition that every index and report must agree with."""

from collections.abc import Iterable, Mapping
from typing import Any

from treering.core.conditions import MISSING, holds, is_number, value_at
from treering.core.patterns import Applicability

TASK_TYPE, DOMAIN, COMPLEXITY = "task_type", "domain", "complexity"
# A required capability may be a tool, a language, or something that only the caller knows of.
CAPABILITY_FIELDS = ("tools", "languages", "capabilities", "context.capabilities")


def applies(applicability: Applicability, features: Mapping[str, Any]) -> bool:
    """Whether the features satisfy every requirement and no anti-condition.

    The task needs one of the problem types, one of the domains and every capability, ignoring case; an empty list
    allows any. A task of unknown complexity is within every range.
    """
    required = applicability
    return (
        _has_any(required.problem_types, labels_at(features, TASK_TYPE))
        and _has_any(required.domains, labels_at(features, DOMAIN))
        and folded(required.capabilities) <= capabilities_at(features)
        and is_within(required.complexity_min, required.complexity_max, complexity_at(features))
        and all(holds(condition, features) for condition in required.conditions)
        and not any(holds(condition, features) for condition in required.anti_conditions)
    )


def is_within(low: float, high: float, complexity: float | None) -> bool:
    return complexity is None or low <= complexity <= high


def complexity_at(features: Mapping[str, Any]) -> float | None:
    found = value_at(features, COMPLEXITY)
    return found if is_number(found) else None


def capabilities_at(features: Mapping[str, Any]) -> frozenset[str]:
    """Capabilities of the task, case-folded."""
    return frozenset().union(*(labels_at(features, field) for field in CAPABILITY_FIELDS))


def labels_at(features: Mapping[str, Any], field: str) -> frozenset[str]:
    """Labels of a field, case-folded: a single one, or those of a list."""
    found = value_at(features, field)
    listed = found if isinstance(found, list | tuple) else () if found is MISSING else (found,)
    return folded(each for each in listed if isinstance(each, str))


def folded(labels: Iterable[str]) -> frozenset[str]:
    return frozenset(map(str.casefold, labels))


def _has_any(required: tuple[str, ...], found: frozenset[str]) -> bool:
    return not required or not found.isdisjoint(folded(required))
