"""Messages of OpenAI's Chat Completions API, which many servers implement.

A valid `name` is the speaker. A refusal and an audio transcript are texts. The deprecated `function_call` and its
`function` message have no id: both get one derived from the function's name.
"""

import re
from collections.abc import Callable
from typing import Any

from treering.conversation.formats.content import (
    ContentPart,
    Item,
    content_in,
    image_fields,
    image_url,
    label,
    object_in,
    objects_in,
    read_content,
    read_other,
    role_name,
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

ROLES = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
    "function": Role.TOOL,
}
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
# Field of a call that holds its name, and key of its arguments there.
_CALLS = {"function": "arguments", "custom": "input"}


def read(item: Item) -> Message:
    """Read one message; `write` returns an equal item."""
    role = role_of(item, ROLES)
    parts, extra = (_result(item), EMPTY) if role is Role.TOOL else _said(item)
    if item["role"] == "developer":
        extra = {**extra, "role": "developer"}
    name = item.get("name")
    speaker = name if role is not Role.TOOL and isinstance(name, str) and NAME.fullmatch(name) else None
    message = Message.make(role=role, parts=parts, origin=MessageFormat.CHAT, extra=extra, speaker=speaker)
    return exact(message, item, lambda made: write(made)[0])


def write(message: Message) -> list[Item]:
    """The message as one item; each tool result is an item of its own, before the other parts."""
    items = [_tool_item(result) for result in message.results]
    rest = tuple(part for part in message.parts if not isinstance(part, ResultPart))
    if rest or not items:
        items.append(_said_item(message, rest))
    return [patched(items[0], message.extra.get("patch"))] if len(items) == 1 else items


def _said(item: Item) -> tuple[tuple[Part, ...], Any]:
    calls = [_read_call(call) for call in objects_in(item, "tool_calls", "the message")]
    if item.get("function_call") is not None:
        calls.append(_read_former_call(object_in(item, "function_call", "the message")))
    beside = (*_fields(item), *calls)
    content = read_content(item.get("content") if beside else content_in(item), _read_part)
    return (*content, *beside), shape_of(item.get("content"), content)


def _fields(item: Item) -> list[Part]:
    """Parts of an assistant message outside its content."""
    parts: list[Part] = []
    if isinstance(item.get("refusal"), str):
        parts.append(TextPart.make(text=item["refusal"], extra={"field": "refusal"}))
    audio = item.get("audio")
    if isinstance(audio, dict):
        words = audio.get("transcript")
        spoken = TextPart.make(text=words, extra={"field": "audio"}) if isinstance(words, str) else None
        parts.append(exact(spoken, audio, _write_audio) if spoken else OtherPart.make(type="audio", data=audio))
    return parts


def _write_audio(part: TextPart) -> Item:
    return dict(patched({"transcript": part.text or ""}, part.extra.get("patch")))


def _said_item(message: Message, parts: tuple[Part, ...]) -> Item:
    fields: Item = {}
    content: list[ContentPart] = []
    for part in parts:
        if isinstance(part, CallPart) and part.extra.get("as") == "former":
            fields["function_call"] = {"name": part.name, "arguments": part.arguments_text}
        elif isinstance(part, CallPart):
            fields.setdefault("tool_calls", []).append(_write_call(part))
        elif isinstance(part, TextPart) and part.extra.get("field") == "refusal":
            fields["refusal"] = part.text
        elif isinstance(part, TextPart) and part.extra.get("field") == "audio":
            fields["audio"] = _write_audio(part)
        elif isinstance(part, OtherPart) and part.type == "audio":
            fields["audio"] = thaw(part.data)
        elif not isinstance(part, ResultPart):
            content.append(part)
    role = role_name(message)
    name = {"name": message.speaker} if message.speaker and NAME.fullmatch(message.speaker) else {}
    return {"role": role, **name, "content": write_content(content, _write_part, message.extra), **fields}


def _read_call(call: Item) -> CallPart:
    kind = "custom" if "custom" in call else "function"
    inner = object_in(call, kind, "a tool call")
    part = CallPart.make(
        id=text_in(call, "id", "a tool call"),
        name=text_in(inner, "name", "a tool call"),
        arguments=inner.get(_CALLS[kind], ""),
        extra={"as": kind} if kind == "custom" else EMPTY,
    )
    return exact(part, call, _write_call)


def _write_call(part: CallPart) -> Item:
    kind = "custom" if part.extra.get("as") == "custom" else "function"
    made = {"id": part.id, "type": kind, kind: {"name": part.name, _CALLS[kind]: part.arguments_text}}
    return dict(patched(made, part.extra.get("patch")))


def _read_former_call(call: Item) -> CallPart:
    name = text_in(call, "name", "a function call")
    return CallPart.make(id=f"call_{name}", name=name, arguments=call.get("arguments", ""), extra={"as": "former"})


def _result(item: Item) -> tuple[ResultPart]:
    content = read_content(content_in(item), _read_part)
    shape = shape_of(item["content"], content)
    if item["role"] == "function":
        call_id, shape = f"call_{text_in(item, 'name', 'a function message')}", {**shape, "as": "former"}
    else:
        call_id = text_in(item, "tool_call_id", "a tool message")
    return (ResultPart.make(call_id=call_id, parts=content, extra=shape),)


def _tool_item(result: ResultPart) -> Item:
    content = write_content(result.parts, _write_part, result.extra, empty="")
    if result.extra.get("as") == "former":
        return {"role": "function", "name": result.call_id.removeprefix("call_"), "content": content}
    return {"role": "tool", "tool_call_id": result.call_id, "content": content}


def _read_part(item: Item) -> ContentPart:
    reader = _READERS.get(str(item.get("type")))
    return reader(item) if reader else read_other(item)


def _read_text(item: Item) -> TextPart:
    part = TextPart.make(text=text_in(item, "text", "a text part", blank=True))
    return exact(part, item, _write_part)


def _read_refusal(item: Item) -> TextPart:
    part = TextPart.make(text=text_in(item, "refusal", "a refusal", blank=True), extra={"as": "refusal"})
    return exact(part, item, _write_part)


def _read_image(item: Item) -> ImagePart:
    image = object_in(item, "image_url", "a picture")
    url = text_in(image, "url", "a picture", blank=True)
    part = ImagePart.make(**image_fields(url), detail=label(image.get("detail")))
    return exact(part, item, _write_part)


_READERS: dict[str, Callable[[Item], ContentPart]] = {
    "text": _read_text,
    "refusal": _read_refusal,
    "image_url": _read_image,
}


def _write_part(part: ContentPart) -> Item:
    if isinstance(part, OtherPart):
        return write_other(part)
    if isinstance(part, ImagePart):
        detail = {"detail": part.detail} if part.detail else {}
        made: Item = {"type": "image_url", "image_url": {"url": image_url(part) or "", **detail}}
    else:
        kind = "refusal" if part.extra.get("as") == "refusal" else "text"
        made = {"type": kind, kind: part.text or ""}
    return dict(patched(made, part.extra.get("patch")))
