"""Messages in the formats of the providers, and in our own.

Reading and writing in one format gives back equal items. Writing in another keeps what was said, called and answered,
in an order that the other provider accepts; `portable` and `arrange` say what is fitted and what is left out.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from treering.conversation.formats import anthropic, chat, plain, responses
from treering.conversation.formats.arrangement import Step, arrange
from treering.conversation.formats.content import Item
from treering.conversation.formats.detection import candidates, detect_all
from treering.conversation.formats.portable import TARGETS
from treering.core.errors import InvalidInput
from treering.core.messages import Message, MessageFormat, Role
from treering.core.values import FrozenDict, thaw

__all__ = ["EARLIER", "Written", "read", "read_all", "write"]

# What the user says where a conversation begins with the assistant, which Anthropic refuses.
EARLIER = "[the conversation began earlier]"

_READERS: Mapping[MessageFormat, Callable[[Item], Message]] = {
    MessageFormat.PLAIN: plain.read,
    MessageFormat.CHAT: chat.read,
    MessageFormat.RESPONSES: responses.read,
    MessageFormat.ANTHROPIC: anthropic.read,
}
_WRITERS: Mapping[MessageFormat, Callable[[Message], list[Item]]] = {
    MessageFormat.PLAIN: plain.write,
    MessageFormat.CHAT: chat.write,
    MessageFormat.RESPONSES: responses.write,
    MessageFormat.ANTHROPIC: anthropic.write,
}


@dataclass(frozen=True, slots=True)
class Written:
    """What a call to a provider takes.

    `messages` are chat messages, input items of Responses, messages of Anthropic, or our own JSON. `system` is only
    used for Anthropic, which takes the system prompt apart from the messages.
    """

    messages: list[dict[str, Any]]
    system: str | list[dict[str, Any]] | None = None


def read(item: Mapping[str, Any] | Message, format: MessageFormat | str | None = None) -> Message:
    """One message. A `Message` is taken as it is; without a `format` it is told by what the item holds."""
    if isinstance(item, Message):
        return item
    fields = _json(item)
    return _READERS[_format(format) if format is not None else candidates(fields)[0]](fields)


def read_all(
    items: Iterable[Mapping[str, Any] | Message], format: MessageFormat | str | None = None
) -> tuple[Message, ...]:
    """Several messages. Without a `format`, an item that could have several has that of its neighbours."""
    if isinstance(items, (Mapping, str, bytes)) or not isinstance(items, Iterable):
        raise InvalidInput(f"messages come as a list, not as {type(items).__name__}; put a single one into a list")
    given = [item if isinstance(item, Message) else _at(place, _json, item) for place, item in enumerate(items)]
    raw = [item for item in given if isinstance(item, dict)]
    formats = iter(detect_all(raw) if format is None else [_format(format)] * len(raw))
    return tuple(
        item if isinstance(item, Message) else _at(place, _READERS[next(formats)], item)
        for place, item in enumerate(given)
    )


def write(messages: Sequence[Message], format: MessageFormat | str) -> Written:
    """The messages for a call to a provider.

    Those that came in this format are given back as they came, the others are converted. For Anthropic, system
    messages go to `system`, except a native one in the midst of a conversation, which the API takes in its place.
    """
    wanted = _format(format)
    if wanted is MessageFormat.PLAIN:
        return Written([item for message in messages for item in plain.write(message)])
    steps = arrange(messages, TARGETS[wanted])
    if wanted is MessageFormat.ANTHROPIC:
        return _for_anthropic(steps)
    return Written([item for step in steps for item in _WRITERS[wanted](step.message)])


def _for_anthropic(steps: list[Step]) -> Written:
    system: list[Step] = []
    said: list[Step] = []
    for step in steps:
        stays = bool(said) and step.as_it_came(MessageFormat.ANTHROPIC)
        (said if stays or step.message.role is not Role.SYSTEM else system).append(step)
    items = [item for step in said for item in anthropic.write(step.message)]
    if said and said[0].message.role is Role.ASSISTANT and not said[0].as_it_came(MessageFormat.ANTHROPIC):
        items.insert(0, {"role": "user", "content": EARLIER})
    return Written(items, anthropic.write_system([step.message for step in system]))


def _format(name: MessageFormat | str) -> MessageFormat:
    try:
        return MessageFormat(name)
    except ValueError:
        raise InvalidInput(f"the format {name!r} is unknown; use one of {', '.join(MessageFormat)}") from None


def _json(item: Any) -> Item:
    """The item as plain JSON, checked to be JSON."""
    if not isinstance(item, Mapping):
        raise InvalidInput(
            f"a message is a dict (an SDK's model_dump() gives one) or a Message, not {type(item).__name__}"
        )
    try:
        return dict(thaw(FrozenDict(item)))
    except ValueError as exc:
        raise InvalidInput(f"the message {exc}") from exc


def _at(place: int, do: Callable[[Any], Any], item: Any) -> Any:
    try:
        return do(item)
    except InvalidInput as exc:
        raise InvalidInput(f"message {place}: {exc}") from exc
