"""Takes the index of a project away: all that was read of its code and its history, and nothing that is remembered."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from treering.code.history.co_access_seeds import put_in_place
from treering.code.status import CodeStatus, status_of
from treering.core.errors import NotFound
from treering.ports.code import CodeTotals

if TYPE_CHECKING:
    from treering.code.build.project import Desk


def forget_code(desk: Desk) -> CodeStatus:
    """As one change: files, ties, facts, chunks, vectors and counted commits are gone, and what was told of them.

    What was there is returned. `Conflict` where somebody indexes now, `NotFound` where there is nothing.
    """
    with desk.store.transaction(desk.scope, desk.clock()) as tx:
        index = tx.code
        desk.take(index)
        found = status_of(index, desk.ended)
        state, history = index.state(), tx.code_history.state()
        if found is None and history is not None:
            found = CodeStatus(history.root, complete=False, totals=CodeTotals(), skipped={})
        if found is None or state is None:
            raise NotFound(f"no code is indexed in project {desk.scope.project!r}: there is nothing to forget")
        index.clear()
        index.drop_unused()
        tx.code_history.clear()
        put_in_place(tx.co_access, ())
        # The generation goes on: whoever holds a graph in memory must see that theirs is gone.
        index.describe(desk.owner, seen=state.generation, root="", version="", complete=False, told="{}")
        index.give_back(desk.owner)
    return replace(found, writer="")
