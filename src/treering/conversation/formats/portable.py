"""Conversion of message parts to another provider's format.

Texts, images, files, calls and results are converted. Extra fields and opaque parts such as reasoning are dropped. An
image, file or audio part that the target cannot hold is replaced by a text (`[image]`, `[document: report.pdf]`). A
failed result is marked in its text if the format has no field for it. Only chat has a field for the speaker's name.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from treering.conversation.formats import files
from treering.conversation.formats.content import ContentPart, one_text
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
from treering.core.values import EMPTY, FrozenDict, thaw

_OPENAI = frozenset({MessageFormat.CHAT, MessageFormat.RESPONSES})
_IMAGE_TYPES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
_DETAILS = frozenset({"auto", "low", "high", "original"})
_STAND_INS = {
    "image": "[image]",
    "image_url": "[image]",
    "input_image": "[image]",
    "audio": "[audio]",
    "input_audio": "[audio]",
    "container_upload": "[file]",
}
FAILED = "[error]"


@dataclass(frozen=True, slots=True)
class TargetFormat:
    """Capabilities of a provider's format."""

    format: MessageFormat
    write_file: Callable[[files.MessageFile], OtherPart | None]
    call_ids: re.Pattern[str]
    object_arguments: bool = False
    marks_errors: bool = False
    rich_results: bool = True
    blank_texts: bool = True
    details: bool = True


TARGETS: Mapping[MessageFormat, TargetFormat] = {
    target.format: target
    for target in (
        TargetFormat(MessageFormat.CHAT, files.to_chat, re.compile(r".{1,40}"), rich_results=False),
        TargetFormat(MessageFormat.RESPONSES, files.to_responses, re.compile(r".{1,64}")),
        TargetFormat(
            MessageFormat.ANTHROPIC,
            files.to_anthropic,
            re.compile(r"[A-Za-z0-9_-]{1,128}"),
            object_arguments=True,
            marks_errors=True,
            blank_texts=False,
            details=False,
        ),
    )
}


def is_native(message: Message, target: TargetFormat) -> bool:
    """Whether the message can be written unchanged: same format, or a single plain text."""
    if message.origin is target.format:
        return True
    words = one_text(message.parts) if message.origin is MessageFormat.PLAIN and message.role is not Role.TOOL else None
    return words is not None and (target.blank_texts or bool((words.text or "").strip()))


def portable(message: Message, target: TargetFormat) -> Message:
    """The message with its convertible parts, possibly none."""
    same_vendor = {message.origin, target.format} <= _OPENAI
    parts = [
        converted_part
        for part in message.parts
        for converted_part in _converted(part, message.role, target, same_vendor)
    ]
    hints = {"role": message.extra["role"]} if same_vendor and "role" in message.extra else {}
    if target.format is MessageFormat.RESPONSES and message.role is Role.ASSISTANT:
        hints["as"] = "turn"
    return message.replace(parts=parts, origin=target.format, extra=hints)


def _converted(part: Part, role: Role, target: TargetFormat, same_vendor: bool) -> Iterator[Part]:
    if isinstance(part, CallPart):
        custom = same_vendor and part.extra.get("as") == "custom"
        arguments = part.arguments if custom else _arguments(part.arguments, target)
        yield part.replace(arguments=arguments, extra={"as": "custom"} if custom else EMPTY)
    elif isinstance(part, ResultPart):
        yield from _converted_result(part, target)
    else:
        yield from _converted_content(part, role, target)


def _converted_content(part: ContentPart, role: Role, target: TargetFormat) -> Iterator[ContentPart]:
    """A text, image or opaque part in a form that a message of this role can hold, if any."""
    can_show = role in (Role.USER, Role.TOOL)
    if isinstance(part, TextPart):
        if (part.text or "").strip():
            yield TextPart.make(text=part.text)
    elif isinstance(part, ImagePart):
        yield _picture(part, target) if can_show and _can_be_shown(part) else TextPart.make(text="[image]")
    elif file := files.file_in(part):
        written = target.write_file(file) if can_show else None
        yield written or TextPart.make(text=file.label)
    elif part.type in _STAND_INS:
        yield TextPart.make(text=_STAND_INS[part.type])


def _converted_result(result: ResultPart, target: TargetFormat) -> Iterator[Part]:
    """The result, followed by its images and files if a result can hold only text."""
    shown = [converted for part in result.parts for converted in _converted_content(part, Role.TOOL, target)]
    inside, outside = shown, list[ContentPart]()
    if not target.rich_results:
        inside = [converted for part in result.parts for converted in _converted_content(part, Role.ASSISTANT, target)]
        outside = [part for part in shown if not isinstance(part, TextPart)]
    if result.is_error and not target.marks_errors:
        inside = _marked(inside)
    yield ResultPart.make(call_id=result.call_id, parts=inside, is_error=result.is_error)
    yield from outside


def _marked(parts: list[ContentPart]) -> list[ContentPart]:
    """The parts of a failed result, marked in the text."""
    first = parts[0] if parts else None
    if isinstance(first, TextPart):
        return [TextPart.make(text=f"{FAILED} {first.text}"), *parts[1:]]
    return [TextPart.make(text=FAILED), *parts]


def _can_be_shown(image: ImagePart) -> bool:
    if image.data is not None:
        return bool(image.data) and image.media_type in _IMAGE_TYPES
    return image.url is not None and image.url.startswith(("https://", "http://"))


def _picture(image: ImagePart, target: TargetFormat) -> ImagePart:
    known = target.details and image.detail in _DETAILS
    return image.replace(detail=image.detail if known else None, extra=EMPTY)


def _arguments(arguments: Any, target: TargetFormat) -> Any:
    """An object, or its JSON text; a value that is not an object becomes the argument `input`."""
    found = _parsed(arguments) if isinstance(arguments, str) else arguments
    if isinstance(found, Mapping):
        as_text = arguments if isinstance(arguments, str) and arguments.strip() else None
    else:
        found, as_text = {"input": thaw(arguments)} if arguments is not None else {}, None
    return found if target.object_arguments else as_text or json.dumps(thaw(found), ensure_ascii=False)


def _parsed(text: str) -> FrozenDict | None:
    try:
        return FrozenDict(json.loads(text)) if text.strip() else EMPTY
    # Not JSON, not an object, nested too deep, or containing invalid text.
    except (ValueError, AttributeError, RecursionError):
        return None
