"""Sessions that continue another one: agents copy the events of a session when it is resumed or forked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from treering.core.queries import ObservedSessionFilter, TimeRange

if TYPE_CHECKING:
    from treering.core.observations import ObservedSession, SavedScratchpad
    from treering.ports.store import Transaction

MIN_UNIQUE_CALL_ID = 16  # characters; shorter ids of calls are counters, which begin again in every session
NOT_UNIQUE = "-"
_MAX_SESSIONS = 20


def call_digest(call_id: object) -> str:
    """Digest of the id of a session's first call: the id itself is not stored. `NOT_UNIQUE` for a short id."""
    name = call_id if isinstance(call_id, str) else ""
    if len(name) < MIN_UNIQUE_CALL_ID:
        return NOT_UNIQUE
    return blake2b(name.encode("utf-8", "replace"), digest_size=16).hexdigest()


def continued_sessions(tx: Transaction, session: ObservedSession, state: Mapping[str, Any]) -> tuple[str, ...]:
    """Ids of the other sessions that began at the same moment with the same tool call.

    What such sessions show is one observation, not several. `state` is the session's saved scratchpad.
    """
    call = str(state.get("first_call") or NOT_UNIQUE)
    if call == NOT_UNIQUE or not state.get("started_at"):
        return ()
    began = session.started_at
    same_time = TimeRange(since=began, before=began + timedelta(microseconds=1))
    found = tx.observed_sessions.find(ObservedSessionFilter(started=same_time), limit=_MAX_SESSIONS).items
    others = tx.scratchpads.get_many(each.id for each in found if each.id != session.id)
    return tuple(id for id, saved in others.items() if _first_call(saved) == call)


def _first_call(saved: SavedScratchpad) -> object:
    """Id of the session's first call; None if its checkpoint cannot be read."""
    try:
        return json.loads(saved.state).get("first_call")
    except (ValueError, AttributeError):
        return None
