"""What is sent to the model now: put together from the window, and shown to fit."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from treering.core.messages import CallPart, Format, Message, Role
from treering.core.values import EMPTY
from treering.session.conversation.transcript import Entry, Transcript
from treering.session.formats import Written, write

UNANSWERED = "a call that no result answers yet"
ORPHAN = "a result whose call was never made or left the window"


@dataclass(frozen=True, slots=True)
class Marker:
    """Where messages left: how many, and whether a summary stands for them."""

    messages: int
    summarised: bool


@dataclass(frozen=True, slots=True)
class Recalled:
    """A message that had left and was brought back as a quotation."""

    id: str
    role: Role
    at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class Context:
    """A request's messages, in order, and what it takes.

    `left_out` names messages that no provider would take, and why; `truncated` those that were cut to fit; `missing`
    says what recall had to do without.
    """

    messages: tuple[Message, ...]
    tokens: int
    max_tokens: int
    limit: int
    exact: bool
    markers: tuple[Marker, ...] = ()
    recalled: tuple[Recalled, ...] = ()
    truncated: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)

    @property
    def percent(self) -> float:
        return 100 * self.tokens / self.limit

    def to(self, format: Format | str) -> Written:
        """The messages as a provider takes them."""
        return write(self.messages, format)


@dataclass(frozen=True, slots=True)
class Shown:
    """One message of the window as it is sent; `entry` is None for what stands for others."""

    message: Message
    entry: Entry | None = None


def laid_out(
    transcript: Transcript, out: frozenset[int], absent: frozenset[int], markers: Mapping[int, Message]
) -> Iterator[Shown]:
    """The window in order: each result right behind its call, each marker (by the place where its run ends)."""
    waiting = sorted(markers)
    emitted = set[int]()
    for entry in transcript:
        if entry.place in out or entry.place in absent or entry.place in emitted:
            continue
        while waiting and waiting[0] < entry.place:
            yield Shown(markers[waiting.pop(0)])
        for each in (entry, *_answers(transcript, entry)):
            emitted.add(each.place)
            if (sendable := _answered(transcript, each)) is not None:
                yield Shown(sendable, each)
    yield from (Shown(markers[place]) for place in waiting)


def absent_from(transcript: Transcript, out: frozenset[int]) -> frozenset[int]:
    """Results that no provider takes: their calls were never made."""
    return frozenset(place for place in transcript.orphans if place not in out)


def left_out(transcript: Transcript, out: frozenset[int]) -> Mapping[str, str]:
    """Messages in the window that are not sent, or not whole."""
    orphans = {transcript.entries[place].id: ORPHAN for place in absent_from(transcript, out)}
    pending = (entry for entry in transcript if entry.place not in out and _unanswered(transcript, entry))
    return orphans | {entry.id: UNANSWERED for entry in pending}


def _answers(transcript: Transcript, entry: Entry) -> Sequence[Entry]:
    """What answers the calls of `entry`, where other messages came between."""
    if not entry.said.calls:
        return ()
    calls = {call.id for call in entry.said.calls}
    later = (each for each in transcript.unit_of[entry.place].entries if each.place > entry.place)
    return [each for each in later if calls & {result.call_id for result in each.said.results}]


def _unanswered(transcript: Transcript, entry: Entry) -> set[str]:
    pending = transcript.unit_of[entry.place].unanswered
    return {call.id for call in entry.said.calls if call.id in pending} if pending else set()


def _answered(transcript: Transcript, entry: Entry) -> Message | None:
    """The message without calls that nothing answers; None where nothing is left of it."""
    message, pending = entry.said, _unanswered(transcript, entry)
    if not pending:
        return message
    parts = tuple(part for part in message.parts if not (isinstance(part, CallPart) and part.id in pending))
    return message.replace(parts=parts, origin=Format.PLAIN, extra=EMPTY) if parts else None


def orphaned(messages: Iterable[Message]) -> set[str]:
    """Call ids that stand alone: a call without its result, or a result without its call before it."""
    open_calls, alone = set[str](), set[str]()
    for message in messages:
        for result in message.results:
            if result.call_id in open_calls:
                open_calls.discard(result.call_id)
            else:
                alone.add(result.call_id)
        open_calls |= {call.id for call in message.calls}
    return alone | open_calls
