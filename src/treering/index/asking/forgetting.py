"""Takes the index of a project away: all that was read of its code, and nothing that anybody remembers."""

from dataclasses import replace

from treering.core.errors import NotFound
from treering.index.asking.status import CodeStatus, status_of
from treering.index.building.desk import Desk


def forget_code(desk: Desk) -> CodeStatus:
    """As one change: files, ties, facts, chunks and vectors are gone, and so is what was told of them.

    What was there is returned. `Conflict` where somebody indexes now, `NotFound` where there is nothing.
    """
    with desk.writing() as index:
        found, state = status_of(index, desk.ended), index.state()
        if found is None or state is None:
            raise NotFound(f"no code is indexed in project {desk.scope.project!r}: there is nothing to forget")
        index.clear()
        index.drop_unused()
        # The generation goes on: whoever holds a graph in memory must see that theirs is gone.
        index.describe(desk.owner, seen=state.generation, root="", version="", complete=False, told="{}")
        index.give_back(desk.owner)
    return replace(found, writer="")
