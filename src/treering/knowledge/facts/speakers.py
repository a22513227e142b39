"""Whose "I" it is."""

from treering.core.messages import Role
from treering.core.turns import Turn
from treering.core.values import LABEL_BYTES


def speaker_of(turn: Turn) -> str | None:
    """The name they go by, or who wrote it where that is not just this machine's user."""
    name = turn.speaker or (turn.owner if turn.role is Role.USER and turn.owner != "local" else None)
    return None if name is None else name.encode()[:LABEL_BYTES].decode(errors="ignore")
