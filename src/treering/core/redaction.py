"""Redaction of secrets in all texts of a value."""

from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass, replace
from dataclasses import fields as fields_of
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import cache, lru_cache
from typing import Any, Generic, TypeVar
from uuid import UUID
from weakref import WeakValueDictionary

from pydantic import AwareDatetime, BaseModel

from treering.core.episodes import Artifact
from treering.core.errors import SecretRefused
from treering.core.history import Revision
from treering.core.messages import ImagePart
from treering.core.observations import ObservedSession, SavedScratchpad
from treering.core.payloads import Payload, Stated
from treering.core.records import Knowledge
from treering.core.secret_formats import MARK
from treering.core.secrets import redact, scan
from treering.core.time_limit import time_limit
from treering.core.values import LABEL_BYTES, FrozenDict, Value

V = TypeVar("V", bound=Value)

# Redacting one of these would change a reference, so a secret in them is refused.
_NAMES = frozenset(
    {"id", "session", "owner", "call_id", "record", "entity", "origin", "target", "node", "subject", "key"}
)
# Not scanned: a validated hash, the snapshot of an already redacted value, pixels, codes of words, and the state of
# scratchpads, whose texts are redacted when they are taken in: a scan of it took a hundred milliseconds, and a mark
# could break its JSON.
_CLEAN: Mapping[type[Value], frozenset[str]] = {
    Artifact: frozenset({"digest"}),
    Revision: frozenset({"before"}),
    ImagePart: frozenset({"data"}),
    SavedScratchpad: frozenset({"state"}),
    ObservedSession: frozenset({"words"}),
}
_MAX_SENTENCE = 200
"""Characters at the end of a text that may announce a following value."""
_TEXTLESS = (bool, int, float, Decimal, date, time, timedelta, UUID, Enum, type(None))
_SERIES = (tuple, list, set, frozenset)


@dataclass(frozen=True, slots=True)
class Redacted(Generic[V]):
    """A value without secrets, and the kinds of the removed ones."""

    value: V
    kinds: tuple[str, ...] = ()


# A record is checked by the operation that compares it, and again by the store. Only records that cannot change: the
# payload of a plug-in may hold anything.
_without_secret: WeakValueDictionary[int, Value] = WeakValueDictionary()


def without_secrets(value: V) -> Redacted[V]:
    """The value itself if it has no secret, else a copy with each secret replaced by a mark of its kind.

    Raises `CheckTimedOut` if the check takes too long.
    """
    if _without_secret.get(id(value)) is value:
        return Redacted(value)
    # Nearly all values have none, and one scan of their joined text shows it.
    if not scan("\n".join(_texts(value)), time_limit()):
        if isinstance(value, Knowledge) and value.payload is None:
            _without_secret[id(value)] = value
        return Redacted(value)
    kinds: list[str] = []
    changed = _clean_fields(value, kinds)
    return Redacted(value.replace(**changed) if changed else value, tuple(dict.fromkeys(kinds)))


def refuse_secret(name: str, text: str) -> None:
    """Raise `SecretRefused` if `text` contains a secret."""
    if found := scan(text, time_limit()):
        raise SecretRefused(f"{name} looks like a secret ({found[0].kind}); choose another {name}")


def _texts(item: Any) -> list[str]:
    """All texts of an item, in the form in which secrets are recognised."""
    found: list[str] = []
    _gather(item, found)
    return found


def _gather(item: Any, found: list[str]) -> None:
    if isinstance(item, str):
        found.append(item)
    elif isinstance(item, _SERIES):
        for part in item:
            if not (isinstance(part, str) and len(part) <= LABEL_BYTES and _is_known_clean(part)):
                _gather(part, found)
    elif isinstance(item, Value):
        fields = item.__dict__
        for name in _fields_with_text(type(item)):
            part = fields[name]
            if part is not None and part != () and not (name in _NAMES and _is_clean_name(part)):
                _gather(part, found)
        found.extend(_announcements(item))
    elif isinstance(item, Mapping):
        for key, part in item.items():
            found.append(_assigned(key, part) if isinstance(part, str) else str(key))
            _gather(part, found)
    elif (inside := _fields_of(item)) is not None:
        _gather(inside, found)
    elif not isinstance(item, _TEXTLESS):
        found.append(_written(item))


def _fields_of(item: Any) -> dict[str, Any] | None:
    """Fields of a plug-in's model or dataclass; None for anything else."""
    if isinstance(item, BaseModel):
        return {**item.__dict__, **(item.__pydantic_extra__ or {})}
    if is_dataclass(item) and not isinstance(item, type):
        return {field.name: getattr(item, field.name) for field in fields_of(item)}
    return None


def _written(item: Any) -> str:
    """The stored text of any other object."""
    return item.decode("utf-8", "replace") if isinstance(item, (bytes, bytearray)) else str(item)


def _is_clean_name(part: Any) -> bool:
    return isinstance(part, str) and (_is_uuid(part) or _is_known_clean(part))


@lru_cache(maxsize=16_384)
def _is_known_clean(label: str) -> bool:
    """Cached check: tags, paths and session ids repeat."""
    return not scan(label)


def _is_uuid(name: str) -> bool:
    """Whether the name is a UUID, as our own ids are."""
    return len(name) == 36 and name.count("-") == 4 and name.replace("-", "").isalnum()


@cache
def _fields_with_text(kind: type[Value]) -> tuple[str, ...]:
    """Fields of a value that may contain free text."""
    fields, clean = kind.model_fields.items(), _CLEAN.get(kind, frozenset())
    return tuple(name for name, field in fields if name not in clean and not _is_textless(field.annotation))


def _is_textless(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, (Enum, int, float, AwareDatetime))


def _clean_fields(value: Value, kinds: list[str]) -> dict[str, Any]:
    changed = {}
    for name in _fields_with_text(type(value)):
        item = value.__dict__[name]
        if name in _NAMES and isinstance(item, str) and not isinstance(value, Payload):
            refuse_secret(name, item)
            continue
        cleaned = _clean(item, kinds)
        if cleaned is not item:
            changed[name] = cleaned
    return changed | _clean_stated(value, changed, kinds)


def _clean_stated(value: Value, changed: Mapping[str, Any], kinds: list[str]) -> dict[str, Any]:
    """Redact the value of a statement if its attribute announces a secret; `Zt7-kQ9` alone is not recognised."""
    stated = _stated_in(value)
    if stated is None:
        return {}
    cleaned = changed.get("payload", stated) if isinstance(value, Knowledge) else stated
    if "value" in changed or cleaned.value != stated.value:
        return {}
    kind = _kind_of_stated(value, stated.value or "")
    if kind is None:
        return {}
    kinds.append(kind)
    hidden = f"{MARK}{kind}]"
    return {"payload": cleaned.replace(value=hidden)} if isinstance(value, Knowledge) else {"value": hidden}


def _kind_of_stated(value: Value, stated_value: str) -> str | None:
    for announcement in _announcements(value):
        for found in scan(announcement):
            if found.end > announcement.rindex(stated_value):
                return found.kind
    content = value.content if isinstance(value, Knowledge) and stated_value else ""
    return next((each.kind for each in scan(content) if content[each.start : each.end] in stated_value), None)


def _announcements(value: Value) -> list[str]:
    """The value of a statement as an assignment to its attribute, its subject, or the sentence before it."""
    stated = _stated_in(value)
    if stated is None or not stated.value:
        return []
    sentence = value.content[-_MAX_SENTENCE:].rstrip(" .:\n") if isinstance(value, Knowledge) else None
    names = (stated.attribute, stated.subject) if sentence is None else (sentence,)
    return [
        announcement
        for name in names
        if name
        for announcement in (_assigned(name, stated.value), f"{name}: {stated.value}")
    ]


def _stated_in(value: Value) -> Stated | None:
    inside = value.payload if isinstance(value, Knowledge) else value
    return inside if isinstance(inside, Stated) else None


def _clean(item: Any, kinds: list[str]) -> Any:
    if isinstance(item, _TEXTLESS):
        return item
    if isinstance(item, str):
        redaction = redact(item, time_limit())
        kinds.extend(finding.kind for finding in redaction.findings)
        return redaction.text if redaction.findings else item
    if isinstance(item, _SERIES):
        return _clean_series(item, kinds)
    if isinstance(item, Value):
        changed = _clean_fields(item, kinds)
        return item.replace(**changed) if changed else item
    if isinstance(item, Mapping):
        return _clean_mapping(item, kinds)
    return _clean_foreign(item, kinds)


def _clean_foreign(item: Any, kinds: list[str]) -> Any:
    """Redact an object of a plug-in."""
    inside = _fields_of(item)
    if inside is None:
        refuse_secret(f"a {type(item).__name__}", _written(item))
        return item
    cleaned = _clean_mapping(inside, kinds)
    changed = {name: part for name, part in cleaned.items() if part is not inside.get(name)}
    return _replaced(item, changed) if changed else item


def _clean_series(item: Any, kinds: list[str]) -> Any:
    parts = list(item)
    cleaned = [_clean(part, kinds) for part in parts]
    if all(a is b for a, b in zip(cleaned, parts, strict=True)):
        return item
    plain = next(kind for kind in _SERIES if isinstance(item, kind))
    return plain(cleaned)


def _clean_mapping(item: Mapping[Any, Any], kinds: list[str]) -> Mapping[Any, Any]:
    """Redact a mapping, also secrets announced by their key (`{"password": "…"}`) and keys that are secrets."""
    cleaned: dict[Any, Any] = {}
    numbers: dict[Any, int] = {}
    for key, part in item.items():
        name = _distinct(_clean(key, kinds), cleaned, numbers)
        cleaned[name] = _clean(part, kinds)
        if isinstance(part, str) and cleaned[name] is part and name is key and (found := scan(_assigned(key, part))):
            kinds.append(found[0].kind)
            cleaned[name] = f"[redacted:{found[0].kind}]"
    if all(key in cleaned and cleaned[key] is part for key, part in item.items()):
        return item
    return FrozenDict(cleaned) if isinstance(item, FrozenDict) else cleaned


def _distinct(name: Any, taken: Mapping[Any, Any], numbers: dict[Any, int]) -> Any:
    """An unused key, so that two redacted keys stay two entries.

    `numbers` holds the last number used for each key, so that none is tried twice.
    """
    candidate = name
    while candidate in taken:
        numbers[name] = numbers.get(name, 1) + 1
        candidate = f"{name} {numbers[name]}"
    return candidate


def _replaced(item: Any, changed: Mapping[str, Any]) -> Any:
    return item.model_copy(update=dict(changed)) if isinstance(item, BaseModel) else replace(item, **changed)


def _assigned(key: str, text: str) -> str:
    return f'{key} = "{text}"'
