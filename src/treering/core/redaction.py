"""Takes secrets out of a whole value, wherever its text stands."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, TypeVar

from treering.core.errors import SecretRefused
from treering.core.secrets import redact, scan
from treering.core.values import FrozenDict, Value

V = TypeVar("V", bound=Value)

# Changing one of these would point somewhere else, so a secret in them is refused.
_NAMES = frozenset(
    {"id", "session", "owner", "call_id", "record", "entity", "origin", "target", "node", "subject", "key"}
)
# Digests and snapshots of values that went through here before.
_CLEAN = frozenset({"digest", "before"})


@dataclass(frozen=True, slots=True)
class Redacted(Generic[V]):
    """A value without secrets, and the kinds of those taken out."""

    value: V
    kinds: tuple[str, ...] = ()


def without_secrets(value: V) -> Redacted[V]:
    """The same value where there is no secret; otherwise a new one, each secret replaced by what it was."""
    kinds: list[str] = []
    changed = _clean_fields(value, kinds)
    if not changed:
        return Redacted(value)
    return Redacted(value.replace(**changed), tuple(dict.fromkeys(kinds)))


def refuse_secret(name: str, text: str) -> None:
    """Raise where `text` is, or holds, a secret."""
    if found := scan(text):
        raise SecretRefused(f"{name} looks like a secret ({found[0].kind}); choose another {name}")


def _clean_fields(value: Value, kinds: list[str]) -> dict[str, Any]:
    changed = {}
    for name, item in value.__dict__.items():
        if item is None or item == () or name in _CLEAN:
            continue
        if name in _NAMES and isinstance(item, str):
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
        if isinstance(part, str) and cleaned[key] is part and (found := scan(f'{key} = "{part}"')):
            kinds.append(found[0].kind)
            cleaned[key] = f"[redacted:{found[0].kind}]"
    if all(cleaned[key] is part for key, part in item.items()):
        return item
    return FrozenDict(cleaned)
