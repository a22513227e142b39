"""Arranges messages of any origin in an order that a provider accepts.

Messages that are native to the target stay unchanged; the others are arranged around them:

- consecutive assistant messages become one, with texts before calls;
- all results of a message directly follow the message with their calls;
- an unanswered call gets a result that says so, unless it is in the last message, where calls are still open;
- a result without a call becomes text of the user;
- an id that the target rejects, or that is used twice, is replaced in the call and in its result.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count, groupby

from treering.conversation.formats.portable import TargetFormat, is_native, portable
from treering.core.messages import CallPart, Message, MessageFormat, Part, ResultPart, Role, TextPart
from treering.core.values import EMPTY

UNANSWERED = "[no result was recorded]"

# Index of a step, and of a part in it.
_PartPosition = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ArrangedMessage:
    """A message as it will be written."""

    message: Message
    native: bool

    def is_original(self, format: MessageFormat) -> bool:
        """Whether this is the unchanged message that was read in this format."""
        return self.native and self.message.origin is format


def arrange(messages: Iterable[Message], target: TargetFormat) -> list[ArrangedMessage]:
    """The messages in an order that the target accepts."""
    return list(_Arrangement(tuple(_merged(_fitted(messages, target))), target).steps())


def _fitted(messages: Iterable[Message], target: TargetFormat) -> Iterator[ArrangedMessage]:
    for message in messages:
        if is_native(message, target):
            yield ArrangedMessage(message, native=True)
        elif (converted := portable(_with_actual_role(message), target)).parts:
            yield ArrangedMessage(converted, native=False)


def _with_actual_role(message: Message) -> Message:
    """Calls make a message the assistant's, results make it a tool's, whatever its role says."""
    role = Role.ASSISTANT if message.calls else Role.TOOL if message.results else message.role
    return message if role is message.role else message.replace(role=role)


def _merged(steps: Iterable[ArrangedMessage]) -> Iterator[ArrangedMessage]:
    """Merge consecutive foreign assistant messages, with texts before calls."""
    for is_turn, run in groupby(steps, _is_foreign_turn):
        if not is_turn:
            yield from run
            continue
        messages = [step.message for step in run]
        parts = [part for message in messages for part in message.parts]
        parts.sort(key=lambda part: isinstance(part, CallPart))
        yield ArrangedMessage(messages[0].replace(parts=parts), native=False)


def _is_foreign_turn(step: ArrangedMessage) -> bool:
    return step.message.role is Role.ASSISTANT and not step.native


@dataclass
class _Arrangement:
    """Pairs calls with results, and places the results."""

    given: Sequence[ArrangedMessage]
    target: TargetFormat
    answers: dict[_PartPosition, _PartPosition] = field(init=False)
    paired: frozenset[_PartPosition] = field(init=False)
    used_ids: set[str] = field(init=False)
    last_with_content: int = field(init=False)

    def __post_init__(self) -> None:
        self.answers = _pairs(self.given)
        self.paired = frozenset(self.answers.values())
        self.used_ids = {call.id for step in self.given if step.native for call in step.message.calls}
        self.last_with_content = max((at for at, step in enumerate(self.given) if self._rest(at, step)), default=-1)

    def steps(self) -> Iterator[ArrangedMessage]:
        postponed: list[ArrangedMessage] = []
        until = -1
        for at, step in enumerate(self.given):
            answered_at = self._last_native_answer(at)
            # Nothing may come between a call and its native result, which is not moved.
            if at < until and answered_at < 0 and not step.native:
                postponed += self._placed(at, step)
                continue
            until = max(until, answered_at)
            yield from self._placed(at, step)
            if at >= until:
                yield from postponed
                postponed = []
        yield from postponed

    def _placed(self, at: int, step: ArrangedMessage) -> Iterator[ArrangedMessage]:
        message = step.message
        if not step.native:
            role = Role.USER if message.role is Role.TOOL else message.role
            message = message.replace(role=role, parts=self._renamed(at, self._rest(at, step)))
        if message.parts or step.native:
            yield replace(step, message=message)
        if results := tuple(self._results(at, message)):
            yield ArrangedMessage(Message.make(role=Role.TOOL, parts=results, origin=self.target.format), native=False)

    def _rest(self, at: int, step: ArrangedMessage) -> tuple[Part, ...]:
        """The parts that stay in a step: all of a native one, else all but paired results."""
        if step.native:
            return step.message.parts
        left = [part for place, part in enumerate(step.message.parts) if (at, place) not in self.paired]
        return tuple(content for part in left for content in _as_text(part))

    def _renamed(self, at: int, parts: tuple[Part, ...]) -> tuple[Part, ...]:
        calls = iter(self._call_places(at))
        return tuple(self._named(part, next(calls)) if isinstance(part, CallPart) else part for part in parts)

    def _named(self, call: CallPart, place: _PartPosition) -> CallPart:
        answer = self.answers.get(place)
        fixed = answer is not None and self.given[answer[0]].native
        id = call.id if fixed else next(self._free_ids(call.id))
        self.used_ids.add(id)
        return call.replace(id=id)

    def _free_ids(self, id: str) -> Iterator[str]:
        plain = re.sub(r"[^A-Za-z0-9_-]", "_", id)
        for name in chain((id, plain), (f"{plain[:30]}_{number}" for number in count(2))):
            if name not in self.used_ids and self.target.call_ids.fullmatch(name):
                yield name

    def _results(self, at: int, message: Message) -> Iterator[ResultPart]:
        """The foreign results of a step's calls, and a placeholder for each unanswered foreign call."""
        places = self._call_places(at)
        is_open = at >= self.last_with_content and not any(place in self.answers for place in places)
        for call, place in zip(message.calls, places, strict=True):
            answer = self.answers.get(place)
            hint = {"as": "custom"} if call.extra.get("as") == "custom" else EMPTY
            if answer is not None:
                step = self.given[answer[0]]
                part = step.message.parts[answer[1]]
                if not step.native and isinstance(part, ResultPart):
                    yield part.replace(call_id=call.id, extra=hint)
            elif not (is_open or self.given[at].native):
                yield ResultPart.make(call_id=call.id, parts=(TextPart.make(text=UNANSWERED),), extra=hint)

    def _call_places(self, at: int) -> list[_PartPosition]:
        parts = self.given[at].message.parts
        return [(at, place) for place, part in enumerate(parts) if isinstance(part, CallPart)]

    def _last_native_answer(self, at: int) -> int:
        answers = (self.answers.get(place) for place in self._call_places(at))
        return max((answer[0] for answer in answers if answer and self.given[answer[0]].native), default=-1)


def _pairs(steps: Sequence[ArrangedMessage]) -> dict[_PartPosition, _PartPosition]:
    """Result position by call position. A result answers the latest unanswered call with its id."""
    waiting: dict[str, list[_PartPosition]] = {}
    answers: dict[_PartPosition, _PartPosition] = {}
    for at, step in enumerate(steps):
        for place, part in enumerate(step.message.parts):
            if isinstance(part, CallPart):
                waiting.setdefault(part.id, []).append((at, place))
            elif isinstance(part, ResultPart) and waiting.get(part.call_id):
                answers[waiting[part.call_id].pop()] = (at, place)
    return answers


def _as_text(part: Part) -> Sequence[Part]:
    """A result without a call, as text."""
    if not isinstance(part, ResultPart):
        return (part,)
    return (TextPart.make(text=f"[result of the earlier call {part.call_id}]"), *part.parts)
