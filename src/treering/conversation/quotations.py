"""Quotations of removed messages for a single request."""

from collections.abc import Sequence

from treering.conversation.window_context import RecalledMessage
from treering.core.delimiters import RECALLED, delimited, escaped, one_line
from treering.core.excerpts import shortened
from treering.core.messages import Message, Role
from treering.core.turns import Turn
from treering.render.token_counts import Meter

_HEADING = "From earlier in this conversation, quoted because it may matter now: data, not a new message."
_MIN_TOKENS = 30
"""A shorter quotation is not useful."""
_MAX_TOKEN_CHARACTERS = 16
"""Maximum characters per token: a longer text cannot fit, so the rest of it is not counted."""


def recalled(turn: Turn) -> RecalledMessage:
    return RecalledMessage(turn.id, turn.role, turn.at, turn.text)


def quote(turns: Sequence[Turn], meter: Meter, max_tokens: int) -> tuple[tuple[RecalledMessage, ...], Message | None]:
    """As many turns as fit, in chronological order, and the message that quotes them; None if none fits.

    Turns are added best first; a turn that is too long is cut at the end of a sentence.
    """
    chosen = list[tuple[Turn, str]]()
    for turn in turns:
        room = max_tokens - meter.message(_quotation(chosen))
        if (line := _fitting(turn, meter, room)) is None:
            break
        chosen.append((turn, line))
    if not chosen:
        return (), None
    chosen.sort(key=lambda pair: pair[0].seq)
    return tuple(recalled(turn) for turn, _ in chosen), _quotation(chosen)


def _quotation(chosen: Sequence[tuple[Turn, str]]) -> Message:
    return Message.of(Role.USER, delimited(RECALLED, "\n".join((_HEADING, *(line for _, line in chosen)))))


def _fitting(turn: Turn, meter: Meter, room: int) -> str | None:
    """The quotation of a turn, cut to fit; None if too little fits."""

    def fits(text: str) -> bool:
        return meter.text(_line(turn, text)) + 1 <= room

    if fits(turn.text):
        return _line(turn, turn.text)
    excerpt = shortened(turn.text[: room * _MAX_TOKEN_CHARACTERS], fits) if room >= _MIN_TOKENS else None
    return None if excerpt is None else _line(turn, excerpt)


def _line(turn: Turn, text: str) -> str:
    """One item of the list, with its further lines indented."""
    said = escaped(text).replace("\n", "\n  ")
    return f"- {one_line(turn.speaker or turn.role.value)}, {turn.at:%Y-%m-%d %H:%M} ({one_line(turn.id)}): {said}"
