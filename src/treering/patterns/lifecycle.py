"""The life of a pattern: which status may follow which, and what may cause it."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType

from treering.core.errors import InvalidInput
from treering.core.patterns import Pattern, PatternStatus


class Cause(StrEnum):
    """What moves a pattern from one status to another."""

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
        # Its evidence begins anew, and with it the proof.
        (_VALIDATED, _CANDIDATE): frozenset({Cause.REFINEMENT}),
        (_VALIDATED, _DEPRECATED): frozenset({Cause.DEPRECATION, Cause.MERGE}),
        (_REVIEWED, _CANDIDATE): frozenset({Cause.REFINEMENT}),
        (_REVIEWED, _VALIDATED): frozenset({Cause.VALIDATION}),
        (_REVIEWED, _DEPRECATED): frozenset({Cause.DEPRECATION, Cause.MERGE}),
    }
)
"""Every change of status there is. What is deprecated stays so: it is kept for its history, not for use."""


def is_allowed(before: PatternStatus, after: PatternStatus, cause: Cause | None = None) -> bool:
    """Whether a pattern may change from one status to another, by this cause or, without one, by any."""
    causes = TRANSITIONS.get((before, after), frozenset())
    return bool(causes) if cause is None else cause in causes


def with_status(pattern: Pattern, status: PatternStatus, cause: Cause, now: datetime) -> Pattern:
    """The pattern in another status; the only way there is. One that has it already stays as it is."""
    if pattern.status is status:
        return pattern
    if not is_allowed(pattern.status, status, cause):
        raise InvalidInput(
            f"pattern {pattern.id!r} is {pattern.status.value}; no {cause.value} makes it {status.value}. "
            "Add a new pattern instead"
        )
    return pattern.replace(status=status, status_since=now)
