"""Keeps what was said."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from treering.conversation.session_end import kept_turn
from treering.core.errors import id_taken
from treering.core.redaction import without_secrets
from treering.core.timestamps import timestamp_of
from treering.core.turns import Turn

if TYPE_CHECKING:
    from treering.core.scope import Scope
    from treering.ports.clock import NewId
    from treering.ports.store import Store, Transaction


def add_turn(
    scope: Scope,
    store: Store,
    now: datetime,
    new_id: NewId,
    *,
    id: str | None,
    at: datetime | date | str | None,
    **fields: Any,
) -> Turn:
    """Append a turn. The same turn delivered twice is stored once.

    Another text under its id is a `Conflict`, and so is a turn that was forgotten.
    """
    turn = Turn.make(
        id=new_id() if id is None else id, at=timestamp_of(at, now), recorded_at=now, owner=scope.principal, **fields
    )

    def add(tx: Transaction) -> tuple[Turn, bool]:
        tx.claim(f"turn {turn.id}")
        known = tx.turns.get(turn.id)
        return (kept_turn(tx, tx.turns.create(turn), new_id), True) if known is None else (known, False)

    known, is_new = store.write(scope, now, add)
    if is_new:
        return known
    said = without_secrets(turn).value
    is_same = (known.session, known.role, known.text) == (said.session, said.role, said.text)
    if known.deleted_at is not None or not is_same:
        raise id_taken(turn.id)
    return known
