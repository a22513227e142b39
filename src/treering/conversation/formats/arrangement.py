"""Puts messages of any origin into an order that a provider accepts.

Messages that are native to the target stay exactly as they came; the others are fitted around them:

- assistant messages in a row become one, its words before its calls;
- each result stands directly behind the message that asked for it, all results of that message together;
- a call that was never answered gets a result that says so; where nothing follows a message, its calls are still open;
- a result without a call becomes words of the user;
- an id that the target refuses, or that came twice, is replaced in the call and in its result.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count, groupby

from treering.conversation.formats.portable import Target, is_native, portable
from treering.core.messages import CallPart, Message, MessageFormat, Part, ResultPart, Role, TextPart
from treering.core.values import EMPTY

UNANSWERED = "[no result was recorded]"

# The place of a part: which step, which part in it.
_Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Step:
    """A message as it will be written."""

    message: Message
    native: bool

    def as_it_came(self, format: MessageFormat) -> bool:
        """Whether this is the very message that was read in this format."""
        return self.native and self.message.origin is format


def arrange(messages: Iterable[Message], target: Target) -> list[Step]:
    """The messages in an order that the target accepts."""
    return list(_Arrangement(tuple(_merged(_fitted(messages, target))), target).steps())


def _fitted(messages: Iterable[Message], target: Target) -> Iterator[Step]:
    for message in messages:
        if is_native(message, target):
            yield Step(message, native=True)
        elif (crossed := portable(_by_its_speaker(message), target)).parts:
            yield Step(crossed, native=False)


def _by_its_speaker(message: Message) -> Message:
    """Only an assistant asks for tools, and only tools answer, whatever role the message claims."""
    role = Role.ASSISTANT if message.calls else Role.TOOL if message.results else message.role
    return message if role is message.role else message.replace(role=role)


def _merged(steps: Iterable[Step]) -> Iterator[Step]:
    """Foreign assistant messages in a row as one, its words before its calls."""
    for is_turn, run in groupby(steps, _is_foreign_turn):
        if not is_turn:
            yield from run
            continue
        messages = [step.message for step in run]
        parts = [part for message in messages for part in message.parts]
        parts.sort(key=lambda part: isinstance(part, CallPart))
        yield Step(messages[0].replace(parts=parts), native=False)


def _is_foreign_turn(step: Step) -> bool:
    return step.message.role is Role.ASSISTANT and not step.native


@dataclass
class _Arrangement:
    """Pairs the calls of some steps with their results, and puts these where they belong."""

    given: Sequence[Step]
    target: Target
    answers: dict[_Place, _Place] = field(init=False)
    paired: frozenset[_Place] = field(init=False)
    used_ids: set[str] = field(init=False)
    last_said: int = field(init=False)

    def __post_init__(self) -> None:
        self.answers = _pairs(self.given)
        self.paired = frozenset(self.answers.values())
        self.used_ids = {call.id for step in self.given if step.native for call in step.message.calls}
        self.last_said = max((at for at, step in enumerate(self.given) if self._rest(at, step)), default=-1)

    def steps(self) -> Iterator[Step]:
        held: list[Step] = []
        until = -1
        for at, step in enumerate(self.given):
            answered_at = self._last_native_answer(at)
            # Between a call and its native result, which stays where it is, nothing else may stand.
            if at < until and answered_at < 0 and not step.native:
                held += self._placed(at, step)
                continue
            until = max(until, answered_at)
            yield from self._placed(at, step)
            if at >= until:
                yield from held
                held = []
        yield from held

    def _placed(self, at: int, step: Step) -> Iterator[Step]:
        message = step.message
        if not step.native:
            role = Role.USER if message.role is Role.TOOL else message.role
            message = message.replace(role=role, parts=self._renamed(at, self._rest(at, step)))
        if message.parts or step.native:
            yield replace(step, message=message)
        if results := tuple(self._results(at, message)):
            yield Step(Message.make(role=Role.TOOL, parts=results, origin=self.target.format), native=False)

    def _rest(self, at: int, step: Step) -> tuple[Part, ...]:
        """What stays in a step: all of a native one, else all but the results that stand behind their call."""
        if step.native:
            return step.message.parts
        left = [part for place, part in enumerate(step.message.parts) if (at, place) not in self.paired]
        return tuple(said for part in left for said in _said(part))

    def _renamed(self, at: int, parts: tuple[Part, ...]) -> tuple[Part, ...]:
        calls = iter(self._call_places(at))
        return tuple(self._named(part, next(calls)) if isinstance(part, CallPart) else part for part in parts)

    def _named(self, call: CallPart, place: _Place) -> CallPart:
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
        """The foreign results of a step's calls, and a stand-in for each foreign call that nobody answered."""
        places = self._call_places(at)
        is_open = at >= self.last_said and not any(place in self.answers for place in places)
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

    def _call_places(self, at: int) -> list[_Place]:
        parts = self.given[at].message.parts
        return [(at, place) for place, part in enumerate(parts) if isinstance(part, CallPart)]

    def _last_native_answer(self, at: int) -> int:
        answers = (self.answers.get(place) for place in self._call_places(at))
        return max((answer[0] for answer in answers if answer and self.given[answer[0]].native), default=-1)


def _pairs(steps: Sequence[Step]) -> dict[_Place, _Place]:
    """Where the result of each answered call is. A result answers the latest call with its id that is still waiting."""
    waiting: dict[str, list[_Place]] = {}
    answers: dict[_Place, _Place] = {}
    for at, step in enumerate(steps):
        for place, part in enumerate(step.message.parts):
            if isinstance(part, CallPart):
                waiting.setdefault(part.id, []).append((at, place))
            elif isinstance(part, ResultPart) and waiting.get(part.call_id):
                answers[waiting[part.call_id].pop()] = (at, place)
    return answers


def _said(part: Part) -> Sequence[Part]:
    """A result that answers nothing, as words."""
    if not isinstance(part, ResultPart):
        return (part,)
    return (TextPart.make(text=f"[result of the earlier call {part.call_id}]"), *part.parts)
