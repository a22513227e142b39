"""Removal of a project's index: everything read from its code and history. Memories stay."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from treering.code.history.co_access_seeds import replace_seeds
from treering.code.status import CodeStatus, status_of
from treering.core.errors import NotFound
from treering.ports.code import CodeTotals

if TYPE_CHECKING:
    from treering.code.index.project import IndexedProject


def forget_code(project: IndexedProject) -> CodeStatus:
    """Remove files, edges, facts, chunks, vectors and commit counts in one transaction.

    Returns the status before the removal. Raises `Conflict` while another process indexes, `NotFound` if nothing is
    indexed.
    """
    with project.store.transaction(project.scope, project.clock()) as tx:
        index = tx.code
        project.take_lease(index)
        found = status_of(index, project.ended, project.settings.chunks)
        state, history = index.state(), tx.code_history.state()
        if found is None and history is not None:
            found = CodeStatus(history.root, complete=False, totals=CodeTotals(), skipped={})
        if found is None or state is None:
            raise NotFound(f"no code is indexed in project {project.scope.project!r}, so there is nothing to forget")
        index.clear()
        index.drop_unused()
        tx.code_history.clear()
        replace_seeds(tx.co_access, ())
        # The generation is not reset, so that graphs held in memory notice the removal.
        index.describe(project.owner, seen=state.generation, root="", version="", complete=False, report="{}")
        index.release_lease(project.owner)
    return replace(found, writer="")
