"""Messages in the formats of providers, and in our own.

Reading and writing in one format returns equal items. Writing in another format preserves texts, calls and results in
an order that the provider accepts; `portable` and `arrange` define what is converted and what is left out.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from treering.conversation.formats import anthropic, chat, plain, responses
from treering.conversation.formats.arrangement import ArrangedMessage, arrange
from treering.conversation.formats.content import Item
from treering.conversation.formats.detection import candidates, detect_all
from treering.conversation.formats.portable import TARGETS
from treering.core.errors import InvalidInput
from treering.core.messages import Message, MessageFormat, Role
from treering.core.values import FrozenDict, thaw

__all__ = ["EARLIER", "Written", "read", "read_all", "write"]

# User message inserted before a leading assistant message, which Anthropic rejects.
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
class ProviderMessages:
    """The message arguments of a provider's API call.

    `messages` are chat messages, input items of Responses, messages of Anthropic, or our own JSON. `system` is used
    only for Anthropic, which takes the system prompt separately.
    """

    messages: list[dict[str, Any]]
    system: str | list[dict[str, Any]] | None = None


def read(item: Mapping[str, Any] | Message, format: MessageFormat | str | None = None) -> Message:
    """Read one message. A `Message` is returned unchanged; without `format`, the format is detected."""
    if isinstance(item, Message):
        return item
    fields = _json(item)
    return _READERS[_format(format) if format is not None else candidates(fields)[0]](fields)


def read_all(
    items: Iterable[Mapping[str, Any] | Message], format: MessageFormat | str | None = None
) -> tuple[Message, ...]:
    """Read several messages. Without `format`, an ambiguous item gets the format of the others."""
    if isinstance(items, (Mapping, str, bytes)) or not isinstance(items, Iterable):
        raise InvalidInput(f"messages must be a list, not {type(items).__name__}; wrap a single message in a list")
    given = [item if isinstance(item, Message) else _at(place, _json, item) for place, item in enumerate(items)]
    raw = [item for item in given if isinstance(item, dict)]
    formats = iter(detect_all(raw) if format is None else [_format(format)] * len(raw))
    return tuple(
        item if isinstance(item, Message) else _at(place, _READERS[next(formats)], item)
        for place, item in enumerate(given)
    )


def write(messages: Sequence[Message], format: MessageFormat | str) -> ProviderMessages:
    """The messages for a call to a provider.

    Messages read in this format are written unchanged, the others are converted. For Anthropic, system messages go to
    `system`, except a native one in the middle of a conversation, which the API accepts there.
    """
    wanted = _format(format)
    if wanted is MessageFormat.PLAIN:
        return ProviderMessages([item for message in messages for item in plain.write(message)])
    steps = arrange(messages, TARGETS[wanted])
    if wanted is MessageFormat.ANTHROPIC:
        return _for_anthropic(steps)
    return ProviderMessages([item for step in steps for item in _WRITERS[wanted](step.message)])


def _for_anthropic(steps: list[ArrangedMessage]) -> ProviderMessages:
    system: list[ArrangedMessage] = []
    spoken: list[ArrangedMessage] = []
    for step in steps:
        stays = bool(spoken) and step.is_original(MessageFormat.ANTHROPIC)
        (spoken if stays or step.message.role is not Role.SYSTEM else system).append(step)
    items = [item for step in spoken for item in anthropic.write(step.message)]
    if spoken and spoken[0].message.role is Role.ASSISTANT and not spoken[0].is_original(MessageFormat.ANTHROPIC):
        items.insert(0, {"role": "user", "content": EARLIER})
    return ProviderMessages(items, anthropic.write_system([step.message for step in system]))


def _format(name: MessageFormat | str) -> MessageFormat:
    try:
        return MessageFormat(name)
    except ValueError:
        raise InvalidInput(f"unknown format {name!r}; use one of {', '.join(MessageFormat)}") from None


def _json(item: Any) -> Item:
    """The item as plain JSON. Raises `InvalidInput` if it is not JSON."""
    if not isinstance(item, Mapping):
        raise InvalidInput(
            f"a message must be a dict or a Message, not {type(item).__name__}; convert an SDK object with model_dump()"
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
