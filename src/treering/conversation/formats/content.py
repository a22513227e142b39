"""Common elements of the providers' formats: content as text or list, typed parts, images in URLs."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from treering.core.errors import InvalidInput
from treering.core.messages import ImagePart, Message, OtherPart, Part, Role, TextPart
from treering.core.values import EMPTY, LABEL_BYTES, thaw

Item: TypeAlias = dict[str, Any]
ContentPart: TypeAlias = TextPart | ImagePart | OtherPart
P = TypeVar("P", bound=Part)

# Marks a single text that was given as a list.
LISTED: Mapping[str, str] = {"shape": "list"}

_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,(.*)", re.DOTALL | re.ASCII)


def role_of(item: Item, roles: Mapping[str, Role]) -> Role:
    """The role of an item. Raises `InvalidInput` if it is missing or unknown."""
    role = item.get("role")
    if not isinstance(role, str) or role not in roles:
        problem = f"unknown role {role!r}" if "role" in item else "the message has no role"
        raise InvalidInput(f"{problem}; use one of {', '.join(roles)}, or pass another format")
    return roles[role]


def role_name(message: Message) -> str:
    """The role in OpenAI's terms. Parts next to tool results belong to the user."""
    if message.role is Role.SYSTEM and message.extra.get("role") == "developer":
        return "developer"
    return "user" if message.role is Role.TOOL else message.role.value


def text_in(item: Item, key: str, item_name: str, *, blank: bool = False) -> str:
    """The text under `key`. Raises `InvalidInput` if it is missing, or blank unless allowed."""
    text = item.get(key)
    if not isinstance(text, str) or not (blank or text.strip()):
        raise InvalidInput(f"{item_name} needs a text under {key!r}, not {_named(text)}; add it")
    return text


def object_in(item: Item, key: str, item_name: str) -> Item:
    """The object under `key`. Raises `InvalidInput` if it is missing."""
    found = item.get(key)
    if not isinstance(found, dict):
        raise InvalidInput(f"{item_name} needs an object under {key!r}, not {_named(found)}; add it")
    return found


def objects_in(item: Item, key: str, item_name: str) -> list[Item]:
    """The objects listed under `key`; empty if it is missing or null."""
    found = item.get(key)
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
        raise InvalidInput(f"{item_name} has {_named(found)} under {key!r}; give a list of objects")
    return found


def content_in(item: Item, key: str = "content") -> Any:
    """The content of an item, which may be null. Raises `InvalidInput` if the key is missing."""
    if key not in item:
        raise InvalidInput(f"the message has no {key}; give a text or a list of parts under {key!r}")
    return item[key]


def read_content(content: Any, read_part: Callable[[Item], P]) -> tuple[P | TextPart, ...]:
    """The parts of content that is a text, a list of typed parts, or null. Raises `InvalidInput` otherwise."""
    if content is None:
        return ()
    if isinstance(content, str):
        return (TextPart.make(text=content),)
    if isinstance(content, list) and all(isinstance(part, dict) for part in content):
        return tuple(read_part(part) for part in content)
    raise InvalidInput(f"the content is {_named(content)}; give a text or a list of objects that have a type")


def shape_of(content: Any, parts: tuple[Part, ...]) -> Mapping[str, Any]:
    """The hint with which `write_content` restores this content."""
    return LISTED if isinstance(content, list) and one_text(parts) else EMPTY


def write_content(
    parts: Sequence[P], write_part: Callable[[P], Item], extra: Mapping[str, Any], empty: str | None = None
) -> str | list[Item] | None:
    """A single text as a string, several parts as a list, none as `empty`."""
    if not parts:
        return empty
    text = one_text(parts)
    if text and extra.get("shape") != LISTED["shape"]:
        return text.text or ""
    return [write_part(part) for part in parts]


def one_text(parts: Sequence[Part]) -> TextPart | None:
    """The only part, if it can be written as a plain string."""
    first = parts[0] if len(parts) == 1 else None
    return first if isinstance(first, TextPart) and not first.extra else None


def read_other(item: Item) -> OtherPart:
    """A part that only its provider understands, unchanged."""
    kind = text_in(item, "type", "a part of a message")
    return OtherPart.make(type=kind, data={key: entry for key, entry in item.items() if key != "type"})


def write_other(part: OtherPart) -> Item:
    """The item that `read_other` read."""
    return {"type": part.type, **thaw(part.data)}


def label(value: Any) -> str | None:
    """`value` if it is a valid label, else None; the value is then preserved in the format's own data."""
    fits = isinstance(value, str) and value.strip() and value.isprintable() and len(value.encode()) <= LABEL_BYTES
    return value if fits else None


def image_fields(url: str) -> dict[str, str]:
    """The fields of an `ImagePart` for a URL or a data URL."""
    match = _DATA_URL.fullmatch(url)
    return {"media_type": match[1], "data": match[2]} if match and label(match[1]) else {"url": url}


def image_url(image: ImagePart) -> str | None:
    """The URL or data URL of an image, or None."""
    if image.data is not None and image.media_type is not None:
        return f"data:{image.media_type};base64,{image.data}"
    return image.url


def _named(value: Any) -> str:
    names = {type(None): "nothing", str: "text", dict: "an object", list: "a list", bool: "a boolean"}
    return repr(value) if value == "" else names.get(type(value), "a number")
