"""The person that "I" refers to in a turn."""

from treering.core.messages import Role
from treering.core.turns import Turn
from treering.core.values import LABEL_BYTES


def speaker_of(turn: Turn) -> str | None:
    """The turn's speaker, else its owner unless that is the local user; None if unknown."""
    name = turn.speaker or (turn.owner if turn.role is Role.USER and turn.owner != "local" else None)
    return None if name is None else name.encode()[:LABEL_BYTES].decode(errors="ignore")
