"""Takes secrets out of a whole value, wherever its text stands."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any, Generic, TypeVar

from pydantic import AwareDatetime

from treering.core.errors import SecretRefused
from treering.core.payloads import Payload
from treering.core.secrets import redact, scan
from treering.core.values import FrozenDict, Value

V = TypeVar("V", bound=Value)

# Changing one of these would point somewhere else, so a secret in them is refused.
_NAMES = frozenset(
    {"id", "session", "owner", "call_id", "record", "entity", "origin", "target", "node", "subject", "key"}
)
# Digests, and snapshots of values that went through here before.
_CLEAN = frozenset({"digest", "before"})


@dataclass(frozen=True, slots=True)
class Redacted(Generic[V]):
    """A value without secrets, and the kinds of those taken out."""

    value: V
    kinds: tuple[str, ...] = ()


def without_secrets(value: V) -> Redacted[V]:
    """The same value where there is no secret; otherwise a new one, each secret replaced by what it was."""
    # Nearly all values hold none: one look at all of their text together is enough to know.
    if not scan("\n".join(_texts(value))):
        return Redacted(value)
    kinds: list[str] = []
    changed = _clean_fields(value, kinds)
    return Redacted(value.replace(**changed) if changed else value, tuple(dict.fromkeys(kinds)))


def refuse_secret(name: str, text: str) -> None:
    """Raise where `text` is, or holds, a secret."""
    if found := scan(text):
        raise SecretRefused(f"{name} looks like a secret ({found[0].kind}); choose another {name}")


def _texts(item: Any) -> list[str]:
    """Every text inside, in the form in which a secret in it would be recognised."""
    found: list[str] = []
    _gather(item, found)
    return found


def _gather(item: Any, found: list[str]) -> None:
    if isinstance(item, str):
        found.append(item)
    elif isinstance(item, tuple):
        for part in item:
            _gather(part, found)
    elif isinstance(item, Value):
        fields = item.__dict__
        for name in _fields_with_text(type(item)):
            part = fields[name]
            if part is not None and part != () and not (name in _NAMES and _is_uuid(part)):
                _gather(part, found)
    elif isinstance(item, Mapping):
        for key, part in item.items():
            found.append(_assigned(key, part) if isinstance(part, str) else str(key))
            _gather(part, found)


def _is_uuid(name: str) -> bool:
    """Our own ids, which are long and mean nothing."""
    return len(name) == 36 and name.count("-") == 4 and name.replace("-", "").isalnum()


@cache
def _fields_with_text(kind: type[Value]) -> tuple[str, ...]:
    """The fields of a value that may hold free text."""
    fields = kind.model_fields.items()
    return tuple(name for name, field in fields if name not in _CLEAN and not _is_textless(field.annotation))


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
    return changed


def _clean(item: Any, kinds: list[str]) -> Any:
    if isinstance(item, str):
        if isinstance(item, Enum):
            return item
        redaction = redact(item)
        kinds.extend(finding.kind for finding in redaction.findings)
        return redaction.text
    if isinstance(item, tuple):
        cleaned = tuple(_clean(part, kinds) for part in item)
        return item if all(a is b for a, b in zip(cleaned, item, strict=True)) else cleaned
    if isinstance(item, Value):
        changed = _clean_fields(item, kinds)
        return item.replace(**changed) if changed else item
    if isinstance(item, Mapping):
        return _clean_mapping(item, kinds)
    return item


def _clean_mapping(item: Mapping[str, Any], kinds: list[str]) -> Mapping[str, Any]:
    """Also sees a secret by the name it stands under: `{"password": "…"}`."""
    cleaned = {}
    for key, part in item.items():
        cleaned[key] = _clean(part, kinds)
        if isinstance(part, str) and cleaned[key] is part and (found := scan(_assigned(key, part))):
            kinds.append(found[0].kind)
            cleaned[key] = f"[redacted:{found[0].kind}]"
    if all(cleaned[key] is part for key, part in item.items()):
        return item
    return FrozenDict(cleaned)


def _assigned(key: str, text: str) -> str:
    return f'{key} = "{text}"'
