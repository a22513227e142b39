"""The memory is moved where `init` is asked to: known before it happens, so that it can be shown."""

import os
from dataclasses import dataclass
from pathlib import Path

from treering.core.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Move:
    """Where the memory of a repository is to be kept from now on."""

    root: Path
    in_project: bool
    target: Path

    def make(self) -> Path:
        """Move it, unless it is there already. Returns its file."""
        from treering.compose import keep_in_data_folder, keep_in_project

        return keep_in_project(self.root) if self.in_project else keep_in_data_folder(self.root)


def move_asked_for(in_project: bool | None, db: str | None, root: Path) -> Move | None:
    """None where nobody asked. A memory that is named elsewhere is not moved, and the one here would not be used."""
    if in_project is None:
        return None
    from treering.compose.locations import memory_paths

    option = "--in-project" if in_project else "--in-data-folder"
    if db is not None:
        raise InvalidInput(f"--db names a memory of its own, which {option} does not move; give one of the two")
    if os.environ.get("TREERING_DB"):
        raise InvalidInput(
            f"TREERING_DB names the memory that is used here, which {option} does not move; unset it, then ask again"
        )
    paths = memory_paths(root)
    return Move(root, in_project, paths.in_project if in_project else paths.in_data_folder)
