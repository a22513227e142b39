"""Where the code of a project is read from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treering.code.files.outer_ignore_rules import GitHome
    from treering.code.history.stored_history import ProjectRepository
    from treering.ports.processes import ProcessEnded
    from treering.ports.watcher import Watcher


@dataclass(frozen=True, slots=True)
class CodeSources:
    """Folders, repository and watcher that code is read through."""

    root: Path | None
    """The repository that the memory belongs to, if one was named."""
    around: Path | None
    """The repository around the working directory."""
    repository: Callable[[Path], ProjectRepository]
    watcher: Watcher
    owner: str
    """Name of this writer, unique among all memories and processes."""
    ended: ProcessEnded
    """Whether the process of a writer has ended."""
    git: GitHome | None = None
    """Where git keeps the user's global ignore rules."""
