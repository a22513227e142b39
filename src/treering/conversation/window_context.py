"""What is sent to the model now: put together from the window, and shown to fit."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import takewhile

from treering.conversation.exchanges import Spot
from treering.conversation.formats import Written, write
from treering.conversation.markers import Marker, merged
from treering.conversation.transcript import Entry, Transcript
from treering.core.messages import CallPart, Message, MessageFormat, Part, ResultPart, Role
from treering.core.values import EMPTY

UNANSWERED = "a call that no result answers yet"
ORPHAN = "a result whose call was never made or left the window"


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

    def to(self, format: MessageFormat | str) -> Written:
        """The messages as a provider takes them."""
        return write(self.messages, format)


@dataclass(frozen=True, slots=True)
class Shown:
    """One message as it is sent; `entry` is None for what stands for others, and for what is said `current`ly."""

    message: Message
    entry: Entry | None = None
    current: bool = False
    marker: Marker | None = None

    @property
    def name(self) -> str:
        """How it is spoken of; empty for what stands for others."""
        return self.entry.id if self.entry is not None else (self.message.id or "current") if self.current else ""


class Layout:
    """The window in order, as a provider takes it: results right behind their calls, and nothing that stands alone."""

    def __init__(self, transcript: Transcript, out: frozenset[int], absent: frozenset[int]) -> None:
        self._transcript = transcript
        self._exchanges = transcript.exchanges
        self._out = out
        self._shown = [entry for entry in transcript if entry.place not in out and entry.place not in absent]
        self._done = set[int]()
        self._told = set[int]()

    def messages(self, markers: Mapping[int, Marker]) -> Iterator[Shown]:
        """Each message, and each marker by the place where its run ends; markers that meet there are one."""
        waiting = sorted(markers)
        for number, entry in enumerate(self._shown):
            if entry.place in self._done:
                continue
            shown = list(self._from(number, entry))
            reached = [markers[place] for place in waiting if place < entry.place]
            if shown and reached:
                waiting = waiting[len(reached) :]
                yield _marked(reached)
            yield from shown
        if waiting:
            yield _marked([markers[place] for place in waiting])

    def _from(self, number: int, entry: Entry) -> Iterator[Shown]:
        if self._exchanges.has_calls(entry.place):
            yield from self._exchange(number)
        else:
            yield from self._part(entry, lambda _spot: False)

    def _exchange(self, number: int) -> Iterator[Shown]:
        """Calls that were made one right after the other, then what answers them."""
        asking = list(takewhile(lambda entry: self._exchanges.has_calls(entry.place), self._shown[number:]))
        places = {entry.place for entry in asking}
        answers = set[int]()
        for entry in asking:
            self._done.add(entry.place)
            yield from self._part(entry, lambda _spot: False)
            spots = ((entry.place, part) for part in range(len(entry.said.parts)))
            answers |= {result for spot in spots if (result := self._exchanges.answer_to(spot)) is not None}
        for place in sorted(answers - self._out):
            yield from self._part(self._transcript.entries[place], lambda spot: self._asked_in(spot, places))

    def _asked_in(self, spot: Spot, places: Collection[int]) -> bool:
        return self._exchanges.asked_at(spot) in places

    def _part(self, entry: Entry, answers: Callable[[Spot], bool]) -> Iterator[Shown]:
        """What of a message is sent here: its words once, calls that are answered, results that answer."""
        first = entry.place not in self._told
        self._told.add(entry.place)
        parts = tuple(
            part
            for number, part in enumerate(entry.said.parts)
            if self._sent_here(part, (entry.place, number), answers, first=first)
        )
        if len(parts) == len(entry.said.parts):
            yield Shown(entry.said, entry)
        elif parts:
            plain = {"parts": parts, "origin": MessageFormat.PLAIN, "extra": EMPTY}
            speaks = entry.role is Role.TOOL and not any(isinstance(part, ResultPart) for part in parts)
            yield Shown(entry.said.replace(**plain, **({"role": Role.USER} if speaks else {})), entry)

    def _sent_here(self, part: Part, spot: Spot, answers: Callable[[Spot], bool], *, first: bool) -> bool:
        if isinstance(part, CallPart):
            result = self._exchanges.answer_to(spot)
            return result is not None and result not in self._out
        return answers(spot) if isinstance(part, ResultPart) else first


def _marked(markers: Sequence[Marker]) -> Shown:
    marker = merged(markers)
    return Shown(marker.message, marker=marker)


def absent_from(transcript: Transcript, out: Collection[int]) -> frozenset[int]:
    """Messages in the window of which there is nothing to send."""
    exchanges = transcript.exchanges
    return frozenset(place for place in exchanges.orphans | exchanges.silent if place not in out)


def left_out(transcript: Transcript, out: Collection[int]) -> Mapping[str, str]:
    """Messages in the window that are not sent, or not whole, and why."""
    told = ((entry.id, _lacking(transcript, entry, out)) for entry in transcript if entry.place not in out)
    return {id: why for id, why in told if why}


def _lacking(transcript: Transcript, entry: Entry, out: Collection[int]) -> str:
    exchanges = transcript.exchanges
    if entry.place in exchanges.orphans:
        return ORPHAN
    if entry.role is not Role.TOOL and not exchanges.has_calls(entry.place):
        return ""
    for number, part in enumerate(entry.said.parts):
        spot = (entry.place, number)
        other = exchanges.answer_to(spot) if isinstance(part, CallPart) else exchanges.asked_at(spot)
        if isinstance(part, (CallPart, ResultPart)) and (other is None or other in out):
            return UNANSWERED if isinstance(part, CallPart) else ORPHAN
    return ""


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
