"""Input and output items of OpenAI's Responses API: one item is one message.

Calls, results and messages are parsed; every other item (reasoning, searches, programs and future types) is preserved
as one opaque part that only this format writes.
"""

from collections.abc import Callable

from treering.conversation.formats.content import (
    ContentPart,
    Item,
    content_in,
    image_fields,
    image_url,
    label,
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
from treering.core.messages import CallPart, ImagePart, Message, MessageFormat, OtherPart, ResultPart, Role, TextPart
from treering.core.values import EMPTY

ROLES = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
}
# By the hint on a part: type of the call, key of its arguments, type of its result.
_CALLS = {
    "function": ("function_call", "arguments", "function_call_output"),
    "custom": ("custom_tool_call", "input", "custom_tool_call_output"),
}
_KINDS = {kind: (hint, word) for hint, (kind, word, _) in _CALLS.items()}
_RESULTS = {kind: hint for hint, (_, _, kind) in _CALLS.items()}


def read(item: Item) -> Message:
    """Read one message; `write` returns an equal item."""
    kind = item.get("type")
    if kind is None and "role" not in item and "id" in item:
        kind = "item_reference"
    reader = _ITEMS.get(kind or "message", _read_item) if isinstance(kind, str | None) else _read_item
    return exact(reader(item if kind is None else {**item, "type": kind}), item, lambda made: write(made)[0])


def write(message: Message) -> list[Item]:
    """The message as one item if it was read from one, else an item for each call, result and run of content."""
    if message.extra.get("as") == "item" and len(message.parts) == 1 and isinstance(message.parts[0], OtherPart):
        return [_whole(write_other(message.parts[0]), message)]
    items: list[Item] = []
    content: list[ContentPart] = []
    for part in message.parts:
        if isinstance(part, (CallPart, ResultPart)):
            items += _message_items(message, content)
            content = []
            items.append(_write_call(part) if isinstance(part, CallPart) else _write_result(part))
        else:
            content.append(part)
    items += _message_items(message, content, needed=not items)
    return [_whole(items[0], message)] if len(items) == 1 else items


def _whole(item: Item, message: Message) -> Item:
    return dict(patched(item, message.extra.get("patch")))


def _message_items(message: Message, content: list[ContentPart], needed: bool = False) -> list[Item]:
    if not content and not needed:
        return []
    role = role_name(message)
    write_part = _writer("output_text" if message.role is Role.ASSISTANT else "input_text")
    # Without an id, which only the API assigns, assistant content must be a string.
    apart = message.extra.get("as") == "turn"
    stretches = [[part] for part in content] if apart else [content]
    return [{"role": role, "content": write_content(part, write_part, message.extra, empty="")} for part in stretches]


def _read_message(item: Item) -> Message:
    role = role_of(item, ROLES)
    parts = read_content(content_in(item), _reader("output_text" if role is Role.ASSISTANT else "input_text"))
    hint = {"role": "developer"} if item["role"] == "developer" else {}
    extra = {**shape_of(item["content"], parts), **hint}
    return Message.make(role=role, parts=parts, origin=MessageFormat.RESPONSES, extra=extra)


def _read_call(item: Item) -> Message:
    hint, word = _KINDS[item["type"]]
    part = CallPart.make(
        id=text_in(item, "call_id", f"a {item['type']}"),
        name=text_in(item, "name", f"a {item['type']}"),
        arguments=item.get(word, ""),
        extra={"as": hint} if hint == "custom" else EMPTY,
    )
    return Message.make(role=Role.ASSISTANT, parts=(part,), origin=MessageFormat.RESPONSES)


def _write_call(part: CallPart) -> Item:
    kind, word, _ = _CALLS[_hint(part)]
    return {"type": kind, "call_id": part.id, "name": part.name, word: part.arguments_text}


def _hint(part: CallPart | ResultPart) -> str:
    return "custom" if part.extra.get("as") == "custom" else "function"


def _read_result(item: Item) -> Message:
    hint = _RESULTS[item["type"]]
    parts = read_content(content_in(item, "output"), _reader("input_text"))
    extra = {**shape_of(item["output"], parts), **({"as": hint} if hint == "custom" else {})}
    call_id = text_in(item, "call_id", f"a {item['type']}")
    result = ResultPart.make(call_id=call_id, parts=parts, extra=extra)
    return Message.make(role=Role.TOOL, parts=(result,), origin=MessageFormat.RESPONSES)


def _write_result(part: ResultPart) -> Item:
    _, _, kind = _CALLS[_hint(part)]
    output = write_content(part.parts, _writer("input_text"), part.extra, empty="")
    return {"type": kind, "call_id": part.call_id, "output": output}


def _read_item(item: Item) -> Message:
    part = read_other(item)
    role = Role.TOOL if part.type.endswith("_output") else Role.ASSISTANT
    return Message.make(role=role, parts=(part,), origin=MessageFormat.RESPONSES, extra={"as": "item"})


_ITEMS: dict[str, Callable[[Item], Message]] = {
    "message": _read_message,
    **dict.fromkeys(_KINDS, _read_call),
    **dict.fromkeys(_RESULTS, _read_result),
}


def _reader(text_type: str) -> Callable[[Item], ContentPart]:
    """A reader of content parts whose texts usually have this type."""
    write_part = _writer(text_type)

    def read_part(item: Item) -> ContentPart:
        kind = item.get("type")
        if kind in ("input_text", "output_text", "text"):
            return exact(TextPart.make(text=text_in(item, "text", "a text part", blank=True)), item, write_part)
        if kind == "refusal":
            words = text_in(item, "refusal", "a refusal", blank=True)
            return exact(TextPart.make(text=words, extra={"as": "refusal"}), item, write_part)
        if kind == "input_image" and isinstance(item.get("image_url"), str):
            image = ImagePart.make(**image_fields(item["image_url"]), detail=label(item.get("detail")))
            return exact(image, item, write_part)
        return read_other(item)

    return read_part


def _writer(text_type: str) -> Callable[[ContentPart], Item]:
    """A writer of content parts whose texts have this type."""

    def write_part(part: ContentPart) -> Item:
        if isinstance(part, OtherPart):
            return write_other(part)
        if isinstance(part, ImagePart):
            made = {"type": "input_image", "image_url": image_url(part) or "", "detail": part.detail or "auto"}
        elif part.extra.get("as") == "refusal":
            made = {"type": "refusal", "refusal": part.text or ""}
        else:
            made = {"type": text_type, "text": part.text or ""}
        return dict(patched(made, part.extra.get("patch")))

    return write_part
