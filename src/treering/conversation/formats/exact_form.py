"""Stores how an item differs from our own output, so that it can be restored exactly."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from treering.core.messages import CallPart, ImagePart, Message, ResultPart, TextPart
from treering.core.values import thaw

V = TypeVar("V", Message, TextPart, ImagePart, CallPart, ResultPart)


def exact(value: V, item: dict[str, Any], write: Callable[[V], dict[str, Any]], key: str = "patch") -> V:
    """`value` with the patch from `write(value)` to `item` in `extra[key]`; unchanged if they are equal."""
    patch = difference(write(value), item)
    return value.replace(extra={**value.extra, key: {**value.extra.get(key, {}), **patch}}) if patch else value


def difference(made: Any, item: Any) -> dict[str, Any]:
    """The patch from `made` to `item`, two objects or two lists of equal length; empty if they are equal.

    `set` holds changed and added entries, `unset` names removed ones, `in` holds nested patches.
    """
    ours, theirs = _entries(made), _entries(item)
    changed = {key: entry for key, entry in theirs.items() if key not in ours or ours[key] != entry}
    inside = {key: difference(ours[key], entry) for key, entry in changed.items() if _alike(ours.get(key), entry)}
    patch = {
        "set": {key: entry for key, entry in changed.items() if key not in inside},
        "unset": [key for key in ours if key not in theirs],
        "in": inside,
    }
    return {name: entries for name, entries in patch.items() if entries}


def patched(made: Any, patch: Any) -> Any:
    """`made` with a patch applied; unchanged if its type no longer fits the patch."""
    if not isinstance(patch, Mapping) or not isinstance(made, (dict, list)):
        return made
    unset, further, inside = patch.get("unset"), patch.get("set"), patch.get("in")
    entries = {key: entry for key, entry in _entries(made).items() if not unset or key not in unset}
    entries |= thaw(further) if isinstance(further, Mapping) else {}
    for key, inner in inside.items() if isinstance(inside, Mapping) else ():
        if key in entries:
            entries[key] = patched(entries[key], inner)
    return list(entries.values()) if isinstance(made, list) else entries


def _entries(value: dict[str, Any] | list[Any]) -> dict[str, Any]:
    return value if isinstance(value, dict) else {str(place): entry for place, entry in enumerate(value)}


def _alike(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs)
    return isinstance(ours, dict) and isinstance(theirs, dict)
