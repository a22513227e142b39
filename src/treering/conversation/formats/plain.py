"""Our own JSON: a role with a text under `content` or with `parts`, and the other fields of `Message`.

Messages of every origin are written completely, including provider-specific data, so reading returns an equal message.
"""

from collections.abc import Mapping
from typing import Any

from treering.conversation.formats.content import LISTED, Item, one_text, role_of
from treering.conversation.formats.exact_form import exact, patched
from treering.core.errors import InvalidInput
from treering.core.messages import Message, Part, ResultPart, Role
from treering.core.values import thaw

ROLES = {role.value: role for role in Role}
_FIELDS = frozenset(Message.model_fields)
# Key in a message's `extra` for the patch of its own JSON, next to the provider's data.
_KEY = "plain"


def read(item: Item) -> Message:
    """Read one message; `write` returns an equal item. Unknown fields are preserved, except inside parts."""
    role = role_of(item, ROLES)
    known = {key: entry for key, entry in item.items() if key in _FIELDS and entry is not None}
    if isinstance(known.get("extra"), dict):
        known["extra"] = _without_notes(known["extra"])
    if "parts" not in known:
        known["parts"] = [{"kind": "text", "text": _content(item, role)}]
    message = Message.make(**known)
    if "parts" in item and one_text(message.parts):
        message = message.replace(extra={**message.extra, _KEY: LISTED})
    return exact(message, item, _written, _KEY)


def write(message: Message) -> list[Item]:
    """The message as one item."""
    return [patched(_written(message), message.extra.get(_KEY))]


def _content(item: Item, role: Role) -> str:
    content = item.get("content")
    if not isinstance(content, str):
        raise InvalidInput("the message has neither a text under 'content' nor a list under 'parts'; add one of them")
    if role is Role.TOOL:
        raise InvalidInput("a tool message needs the id of its call; pass 'parts' with a result and its call_id")
    return content


def _written(message: Message) -> Item:
    bare = message.replace(extra=_without_notes(message.extra))
    fields = bare.model_dump(mode="json", exclude_defaults=True, exclude={"parts"})
    notes = message.extra.get(_KEY)
    listed = isinstance(notes, Mapping) and notes.get("shape") == LISTED["shape"]
    only = None if listed or message.role is Role.TOOL else one_text(message.parts)
    if only and only.text is not None:
        return {**fields, "content": only.text}
    return {**fields, "parts": [_part(part) for part in message.parts]}


def _without_notes(extra: Mapping[str, Any]) -> dict[str, Any]:
    return {key: entry for key, entry in extra.items() if key != _KEY}


def _part(part: Part) -> Item:
    fields: dict[str, Any] = part.model_dump(mode="json", exclude_defaults=True, exclude={"parts"})
    if isinstance(part, ResultPart):
        fields["parts"] = [_part(inner) for inner in part.parts]
    return {"kind": part.kind, **thaw(fields)}
