"""Records that stand by each other: a change of confidence in one is felt in those it is related to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from treering.core.confidence import spread
from treering.core.history import Action
from treering.core.propagation import PROPAGATION, Propagation
from treering.core.queries import KnowledgeFilter, Order
from treering.core.scope import Visibility

if TYPE_CHECKING:
    from treering.core.records import Knowledge
    from treering.ports.store import Transaction

RELATED = "related"
"""Why a record changed, as the audit log has it."""


def reachable(tx: Transaction, id: str, rules: Propagation = PROPAGATION) -> Mapping[str, Knowledge]:
    """The record and all that a change of it may reach, the nearest first; at most as many as the rules say.

    What is shared moves nothing that is somebody's own: others could not undo it.
    """
    found: dict[str, Knowledge] = {}
    border: tuple[str, ...] = (id,)
    for _ in range(rules.depth + 1):
        near = {each: record for each, record in tx.knowledge.get_many(border).items() if _may_move(record, found, id)}
        room = rules.most + 1 - len(found)
        found |= {each: near[each] for each in border[:room] if each in near}
        if not near or len(found) > rules.most:
            break
        ahead = [relation.record for each in near.values() for relation in each.relations if relation.record]
        around = (*ahead, *_pointing(tx, tuple(near)))
        border = tuple(dict.fromkeys(each for each in around if each not in found))[: rules.most]
        if not border:
            break
    return found


def _may_move(record: Knowledge, found: Mapping[str, Knowledge], id: str) -> bool:
    own = Visibility.PERSONAL
    return record.visibility is not own or not found or found[id].visibility is own


def propagate(
    tx: Transaction,
    id: str,
    change: float,
    rules: Propagation = PROPAGATION,
    *,
    among: Mapping[str, Knowledge] | None = None,
) -> tuple[Knowledge, ...]:
    """Pass a change of confidence on; the records that changed with it are returned.

    They change in this transaction, so one undo of any of them takes back all. Whoever claimed what is `reachable`
    gives it as `among`; records outside it are left alone.
    """
    if abs(change) <= rules.least:
        return ()
    near = reachable(tx, id, rules) if among is None else tx.knowledge.get_many(among)
    reached = spread(id, change, near, rules)
    return tuple(
        tx.knowledge.update(
            near[target].replace(confidence=confidence), Action.UPDATE, {"reason": RELATED, "to": origin}
        )
        for target, (confidence, origin) in sorted(reached.items())
    )


def _pointing(tx: Transaction, ids: tuple[str, ...]) -> tuple[str, ...]:
    """Records that are related to one of these, by their own word."""
    related = KnowledgeFilter(related_to=ids, deprecated=False)
    return tuple(each.id for each in tx.knowledge.find(related, order=Order(by="created_at"), limit=200).items)
