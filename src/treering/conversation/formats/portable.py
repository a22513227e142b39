"""What of a message crosses into another provider's format.

Words, pictures, files, calls and results do. What only the other provider understands does not: extra fields, and
opaque parts such as its reasoning. A picture, a file or a sound that cannot stand in its new place leaves a text
(`[image]`, `[document: report.pdf]`), so that nothing a person gave vanishes without a trace. A failed result says so
in its words where the format has no mark for it. The name of a speaker is written only by chat, which has a field.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from treering.conversation.formats import files
from treering.conversation.formats.content import Said, one_text
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
class Target:
    """What a provider's format can hold."""

    format: MessageFormat
    write_file: Callable[[files.File], OtherPart | None]
    call_ids: re.Pattern[str]
    object_arguments: bool = False
    marks_errors: bool = False
    rich_results: bool = True
    blank_texts: bool = True
    details: bool = True


TARGETS: Mapping[MessageFormat, Target] = {
    target.format: target
    for target in (
        Target(MessageFormat.CHAT, files.to_chat, re.compile(r".{1,40}"), rich_results=False),
        Target(MessageFormat.RESPONSES, files.to_responses, re.compile(r".{1,64}")),
        Target(
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


def is_native(message: Message, target: Target) -> bool:
    """Whether the message is written exactly as it came. Nothing but words, said plainly, is at home everywhere."""
    if message.origin is target.format:
        return True
    words = one_text(message.parts) if message.origin is MessageFormat.PLAIN and message.role is not Role.TOOL else None
    return words is not None and (target.blank_texts or bool((words.text or "").strip()))


def portable(message: Message, target: Target) -> Message:
    """The message with the parts that cross; it may have none left."""
    kin = {message.origin, target.format} <= _OPENAI
    parts = [crossed for part in message.parts for crossed in _crossed(part, message.role, target, kin)]
    hints = {"role": message.extra["role"]} if kin and "role" in message.extra else {}
    if target.format is MessageFormat.RESPONSES and message.role is Role.ASSISTANT:
        hints["as"] = "turn"
    return message.replace(parts=parts, origin=target.format, extra=hints)


def _crossed(part: Part, role: Role, target: Target, kin: bool) -> Iterator[Part]:
    if isinstance(part, CallPart):
        custom = kin and part.extra.get("as") == "custom"
        arguments = part.arguments if custom else _arguments(part.arguments, target)
        yield part.replace(arguments=arguments, extra={"as": "custom"} if custom else EMPTY)
    elif isinstance(part, ResultPart):
        yield from _crossed_result(part, target)
    else:
        yield from _crossed_said(part, role, target)


def _crossed_said(part: Said, role: Role, target: Target) -> Iterator[Said]:
    """A part that is neither call nor result: as it can stand in a message of this role, if at all."""
    shows = role in (Role.USER, Role.TOOL)
    if isinstance(part, TextPart):
        if (part.text or "").strip():
            yield TextPart.make(text=part.text)
    elif isinstance(part, ImagePart):
        yield _picture(part, target) if shows and _can_be_shown(part) else TextPart.make(text="[image]")
    elif file := files.file_in(part):
        written = target.write_file(file) if shows else None
        yield written or TextPart.make(text=file.label)
    elif part.type in _STAND_INS:
        yield TextPart.make(text=_STAND_INS[part.type])


def _crossed_result(result: ResultPart, target: Target) -> Iterator[Part]:
    """The result, and after it what it showed, where a result can only hold words."""
    shown = [said for part in result.parts for said in _crossed_said(part, Role.TOOL, target)]
    held, lifted = shown, list[Said]()
    if not target.rich_results:
        held = [said for part in result.parts for said in _crossed_said(part, Role.ASSISTANT, target)]
        lifted = [part for part in shown if not isinstance(part, TextPart)]
    if result.is_error and not target.marks_errors:
        held = _marked(held)
    yield ResultPart.make(call_id=result.call_id, parts=held, is_error=result.is_error)
    yield from lifted


def _marked(parts: list[Said]) -> list[Said]:
    """The parts of a failed result, for a format that has no other way to say that it failed."""
    first = parts[0] if parts else None
    if isinstance(first, TextPart):
        return [TextPart.make(text=f"{FAILED} {first.text}"), *parts[1:]]
    return [TextPart.make(text=FAILED), *parts]


def _can_be_shown(image: ImagePart) -> bool:
    if image.data is not None:
        return bool(image.data) and image.media_type in _IMAGE_TYPES
    return image.url is not None and image.url.startswith(("https://", "http://"))


def _picture(image: ImagePart, target: Target) -> ImagePart:
    known = target.details and image.detail in _DETAILS
    return image.replace(detail=image.detail if known else None, extra=EMPTY)


def _arguments(arguments: Any, target: Target) -> Any:
    """As an object, or as the text of one; what is no object becomes the one argument `input`."""
    found = _parsed(arguments) if isinstance(arguments, str) else arguments
    if isinstance(found, Mapping):
        as_text = arguments if isinstance(arguments, str) and arguments.strip() else None
    else:
        found, as_text = {"input": thaw(arguments)} if arguments is not None else {}, None
    return found if target.object_arguments else as_text or json.dumps(thaw(found), ensure_ascii=False)


def _parsed(text: str) -> FrozenDict | None:
    try:
        return FrozenDict(json.loads(text)) if text.strip() else EMPTY
    # Not JSON, not an object, nested too deep, or holding what is no text.
    except (ValueError, AttributeError, RecursionError):
        return None
