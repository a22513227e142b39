"""The kinds of cues, and whose text shows them."""

from enum import StrEnum


class CueKind(StrEnum):
    SELF_CORRECTION = "self_correction"
    """The agent says that something it believed, said or did was wrong."""
    ABANDONED_APPROACH = "abandoned_approach"
    """The agent gives up an approach."""
    ENVIRONMENT_UNAVAILABLE = "environment_unavailable"
    """The agent says that a tool, a service or an access is missing where it works."""
    USER_CORRECTION = "user_correction"
    """The user rejects something that the agent did, said or proposed."""
    EXPLICIT_RULE = "explicit_rule"
    """The user gives an instruction that holds beyond the present step."""


USER_KINDS = frozenset({CueKind.USER_CORRECTION, CueKind.EXPLICIT_RULE})
