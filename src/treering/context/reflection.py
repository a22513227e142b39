"""The newest reflection, as part of the context."""

from datetime import datetime

from treering.core.citations import cite
from treering.core.episodes import Episode
from treering.core.records import Knowledge
from treering.core.scope import Scope
from treering.knowledge.reflection.week import newest_reflection
from treering.knowledge.reflection.withdrawal import without_sources
from treering.ports.store import Store
from treering.search.answer import Hit


def latest_reflection(scope: Scope, store: Store, now: datetime, *, tainted: bool = False) -> Hit | None:
    """The newest reflection without points whose sources were forgotten; None if there is none.

    A tainted reflection is returned only if `tainted` is set.
    """
    with store.reading(scope, now) as tx:
        last = newest_reflection(tx)
        if last is None or (last.tainted and not tainted):
            return None
        sources: tuple[Knowledge | Episode, ...] = (
            *tx.knowledge.get_many(last.source_ids).values(),
            *tx.episodes.get_many(last.source_ids).values(),
        )
    shown = without_sources(last, frozenset(each.id for each in sources if each.deleted_at is not None))
    if shown is None:
        return None
    text, source = cite(shown)
    return Hit(id=shown.id, kind="knowledge", text=text, score=0.0, source=source, record=shown)
