"""Importance of messages: a sum of named modifiers."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

from treering.conversation.cues.detection import MessageCues
from treering.conversation.transcript import Modifiers, TranscriptEntry
from treering.core.messages import Message, Role

BASE = 0.5
SAID: Sequence[tuple[str, float]] = (
    ("tool call", 0.3),
    ("tool result", 0.2),
    ("directive", 0.2),
    ("error", 0.3),
    ("correction", 0.2),
    ("references", 0.1),
    ("casual", -0.2),
)
"""Modifiers by the content of a message; that of references counts once per reference."""
DAY_OF_AGE = -0.1
COMPLETED = -0.3
REDUNDANT = -0.2
"""For a message that a later message in the window repeats."""
RECENCY: Sequence[tuple[int, float]] = ((5, 0.4), (10, 0.2), (20, 0.1))
"""Number of latest messages, and what they gain; the first matching row applies."""


_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Importance:
    """A score from 0 to 1 and its modifiers."""

    score: float
    modifiers: Modifiers


@dataclass(frozen=True, slots=True)
class ImportanceInputs:
    """What the importance of a message depends on besides its content.

    `after` is the number of later messages; `completed` says that its task is over; `unimportant` that a user marked
    it; `redundant` that a later message in the window repeats it.
    """

    after: int
    now: datetime
    completed: bool = False
    unimportant: bool = False
    redundant: bool = False


def importance(entry: TranscriptEntry, inputs: ImportanceInputs) -> Importance:
    """The score of one message with its modifiers."""
    if entry.role is Role.SYSTEM:
        return Importance(1.0, (("system prompt", 1.0),))
    if inputs.unimportant:
        return Importance(0.0, (("marked unimportant", 0.0),))
    content = entry.modifiers
    position = tuple(each for each in _position_modifiers(entry, inputs) if each[1])
    return Importance(_clamped(total(content) + total(position)), (*content, *position))


def scores(
    entries: Sequence[TranscriptEntry],
    now: datetime,
    *,
    completed: frozenset[int] = frozenset(),
    unimportant: frozenset[str] = frozenset(),
    redundant: frozenset[int] = frozenset(),
) -> list[float]:
    """The scores of all messages by place, equal to `importance` but from precomputed sums."""
    yesterday, recent = now - _DAY, len(entries) - RECENCY[-1][0]
    found = list[float]()
    for entry in entries:
        value, place = entry.worth, entry.place
        if entry.at <= yesterday:
            value += DAY_OF_AGE * (now - entry.at).days
        if place in completed:
            value += COMPLETED
        if place in redundant:
            value += REDUNDANT
        if place >= recent:
            value += _recency(len(entries) - 1 - place)
        if entry.role is Role.SYSTEM or entry.id in unimportant:
            value = float(entry.role is Role.SYSTEM)
        found.append(_clamped(value))
    return found


def modifiers_of(message: Message, cues: MessageCues) -> Modifiers:
    """Modifiers by the content of a message."""
    shown = (cues.directive, cues.error, cues.correction, cues.references, cues.casual)
    return _modifiers(bool(message.calls), bool(message.results), *shown)


@cache
def _modifiers(*shown: int) -> Modifiers:
    """Cached, because messages have few distinct combinations."""
    return (("base", BASE), *((name, value * times) for (name, value), times in zip(SAID, shown, strict=True) if times))


def _position_modifiers(entry: TranscriptEntry, inputs: ImportanceInputs) -> Modifiers:
    """Modifiers by age and position."""
    days = max(0, (inputs.now - entry.at).days)
    return (
        ("age in days", DAY_OF_AGE * days),
        ("task complete", COMPLETED * inputs.completed),
        ("redundant", REDUNDANT * inputs.redundant),
        ("recent", _recency(inputs.after)),
    )


def _recency(after: int) -> float:
    if after >= RECENCY[-1][0]:
        return 0.0
    return next(gain for last, gain in RECENCY if after < last)


def total(modifiers: Modifiers) -> float:
    return sum(value for _, value in modifiers)


def _clamped(score: float) -> float:
    score = round(score, 6)
    return 0.0 if score < 0.0 else 1.0 if score > 1.0 else score
