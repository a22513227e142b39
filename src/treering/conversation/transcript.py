"""All messages of a conversation in order, grouped into units, rounds and segments."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from treering.conversation.cues.detection import MessageCues
from treering.conversation.exchanges import Exchanges
from treering.conversation.topics import MessageSubject, Topic, subject_of
from treering.core.messages import Message, Role

SPEAKERS = frozenset({Role.USER, Role.ASSISTANT})

Modifiers = tuple[tuple[str, float], ...]
"""Summands of a message's importance, by name."""


@dataclass(slots=True, eq=False)
class TranscriptEntry:
    """One message at its place, with properties computed once.

    `message` is None after it left the window; the store still has it.
    """

    place: int
    seq: int
    id: str
    role: Role
    at: datetime
    message: Message | None
    tokens: int
    cues: MessageCues
    modifiers: Modifiers
    worth: float
    """The sum of the modifiers."""
    names: frozenset[str]
    gist: str
    """Its first sentence; for an error, the first line that reports it."""
    fingerprint: int | None = None
    """Equal for messages with the same content; None for short messages."""
    quotable: bool = True
    """Whether everyone who can read the session may read it, so that a summary may quote it."""

    @property
    def said(self) -> Message:
        if self.message is None:
            raise AssertionError(f"message {self.id!r} left the window; read it from the store")
        return self.message


class Unit:
    """Messages that are removed together: calls and their results, a question and its answer, or a whole round."""

    __slots__ = ("entries", "first", "last", "names", "tokens")

    def __init__(self, entries: Iterable[TranscriptEntry] = ()) -> None:
        self.entries: list[TranscriptEntry] = []
        self.names: frozenset[str] = frozenset()
        self.first = self.last = self.tokens = 0
        self.add(entries)

    def add(self, entries: Iterable[TranscriptEntry]) -> None:
        self.entries = sorted((*self.entries, *entries), key=lambda entry: entry.place)
        if not self.entries:
            return
        self.first, self.last = self.entries[0].place, self.entries[-1].place
        self.tokens = sum(entry.tokens for entry in self.entries)
        self.names = frozenset[str]().union(*(entry.names for entry in self.entries))

    def without(self, places: Collection[int]) -> "Unit | None":
        """The unit without the messages at these places; None if nothing remains."""
        if not any(entry.place in places for entry in self.entries):
            return self
        rest = Unit(entry for entry in self.entries if entry.place not in places)
        return rest if rest.entries else None


@dataclass(slots=True, eq=False)
class Round:
    """A question with all calls, results and answers that follow it."""

    entries: list[TranscriptEntry] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Segment:
    """The messages of one task from place `first` on. `ended` is the evidence that it is over, or empty."""

    first: int
    opened: str = "the conversation begins"
    ended: str = ""


class Transcript:
    """Messages in order. Appending a message changes earlier ones only by merging their units or rounds."""

    def __init__(self) -> None:
        self.entries: list[TranscriptEntry] = []
        self.unit_of: list[Unit] = []
        """By place. Providers accept calls and results only together; a question is joined with its answer."""
        self.round_of: list[Round] = []
        self.segment_of: list[Segment] = []
        self.exchanges = Exchanges()
        self.mentions: Counter[str] = Counter()
        self._by_id: dict[str, TranscriptEntry] = {}
        self._instructed: list[int] = []
        self._asked: list[int] = []
        self._topic = Topic()
        self._round: Round | None = None

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[TranscriptEntry]:
        return iter(self.entries)

    def get(self, id: str) -> TranscriptEntry | None:
        return self._by_id.get(id)

    def append(self, entry: TranscriptEntry, *, fresh: bool = False) -> None:
        """Add the next message; `fresh` if the window was cleared before it."""
        asked = sorted(self.exchanges.add(entry.place, entry.said))
        before = self.entries[-1] if self.entries and not fresh else None
        follows = before is not None and before.seq + 1 == entry.seq
        unit = self._joined([self.unit_of[place] for place in asked]) if asked else self._beside(entry, follows=follows)
        turn = self._round_for(entry, asked, follows=follows)
        self._place_in_segment(entry)
        unit.add((entry,))
        turn.entries.append(entry)
        self.entries.append(entry)
        self.unit_of.append(unit)
        self.round_of.append(turn)
        self._by_id[entry.id] = entry
        if entry.role is Role.SYSTEM:
            self._instructed.append(entry.place)
        elif entry.role is Role.USER:
            self._asked.append(entry.place)
        self.mentions.update(entry.names)

    def units(self) -> list[Unit]:
        """In order of their first messages."""
        return list(dict.fromkeys(self.unit_of))

    def rounds(self) -> list[Round]:
        """In order of their first messages."""
        return list(dict.fromkeys(self.round_of))

    def parts(self, round: Round) -> list[Unit]:
        """The units of a round: question and answer as one, then the calls between them with their results."""
        units = dict.fromkeys(self.unit_of[entry.place] for entry in round.entries)
        first, last = round.entries[0], round.entries[-1]
        question, answer = self.unit_of[first.place], self.unit_of[last.place]
        answered = first.role is Role.USER and last.role is Role.ASSISTANT and not self.exchanges.has_calls(last.place)
        if not answered or question is answer:
            return list(units)
        return [
            Unit((*question.entries, *answer.entries)),
            *(unit for unit in units if unit not in (question, answer)),
        ]

    def prompts(self) -> list[int]:
        """Places of the system prompt: all leading system messages, and the last one."""
        spoken = next((entry.place for entry in self.entries if entry.role is not Role.SYSTEM), len(self.entries))
        return [*range(spoken), *self._instructed[-1:]]

    def last_asked(self) -> TranscriptEntry | None:
        """The last message of the user."""
        return self.entries[self._asked[-1]] if self._asked else None

    def segments(self) -> list[Segment]:
        return list(dict.fromkeys(self.segment_of))

    def _beside(self, entry: TranscriptEntry, *, follows: bool) -> Unit:
        """The unit of the question directly before an answer, unless a message between them was forgotten."""
        if not follows or entry.role is not Role.ASSISTANT or self.entries[-1].role is not Role.USER:
            return Unit()
        return self.unit_of[-1]

    def _round_for(self, entry: TranscriptEntry, asked: Sequence[int], *, follows: bool) -> Round:
        """The round of the calls that the message answers, else that of the last question.

        After a gap a new round begins, because the forgotten message may have been a question.
        """
        found = self._one_round([self.round_of[place] for place in asked]) if asked else None
        if entry.role is Role.USER:
            self._round = found or Round()
        elif not follows and self.entries:
            self._round = Round()
        return found or (None if entry.role is Role.SYSTEM else self._round) or Round()

    def _one_round(self, rounds: Sequence[Round]) -> Round:
        first, *others = dict.fromkeys(rounds)
        for other in others:
            first.entries = sorted((*first.entries, *other.entries), key=lambda entry: entry.place)
            for entry in other.entries:
                self.round_of[entry.place] = first
            if self._round is other:
                self._round = first
        return first

    def _joined(self, units: Sequence[Unit]) -> Unit:
        first, *others = dict.fromkeys(units)
        for other in others:
            first.add(other.entries)
            for entry in other.entries:
                self.unit_of[entry.place] = first
        return first

    def _place_in_segment(self, entry: TranscriptEntry) -> None:
        current = self.segment_of[-1] if self.segment_of else Segment(entry.place)
        if entry.role in SPEAKERS:
            subject, by_user = subject_of(entry.said.text), entry.role is Role.USER
            opened = self._opened(entry, subject) if by_user and self.segment_of else ""
            if opened:
                if entry.cues.opens_task:
                    current.ended = current.ended or "another task was begun"
                current = Segment(entry.place, opened)
                self._topic = self._topic.turned_to(subject)
            else:
                self._topic = self._topic.followed_by(subject, by_user=by_user)
                if by_user and not entry.cues.casual:
                    # The user continues, so the task was not done.
                    current.ended = ""
            if entry.cues.ends_task and not current.ended:
                current.ended = "said to be done"
        self.segment_of.append(current)

    def _opened(self, entry: TranscriptEntry, subject: MessageSubject) -> str:
        """Evidence that the user begins another task or topic; empty if there is none."""
        if entry.cues.opens_task:
            return "another task begins"
        return "another subject begins" if self._topic.shifts(subject) else ""


def completed(transcript: Transcript) -> frozenset[int]:
    """Places of messages whose task ended and is not the current one."""
    current = transcript.segment_of[-1] if transcript.segment_of else None
    return frozenset(place for place, each in enumerate(transcript.segment_of) if each.ended and each is not current)


def redundant(transcript: Transcript, missing: Collection[int]) -> frozenset[int]:
    """Places of messages that a later message repeats, ignoring messages that are `missing` from the window."""
    later, found = set[int](), set[int]()
    for entry in reversed(transcript.entries):
        if entry.fingerprint is not None and entry.place not in missing:
            if entry.fingerprint in later:
                found.add(entry.place)
            later.add(entry.fingerprint)
    return frozenset(found)
