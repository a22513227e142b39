"""Search among the messages removed from a conversation's window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treering.conversation.stored_window import RemovedMatches
from treering.core.queries import TurnFilter
from treering.core.turns import Turn
from treering.core.values import LABELS

if TYPE_CHECKING:
    from treering.core.settings import Settings
    from treering.search.answer import Answer


@dataclass(frozen=True, slots=True)
class RemovedSearch:
    """Finds turns of a session among given ids."""

    settings: Settings
    search: Callable[..., Answer]

    def __call__(self, query: str, session: str, ids: Sequence[str], limit: int) -> RemovedMatches:
        if not ids:
            return RemovedMatches(())
        where = TurnFilter(sessions=(session,), ids=tuple(ids) if len(ids) <= LABELS else ())
        candidates = limit if where.ids else max(limit, self.settings.recall.candidates)
        answer = self.search(query, knowledge=None, turns=where, limit=candidates, thorough=False)
        wanted = frozenset(ids)
        turns = [hit.record for hit in answer if isinstance(hit.record, Turn) and hit.id in wanted]
        return RemovedMatches(tuple(turns[:limit]), answer.missing)
