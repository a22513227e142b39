"""Messages of Anthropic's Messages API.

A user message with tool results has the role TOOL here, including its other parts. A system prompt is read as a message
with the role `system`. Unknown blocks are preserved.
"""

from collections.abc import Callable
from typing import Any

from treering.conversation.formats.content import (
    ContentPart,
    Item,
    content_in,
    label,
    read_content,
    read_other,
    role_of,
    shape_of,
    text_in,
    write_content,
    write_other,
)
from treering.conversation.formats.exact_form import exact, patched
from treering.core.messages import (
    CallPart,
    ImagePart,
    Message,
    MessageFormat,
    OtherPart,
    Part,
    ResultPart,
    Role,
    TextPart,
)
from treering.core.values import EMPTY, thaw

ROLES = {"system": Role.SYSTEM, "user": Role.USER, "assistant": Role.ASSISTANT}


def read(item: Item) -> Message:
    """Read one message; `write` returns an equal item."""
    role = role_of(item, ROLES)
    parts = read_content(content_in(item), _read_part)
    if role is Role.USER and any(isinstance(part, ResultPart) for part in parts):
        role = Role.TOOL
    extra = shape_of(item["content"], parts)
    message = Message.make(role=role, parts=parts, origin=MessageFormat.ANTHROPIC, extra=extra)
    return exact(message, item, lambda made: write(made)[0])


def write(message: Message) -> list[Item]:
    """The message as one item."""
    role = "user" if message.role is Role.TOOL else message.role.value
    content = write_content(message.parts, _write_part, message.extra, empty="")
    return [patched({"role": role, "content": content}, message.extra.get("patch"))]


def write_system(messages: list[Message]) -> str | list[Item] | None:
    """The value of `system`: the content of a single message, or the blocks of several."""
    contents = [write(message)[0]["content"] for message in messages]
    if len(contents) <= 1:
        return contents[0] if contents else None
    return [block for content in contents for block in _blocks(content)]


def _blocks(content: Any) -> list[Item]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _read_part(item: Item) -> Part:
    reader = _READERS.get(str(item.get("type")))
    return reader(item) if reader else read_other(item)


def _read_inner(item: Item) -> ContentPart:
    """A block inside a result, which cannot contain calls or results."""
    part = _read_part(item)
    return read_other(item) if isinstance(part, (CallPart, ResultPart)) else part


def _read_text(item: Item) -> TextPart:
    return exact(TextPart.make(text=text_in(item, "text", "a text block", blank=True)), item, _write_part)


def _read_image(item: Item) -> ImagePart | OtherPart:
    source = item.get("source")
    if not isinstance(source, dict):
        return read_other(item)
    if isinstance(source.get("data"), str) and (media_type := label(source.get("media_type"))):
        return exact(ImagePart.make(data=source["data"], media_type=media_type), item, _write_part)
    if isinstance(source.get("url"), str):
        return exact(ImagePart.make(url=source["url"]), item, _write_part)
    return read_other(item)


def _read_call(item: Item) -> CallPart:
    part = CallPart.make(
        id=text_in(item, "id", "a tool_use block"),
        name=text_in(item, "name", "a tool_use block"),
        arguments=item.get("input", EMPTY),
    )
    return exact(part, item, _write_part)


def _read_result(item: Item) -> ResultPart:
    parts = read_content(item.get("content"), _read_inner)
    part = ResultPart.make(
        call_id=text_in(item, "tool_use_id", "a tool_result block"),
        parts=parts,
        is_error=item.get("is_error") is True,
        extra=shape_of(item.get("content"), parts),
    )
    return exact(part, item, _write_part)


_READERS: dict[str, Callable[[Item], Part]] = {
    "text": _read_text,
    "image": _read_image,
    "tool_use": _read_call,
    "tool_result": _read_result,
}


def _write_part(part: Part) -> Item:
    if isinstance(part, OtherPart):
        return write_other(part)
    return dict(patched(_made(part), part.extra.get("patch")))


def _made(part: TextPart | ImagePart | CallPart | ResultPart) -> Item:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text or ""}
    if isinstance(part, CallPart):
        return {"type": "tool_use", "id": part.id, "name": part.name, "input": thaw(part.arguments)}
    if isinstance(part, ResultPart):
        content = write_content(part.parts, _write_part, part.extra)
        said = {} if content is None else {"content": content}
        failed = {"is_error": True} if part.is_error else {}
        return {"type": "tool_result", "tool_use_id": part.call_id, **said, **failed}
    if part.data is None:
        return {"type": "image", "source": {"type": "url", "url": part.url or ""}}
    return {"type": "image", "source": {"type": "base64", "media_type": part.media_type, "data": part.data}}
