"""Propagation of confidence changes to related records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from treering.core.confidence import propagated_changes
from treering.core.history import Action
from treering.core.propagation import PROPAGATION, Propagation
from treering.core.queries import KnowledgeFilter, Order
from treering.core.scope import Visibility

if TYPE_CHECKING:
    from treering.core.records import Knowledge
    from treering.ports.store import Transaction

RELATED = "related"
"""Reason in the audit log."""


def reachable(tx: Transaction, id: str, rules: Propagation = PROPAGATION) -> Mapping[str, Knowledge]:
    """The record and the records that its change may reach, nearest first, up to the limit of the rules.

    Changes of shared records do not reach personal ones, because other principals could not undo them.
    """
    found: dict[str, Knowledge] = {}
    frontier: tuple[str, ...] = (id,)
    for _ in range(rules.depth + 1):
        next_records = {
            each: record for each, record in tx.knowledge.get_many(frontier).items() if _may_change(record, found, id)
        }
        capacity = rules.most + 1 - len(found)
        found |= {each: next_records[each] for each in frontier[:capacity] if each in next_records}
        if not next_records or len(found) > rules.most:
            break
        targets = [relation.record for each in next_records.values() for relation in each.relations if relation.record]
        around = (*targets, *_pointing(tx, tuple(next_records)))
        frontier = tuple(dict.fromkeys(each for each in around if each not in found))[: rules.most]
        if not frontier:
            break
    return found


def _may_change(record: Knowledge, found: Mapping[str, Knowledge], id: str) -> bool:
    personal = Visibility.PERSONAL
    return record.visibility is not personal or not found or found[id].visibility is personal


def propagate(
    tx: Transaction,
    id: str,
    change: float,
    rules: Propagation = PROPAGATION,
    *,
    among: Mapping[str, Knowledge] | None = None,
) -> tuple[Knowledge, ...]:
    """Propagate a change of confidence to related records and return those that changed.

    All of them change in this transaction, so that one undo reverts all. `among` are the `reachable` records that the
    caller claimed; others are not changed.
    """
    if abs(change) <= rules.least:
        return ()
    records = reachable(tx, id, rules) if among is None else tx.knowledge.get_many(among)
    reached = propagated_changes(id, change, records, rules)
    return tuple(
        tx.knowledge.update(
            records[target].replace(confidence=confidence), Action.UPDATE, {"reason": RELATED, "to": origin}
        )
        for target, (confidence, origin) in sorted(reached.items())
    )


def _pointing(tx: Transaction, ids: tuple[str, ...]) -> tuple[str, ...]:
    """Ids of records with a relation to one of these."""
    related = KnowledgeFilter(related_to=ids, deprecated=False)
    return tuple(each.id for each in tx.knowledge.find(related, order=Order(by="created_at"), limit=200).items)
