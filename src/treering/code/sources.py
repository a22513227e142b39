"""What the code of a project is read from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treering.code.files.outer_ignore_rules import GitHome
    from treering.code.history.stored_history import Repository
    from treering.ports.processes import ProcessEnded
    from treering.ports.watcher import Watcher


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What code is read from, and with what."""

    root: Path | None
    """The repository that the memory belongs to, where one was named."""
    around: Path | None
    """The repository around the working directory."""
    repository: Callable[[Path], Repository]
    watcher: Watcher
    owner: str
    """Who writes: no other memory, in this process or another, is called so."""
    ended: ProcessEnded
    """Whether somebody who wrote is not there any more."""
    git: GitHome | None = None
    """Where git finds what its user ignores everywhere."""
