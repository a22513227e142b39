"""Removes purged records from the reflections that cite them."""

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
_MAX_REFLECTIONS = 1_000


def withdraw_source(tx: Transaction, id: str, new_id: NewId) -> None:
    """Replace every reflection that cites the record by one without the citing lines.

    The old reflection is purged with its earlier versions. No new one is stored if no line is left.
    """
    where = KnowledgeFilter.make(types=("reflection",), derived_from=(id,), deleted=None)
    for reflection in tx.knowledge.find(where, limit=_MAX_REFLECTIONS).items:
        remaining = without_sources(reflection, frozenset({id}))
        tx.knowledge.purge(reflection.id, {"reason": FORGOTTEN})
        if remaining is not None and reflection.deleted_at is None:
            replacement = remaining.replace(id=new_id(), version=1, source_ids=_without_id(reflection, id))
            tx.knowledge.create(replacement, Action.CREATE, {"instead": reflection.id})


def without_sources(reflection: Knowledge, ids: frozenset[str]) -> Knowledge | None:
    """The reflection without lines that cite these sources; None if no line is left."""
    content = reflection.content
    for number, source in enumerate(reflection.source_ids, 1):
        if source in ids:
            content = without_source(content, number)
    if content == reflection.content:
        return reflection
    return reflection.replace(content=content) if cited_in(content) else None


def _without_id(reflection: Knowledge, id: str) -> tuple[str, ...]:
    """Source ids with a placeholder for `id`, so that the other sources keep their numbers."""
    return tuple(f"forgotten-{at}" if source == id else source for at, source in enumerate(reflection.source_ids, 1))
