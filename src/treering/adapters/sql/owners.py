"""Who has records that nobody else sees: maintenance works for them, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlalchemy import select, union

from treering.adapters.sql.kinds import EPISODES, KNOWLEDGE, PATTERNS, SESSIONS, TURNS
from treering.core.scope import Visibility

if TYPE_CHECKING:
    from treering.adapters.sql.context import Context

_OWNED = (KNOWLEDGE, SESSIONS, TURNS, EPISODES, PATTERNS)


def owners_of_personal(context: Context) -> Sequence[str]:
    """Their names, each once and in order; nothing is read but these."""
    scope = context.scope
    owned = [
        select(kind.table.c.owner).where(
            kind.table.c.tenant == scope.tenant,
            kind.table.c.project == scope.project,
            kind.table.c.visibility == Visibility.PERSONAL.value,
        )
        for kind in _OWNED
    ]
    with context.seeing_all():
        # The two engines sort text differently, and whoever goes on after a crash may compare.
        return sorted(context.connection.execute(union(*owned)).scalars())
