"""The move of the memory that `init` was asked for, computed before it happens so that it can be shown."""

import os
from dataclasses import dataclass
from pathlib import Path

from treering.core.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Move:
    """The new location of the memory of a repository."""

    root: Path
    in_project: bool
    target: Path

    def apply(self) -> Path:
        """Move the memory, unless it is there already; return its file."""
        from treering.compose import keep_in_data_folder, keep_in_project

        return keep_in_project(self.root) if self.in_project else keep_in_data_folder(self.root)


def requested_move(in_project: bool | None, db: str | None, root: Path) -> Move | None:
    """The move that the options ask for, if any; `InvalidInput` if another memory is in use, which cannot be moved."""
    if in_project is None:
        return None
    from treering.compose.locations import memory_paths

    option = "--in-project" if in_project else "--in-data-folder"
    if db is not None:
        raise InvalidInput(f"--db names another memory, which {option} does not move; pass one of the two")
    if os.environ.get("TREERING_DB"):
        raise InvalidInput(
            f"TREERING_DB names another memory, which {option} does not move; unset it, then run this again"
        )
    paths = memory_paths(root)
    return Move(root, in_project, paths.in_project if in_project else paths.in_data_folder)
