"""Lifecycle of a pattern: the allowed changes of status and their causes."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType

from treering.core.errors import InvalidInput
from treering.core.patterns import Pattern, PatternStatus


class Cause(StrEnum):
    """Cause of a change of status."""

    VALIDATION = "validation"
    REFINEMENT = "refinement"
    DEPRECATION = "deprecation"
    MERGE = "merge"


_CANDIDATE, _VALIDATED = PatternStatus.CANDIDATE, PatternStatus.VALIDATED
_REVIEWED, _DEPRECATED = PatternStatus.UNDER_REVIEW, PatternStatus.DEPRECATED

TRANSITIONS: Mapping[tuple[PatternStatus, PatternStatus], frozenset[Cause]] = MappingProxyType(
    {
        (_CANDIDATE, _VALIDATED): frozenset({Cause.VALIDATION}),
        (_CANDIDATE, _REVIEWED): frozenset({Cause.VALIDATION}),
        (_CANDIDATE, _DEPRECATED): frozenset({Cause.DEPRECATION, Cause.MERGE}),
        (_VALIDATED, _REVIEWED): frozenset({Cause.VALIDATION}),
        # Its evidence is reset, so it has to be proven again.
        (_VALIDATED, _CANDIDATE): frozenset({Cause.REFINEMENT}),
        (_VALIDATED, _DEPRECATED): frozenset({Cause.DEPRECATION, Cause.MERGE}),
        (_REVIEWED, _CANDIDATE): frozenset({Cause.REFINEMENT}),
        (_REVIEWED, _VALIDATED): frozenset({Cause.VALIDATION}),
        (_REVIEWED, _DEPRECATED): frozenset({Cause.DEPRECATION, Cause.MERGE}),
    }
)
"""All allowed changes of status. None leads out of DEPRECATED: deprecated patterns are kept for their history."""


def is_allowed(before: PatternStatus, after: PatternStatus, cause: Cause | None = None) -> bool:
    """Whether a pattern may change from one status to another, by this cause or, if None, by any."""
    causes = TRANSITIONS.get((before, after), frozenset())
    return bool(causes) if cause is None else cause in causes


def with_status(pattern: Pattern, status: PatternStatus, cause: Cause, now: datetime) -> Pattern:
    """The pattern with another status; raises `InvalidInput` if that change is not allowed. Unchanged if it has it."""
    if pattern.status is status:
        return pattern
    if not is_allowed(pattern.status, status, cause):
        raise InvalidInput(
            f"pattern {pattern.id!r} is {pattern.status.value} and cannot become {status.value} by {cause.value}; "
            "add a new pattern instead"
        )
    return pattern.replace(status=status, status_since=now)
