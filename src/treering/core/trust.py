"""Trust levels of a project: how certain a record must be before it is given to an agent unasked."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from treering.core.injection_rules import MIN_CONFIDENCES


class TrustLevel(StrEnum):
    """From careful to generous. `autonomous` is only ever chosen by a person."""

    CAUTIOUS = "cautious"
    STANDARD = "standard"
    CONFIDENT = "confident"
    AUTONOMOUS = "autonomous"


MIN_CONFIDENCE: Mapping[TrustLevel, float] = {level: MIN_CONFIDENCES[level.value] for level in TrustLevel}
"""A record is injected if its confidence is above this."""

FLAGS_OF_REGRESSION = 3
"""Records flagged as wrong in one session, after which a more careful level is offered."""
_CAUTIOUS_SESSIONS, _CONFIRMED_SHARE = 3, 0.5
_STANDARD_SESSIONS, _CORRECTED_SHARE = 10, 0.05


@dataclass(frozen=True, slots=True)
class TrustEvidence:
    """What decides about a level, counted since the level was set."""

    sessions: int = 0
    reviewed: int = 0
    confirmed: int = 0
    used: int = 0
    corrected: int = 0
    flagged_in_last_session: int = 0


def next_level(level: TrustLevel, seen: TrustEvidence) -> TrustLevel:
    """The level after these sessions: one step up if its rule is met, else the same.

    Cautious advances after 3 sessions with at least half of the reviewed records confirmed, standard after 10 sessions
    with less than 5 % of the used records corrected.
    """
    if level is TrustLevel.CAUTIOUS:
        confirmed = seen.reviewed > 0 and seen.confirmed >= _CONFIRMED_SHARE * seen.reviewed
        return TrustLevel.STANDARD if seen.sessions >= _CAUTIOUS_SESSIONS and confirmed else level
    if level is TrustLevel.STANDARD:
        right = seen.used > 0 and seen.corrected < _CORRECTED_SHARE * seen.used
        return TrustLevel.CONFIDENT if seen.sessions >= _STANDARD_SESSIONS and right else level
    return level


def offered_level(level: TrustLevel, seen: TrustEvidence) -> TrustLevel | None:
    """The more careful level that is offered, never set, after three wrong records in one session; None if none is."""
    if seen.flagged_in_last_session < FLAGS_OF_REGRESSION or level is TrustLevel.CAUTIOUS:
        return None
    levels = tuple(TrustLevel)
    return levels[levels.index(level) - 1]


def advance_rule(level: TrustLevel) -> str:
    """What leads from this level to the next one, in words."""
    return _ADVANCE_RULES[level]


_ADVANCE_RULES: Mapping[TrustLevel, str] = {
    TrustLevel.CAUTIOUS: (
        f"standard after {_CAUTIOUS_SESSIONS} sessions with at least {_CONFIRMED_SHARE:.0%} of the reviewed records "
        "confirmed"
    ),
    TrustLevel.STANDARD: (
        f"confident after {_STANDARD_SESSIONS} sessions with less than {_CORRECTED_SHARE:.0%} of the used records wrong"
    ),
    TrustLevel.CONFIDENT: "autonomous, only if you set it",
    TrustLevel.AUTONOMOUS: "none: this is the last level",
}
