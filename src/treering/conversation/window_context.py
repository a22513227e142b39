"""The context of a request: the messages sent to the model, assembled from the window."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import takewhile

from treering.conversation.exchanges import ORPHAN, PartPosition
from treering.conversation.formats import ProviderMessages, write
from treering.conversation.markers import Marker, merged_marker
from treering.conversation.transcript import Transcript, TranscriptEntry
from treering.core.messages import CallPart, Message, MessageFormat, Part, ResultPart, Role
from treering.core.values import EMPTY

UNANSWERED = "a call that no result answers yet"


@dataclass(frozen=True, slots=True)
class RecalledMessage:
    """A removed message that is quoted or found by search."""

    id: str
    role: Role
    at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class ConversationContext:
    """The messages of a request in order, with its tokens.

    `left_out` maps messages that no provider accepts to the reason; `truncated` lists messages that were cut; `missing`
    names search signals that were unavailable for recall.
    """

    messages: tuple[Message, ...]
    tokens: int
    max_tokens: int
    limit: int
    exact: bool
    markers: tuple[Marker, ...] = ()
    recalled: tuple[RecalledMessage, ...] = ()
    truncated: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)

    @property
    def percent(self) -> float:
        return 100 * self.tokens / self.limit

    def to(self, format: MessageFormat | str) -> ProviderMessages:
        """The messages in the format of a provider."""
        return write(self.messages, format)


@dataclass(frozen=True, slots=True)
class SentMessage:
    """One message as it is sent; `entry` is None for markers, quotations and the `current` message."""

    message: Message
    entry: TranscriptEntry | None = None
    current: bool = False
    marker: Marker | None = None

    @property
    def name(self) -> str:
        """Id in reports; empty for markers and quotations."""
        return self.entry.id if self.entry is not None else (self.message.id or "current") if self.current else ""


class WindowLayout:
    """The window in an order that providers accept: results directly after their calls, and no unpaired parts."""

    def __init__(self, transcript: Transcript, out: frozenset[int], absent: frozenset[int]) -> None:
        self._transcript = transcript
        self._exchanges = transcript.exchanges
        self._out = out
        self._shown = [entry for entry in transcript if entry.place not in out and entry.place not in absent]
        self._already_sent = set[int]()
        self._words_sent = set[int]()

    def messages(self, markers: Mapping[int, Marker]) -> Iterator[SentMessage]:
        """Messages and markers in order; a marker is placed where its run ends, and adjacent markers are merged."""
        waiting = sorted(markers)
        for number, entry in enumerate(self._shown):
            if entry.place in self._already_sent:
                continue
            shown = list(self._from(number, entry))
            reached = [markers[place] for place in waiting if place < entry.place]
            if shown and reached:
                waiting = waiting[len(reached) :]
                yield _marked(reached)
            yield from shown
        if waiting:
            yield _marked([markers[place] for place in waiting])

    def _from(self, number: int, entry: TranscriptEntry) -> Iterator[SentMessage]:
        if self._exchanges.has_calls(entry.place):
            yield from self._exchange(number)
        else:
            yield from self._part(entry, lambda _spot: False)

    def _exchange(self, number: int) -> Iterator[SentMessage]:
        """Consecutive calls, then their results."""
        asking = list(takewhile(lambda entry: self._exchanges.has_calls(entry.place), self._shown[number:]))
        places = {entry.place for entry in asking}
        answers = set[int]()
        for entry in asking:
            self._already_sent.add(entry.place)
            yield from self._part(entry, lambda _spot: False)
            spots = ((entry.place, part) for part in range(len(entry.said.parts)))
            answers |= {result for spot in spots if (result := self._exchanges.answer_to(spot)) is not None}
        for place in sorted(answers - self._out):
            yield from self._part(self._transcript.entries[place], lambda spot: self._asked_in(spot, places))

    def _asked_in(self, spot: PartPosition, places: Collection[int]) -> bool:
        return self._exchanges.asked_at(spot) in places

    def _part(self, entry: TranscriptEntry, answers: Callable[[PartPosition], bool]) -> Iterator[SentMessage]:
        """The parts of a message to send here: its text once, answered calls, and matching results."""
        first = entry.place not in self._words_sent
        self._words_sent.add(entry.place)
        parts = tuple(
            part
            for number, part in enumerate(entry.said.parts)
            if self._sent_here(part, (entry.place, number), answers, first=first)
        )
        if len(parts) == len(entry.said.parts):
            yield SentMessage(entry.said, entry)
        elif parts:
            plain = {"parts": parts, "origin": MessageFormat.PLAIN, "extra": EMPTY}
            speaks = entry.role is Role.TOOL and not any(isinstance(part, ResultPart) for part in parts)
            yield SentMessage(entry.said.replace(**plain, **({"role": Role.USER} if speaks else {})), entry)

    def _sent_here(
        self, part: Part, spot: PartPosition, answers: Callable[[PartPosition], bool], *, first: bool
    ) -> bool:
        if isinstance(part, CallPart):
            result = self._exchanges.answer_to(spot)
            return result is not None and result not in self._out
        return answers(spot) if isinstance(part, ResultPart) else first


def _marked(markers: Sequence[Marker]) -> SentMessage:
    marker = merged_marker(markers)
    return SentMessage(marker.message, marker=marker)


def absent_from(transcript: Transcript, out: Collection[int]) -> frozenset[int]:
    """Places of messages in the window that have nothing to send."""
    exchanges = transcript.exchanges
    return frozenset(place for place in exchanges.orphans | exchanges.unanswered if place not in out)


def left_out(transcript: Transcript, out: Collection[int]) -> Mapping[str, str]:
    """Messages in the window that are not sent, or not in full, with the reason."""
    reasons = ((entry.id, _omission_reason(transcript, entry, out)) for entry in transcript if entry.place not in out)
    return {id: why for id, why in reasons if why}


def _omission_reason(transcript: Transcript, entry: TranscriptEntry, out: Collection[int]) -> str:
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


def unpaired_call_ids(messages: Iterable[Message]) -> set[str]:
    """Ids of calls without a result, and of results without a preceding call."""
    open_calls, unpaired = set[str](), set[str]()
    for message in messages:
        for result in message.results:
            if result.call_id in open_calls:
                open_calls.discard(result.call_id)
            else:
                unpaired.add(result.call_id)
        open_calls |= {call.id for call in message.calls}
    return unpaired | open_calls
