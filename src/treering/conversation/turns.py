"""Storing a single turn."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from treering.conversation.sessions import after_turn_stored
from treering.core.errors import Conflict, id_taken
from treering.core.fields import TurnFields, check_arguments
from treering.core.redaction import without_secrets
from treering.core.timestamps import timestamp_of
from treering.core.turns import Turn

if TYPE_CHECKING:
    from treering.core.messages import Role
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
    session: str,
    role: Role | str,
    text: str,
    **fields: Any,
) -> Turn:
    """Append a turn. A turn that is delivered twice is stored once.

    Raises `Conflict` if the id belongs to a turn with another text or to a forgotten turn.
    """
    check_arguments("turn", fields, TurnFields)
    turn = Turn.make(
        id=new_id() if id is None else id,
        at=timestamp_of(at, now),
        recorded_at=now,
        owner=scope.principal,
        session=session,
        role=role,
        text=text,
        **fields,
    )

    def add(tx: Transaction) -> tuple[Turn, bool]:
        try:
            return after_turn_stored(tx, tx.turns.create(turn), new_id), True
        except Conflict:
            # A taken id leaves the transaction unchanged.
            if (known := tx.turns.get(turn.id)) is None:
                raise
            return known, False

    known, is_new = store.write(scope, now, add)
    if is_new:
        return known
    redacted = without_secrets(turn).value
    is_same = (known.session, known.role, known.text) == (redacted.session, redacted.role, redacted.text)
    if known.deleted_at is not None or not is_same:
        raise id_taken(turn.id)
    return known
