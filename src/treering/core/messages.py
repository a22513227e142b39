"""Messages of a conversation in one form for every provider: a role and parts."""

import json
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from treering.core.values import EMPTY, Count, FrozenMap, Instant, Json, Key, Label, Text, Value, thaw


class Role(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


class MessageFormat(StrEnum):
    """Wire formats of messages."""

    PLAIN = "plain"
    CHAT = "chat"
    RESPONSES = "responses"
    ANTHROPIC = "anthropic"


class TextPart(Value):
    """Text. In a stored turn, None means the turn's own text."""

    kind: Literal["text"] = "text"
    text: Text | None = None
    extra: FrozenMap = EMPTY


class ImagePart(Value):
    """An image: its bytes in base64, or its URL. Sizes are in pixels, if known."""

    kind: Literal["image"] = "image"
    data: Text | None = None
    url: Text | None = None
    media_type: Label | None = None
    detail: Label | None = None
    width: Count | None = None
    height: Count | None = None
    extra: FrozenMap = EMPTY


class OtherPart(Value):
    """Any other content of a provider, unchanged: reasoning, audio, documents, built-in searches."""

    kind: Literal["other"] = "other"
    type: Label
    data: FrozenMap = EMPTY


class CallPart(Value):
    """A tool call. `arguments` are unchanged: an object, its JSON text, or None."""

    kind: Literal["call"] = "call"
    id: Key
    name: Label
    arguments: Json = None
    extra: FrozenMap = EMPTY

    @property
    def arguments_text(self) -> str:
        if self.arguments is None:
            return "{}"
        return self.arguments if isinstance(self.arguments, str) else json.dumps(thaw(self.arguments))


class ResultPart(Value):
    """The result of the tool call with this id."""

    kind: Literal["result"] = "result"
    call_id: Key
    parts: tuple[Annotated[TextPart | ImagePart | OtherPart, Field(discriminator="kind")], ...] = ()
    is_error: bool = False
    extra: FrozenMap = EMPTY


Part = Annotated[TextPart | ImagePart | OtherPart | CallPart | ResultPart, Field(discriminator="kind")]


class MessageBody(Value):
    """Content of a message. `extra` holds fields that only the original format (`origin`) understands."""

    parts: tuple[Part, ...] = ()
    origin: MessageFormat = MessageFormat.PLAIN
    extra: FrozenMap = EMPTY


class Message(MessageBody):
    """One message. A missing `id` or time is set when it is added to a conversation."""

    id: Key | None = None
    role: Role
    at: Instant | None = None
    speaker: Label | None = None

    @classmethod
    def of(cls, role: Role | str, text: str, **fields: object) -> "Message":
        """A message with a single text part."""
        return cls.make(role=role, parts=(TextPart.make(text=text),), **fields)

    @property
    def calls(self) -> tuple[CallPart, ...]:
        return tuple(part for part in self.parts if isinstance(part, CallPart))

    @property
    def results(self) -> tuple[ResultPart, ...]:
        return tuple(part for part in self.parts if isinstance(part, ResultPart))

    @property
    def is_error(self) -> bool:
        return any(result.is_error for result in self.results)

    @property
    def text(self) -> str:
        """Readable text: texts, calls with their arguments, and tool results."""
        return "\n".join(filter(None, _readable(self.parts)))


def _readable(parts: tuple[Part, ...]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, TextPart):
            yield part.text or ""
        elif isinstance(part, CallPart):
            yield f"{part.name}({_short(part.arguments)})"
        elif isinstance(part, ResultPart):
            yield from _readable(part.parts)


def _short(arguments: object) -> str:
    if isinstance(arguments, Mapping):
        return ", ".join(f"{name}={value}" for name, value in thaw(arguments).items())
    return "" if arguments is None else str(arguments)
