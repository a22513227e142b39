"""Lines of the spool about what a hook process gave to an agent by its own look-up."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from treering.core.injections import InjectedItem, InjectionPoint, ItemKind, injected_item_id
from treering.core.values import storable
from treering.observe.readers.event_fields import count, key, label, moment, word

_MAX_ITEMS = 64


def injected_items(line: Mapping[str, Any], now: datetime, owner: str) -> tuple[InjectedItem, ...]:
    """The items of a line; those that are not understood are left out. Their ids are the same in every reading."""
    injection, session, given = key(line.get("id")), key(line.get("session")), line.get("injected")
    if injection is None or session is None or not isinstance(given, list):
        return ()
    at = min(moment(line.get("at")) or now, now)
    shared = {"session": session, "injection": injection, "injected_at": at, "owner": owner}
    items = (_item(each, place, shared) for place, each in enumerate(given[:_MAX_ITEMS]))
    return tuple(item for item in items if item is not None)


def _item(given: object, place: int, shared: Mapping[str, Any]) -> InjectedItem | None:
    if not isinstance(given, Mapping):
        return None
    try:
        return InjectedItem.make(
            **shared,
            id=injected_item_id(shared["injection"], place),
            point=InjectionPoint(word(given, "point")),
            kind=ItemKind(word(given, "kind")),
            item=storable(word(given, "item")),
            place=place,
            type=label(given.get("type")),
            text=storable(word(given, "text")),
            reason=storable(word(given, "reason")),
            tokens=count(given.get("tokens")) or 0,
        )
    except ValueError:
        return None
