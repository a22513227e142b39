"""Taint of records that an agent stored after it had read content from outside, without saying so."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from treering.core.history import Action
from treering.core.records import Knowledge, Source
from treering.core.taint import TAINTED_FACTOR, Taint

if TYPE_CHECKING:
    from treering.core.scope import Scope
    from treering.ports.store import Store, Transaction

_REASON = "stored by an agent after it had read this"


def mark_from_outside(
    scope: Scope, store: Store, now: datetime, ids: Iterable[str], *, source: str, since: datetime
) -> tuple[Knowledge, ...]:
    """Taint those of the records that an agent stored since then; they wait for review. Returns the changed ones.

    Records of a person, confirmed, tainted and deprecated ones stay as they are.
    """

    def mark(tx: Transaction) -> tuple[Knowledge, ...]:
        found = (each for each in tx.knowledge.get_many(ids).values() if _is_unconfirmed(each, since))
        taint = Taint.make(source=source, reason=_REASON)
        return tuple(
            tx.knowledge.update(
                each.replace(taint=taint, needs_review=True, confidence=each.confidence * TAINTED_FACTOR),
                Action.UPDATE,
                {"taint": source},
            )
            for each in found
        )

    return store.write(scope, now, mark)


def _is_unconfirmed(record: Knowledge, since: datetime) -> bool:
    is_agents = record.source is Source.AGENT_EXPLICIT and not record.user_verified
    is_current = record.deleted_at is None and record.deprecated_at is None and not record.tainted
    return is_agents and is_current and record.created_at >= since
