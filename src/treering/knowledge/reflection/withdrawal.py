"""A person removes something for good: no reflection tells of it any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treering.core.history import Action
from treering.core.queries import KnowledgeFilter
from treering.knowledge.reflection.digest import cited_in, without_source

if TYPE_CHECKING:
    from treering.core.records import Knowledge
    from treering.ports.clock import NewId
    from treering.ports.store import Transaction

FORGOTTEN = "a source was forgotten"
_MOST = 1_000


def withdraw(tx: Transaction, id: str, new_id: NewId) -> None:
    """Store every reflection that rests on a record anew, without the lines that do.

    Its earlier states, which still told of it, leave with the old one. One that has nothing left to say leaves.
    """
    where = KnowledgeFilter.make(types=("reflection",), derived_from=(id,), deleted=None)
    for reflection in tx.knowledge.find(where, limit=_MOST).items:
        silent = without(reflection, frozenset({id}))
        tx.knowledge.purge(reflection.id, {"reason": FORGOTTEN})
        if silent is not None and reflection.deleted_at is None:
            anew = silent.replace(id=new_id(), version=1, source_ids=_nameless(reflection, id))
            tx.knowledge.create(anew, Action.CREATE, {"instead": reflection.id})


def without(reflection: Knowledge, ids: frozenset[str]) -> Knowledge | None:
    """The reflection without what rests on some of its sources; None where nothing is left."""
    content = reflection.content
    for number, source in enumerate(reflection.source_ids, 1):
        if source in ids:
            content = without_source(content, number)
    if content == reflection.content:
        return reflection
    return reflection.replace(content=content) if cited_in(content) else None


def _nameless(reflection: Knowledge, id: str) -> tuple[str, ...]:
    """The others keep their numbers."""
    return tuple(f"forgotten-{at}" if source == id else source for at, source in enumerate(reflection.source_ids, 1))
